"""mistral-common: Mistral's own tokenizers, Tekken and sentencepiece, several of them bundled with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokbench import LoadContext, Spec, SpecError, TokenBatch, TokenizerError, TokenizerFamily, UnknownNameError
from tokbench_extras.libraries import SpelledTokenizer, failure, need

_MODULE = "mistral_common.tokens.tokenizers"


class MistralTokenizer(SpelledTokenizer):
    """A Tekken or sentencepiece tokenizer of mistral-common; no BOS, no EOS, no template."""

    library = "mistral-common"

    def __init__(self, tokenizer: Any, *, name: str, tekken: bool) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.tekken = tekken
        self.vocab_size: int = tokenizer.n_words
        self.unk_id = None if tekken else int(tokenizer.unk_id)
        unknown = set() if self.unk_id is None else {self.unk_id}
        self.special_ids = frozenset(map(int, tokenizer.special_ids)) | unknown
        self.lossless = self.decode_joins_bytes = tekken
        # Asked to keep special tokens, the library joins sentencepiece's pieces as they are, "▁" and all.
        policies = need(f"{_MODULE}.base", extra="mistral").SpecialTokenPolicy
        self._policy = policies.KEEP if tekken else policies.IGNORE

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode(text, bos=False, eos=False)

    def _many(self, texts: list[str]) -> TokenBatch:
        """One after another: the library has no batch call."""
        return TokenBatch.of_lists(map(self._one, texts))

    def _decoded(self, ids: list[int]) -> Any:
        """The text of ids, for Tekken with special tokens, for sentencepiece without."""
        return self.tokenizer.decode(ids, special_token_policy=self._policy)

    def _bytes(self, token_id: int) -> bytes:
        if self.tekken:
            part: bytes = self.tokenizer.id_to_byte_piece(token_id, self._policy)
            return part
        piece: str = self.tokenizer.id_to_piece(token_id)
        if len(piece) == 6 and piece.startswith("<0x"):
            return bytes([int(piece[3:5], 16)])
        return piece.replace("▁", " ").encode()

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        piece = self.tokenizer.id_to_piece
        return {
            "algorithm": "BPE" if self.tekken else "sentencepiece BPE",
            "normalizer": None,
            "pre_tokenizer": self.tokenizer._model._pat_str if self.tekken else None,
            "byte_fallback": not self.tekken,
            "special_tokens": {str(piece(index)): index for index in sorted(self.special_ids)},
            "version": str(self.tokenizer.version),
            "lossless": self.lossless,
            "why_not_lossless": None if self.lossless else "U+2581 comes back as a space",
        }


def load(spec: Spec, context: LoadContext) -> MistralTokenizer:
    """Load a tokenizer bundled with the package, or a file of either kind."""
    if not spec.variant:
        raise SpecError(f"mistral: name a tokenizer: {', '.join(_bundled())}, or a file: mistral:NAME")
    path = _path(spec)
    tekken = path.suffix == ".json"
    try:
        if tekken:
            kind = need(f"{_MODULE}.tekken", extra="mistral").Tekkenizer
            return MistralTokenizer(kind.from_file(path), name=str(spec), tekken=True)
        kind = need(f"{_MODULE}.sentencepiece", extra="mistral").SentencePieceTokenizer
        return MistralTokenizer(kind(path), name=str(spec), tekken=False)
    except (TokenizerError, SpecError):
        raise
    except Exception as error:  # the library raises whatever its parsers do
        raise failure(f"{spec}: mistral-common cannot load {path}", error) from error


def _bundled() -> dict[str, Path]:
    """The files bundled with the package, by short name: tekken_240911, v1, v3 …"""
    package = need("mistral_common", extra="mistral")
    folder = Path(package.__file__ or "").parent / "data"
    found = {path.stem: path for path in sorted(folder.glob("tekken*.json"))}
    return found | {path.suffix[1:]: path for path in sorted(folder.glob("*.model.v*"))}


def _path(spec: Spec) -> Path:
    bundled = _bundled()
    variant = spec.variant or ""
    if variant in bundled:
        return bundled[variant]
    path = Path(variant).expanduser()
    if path.is_file():
        return path
    if "/" in variant:
        raise TokenizerError(f"{spec}: there is no file {path}")
    raise UnknownNameError.of("mistral tokenizer", variant, bundled)


MISTRAL = TokenizerFamily(
    name="mistral",
    summary="Mistral's tokenizers (Tekken, sentencepiece), several of them bundled, through mistral-common",
    load=load,
    files=lambda spec, context: [_path(spec)],
    variant="tekken_240911, tekken_240718, v1, v2, v3 … or a tekken.json or .model file",
    libraries=("mistral-common", "tiktoken"),
    examples=("mistral:tekken_240911", "mistral:v3"),
)
