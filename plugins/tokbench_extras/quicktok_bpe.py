"""quicktok: byte-level BPE in C++ with hand-written pre-tokenizers, for a fair speed table.

The package is published as `quicktok-v1` and imported as `quicktok`. It bundles the vocabularies cl100k, o200k,
Llama 3's and Qwen's, and opens a `tokenizer.json` or `tekken.json` with one of their patterns. The library
imports such a file at every load, and verifies it against its own reference.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tokbench import LoadContext, Spec, SpecError, TokenBatch, TokenizerError, TokenizerFamily, UnknownNameError
from tokbench_extras.json_files import path_of
from tokbench_extras.libraries import SPECIAL, SpelledTokenizer, first_line, matches_special, need

_FILES = {
    "cl100k_base": ("cl100k.vocab", "cl100k.special"),
    "o200k_base": ("o200k.vocab", "o200k.special"),
    "o200k_harmony": ("o200k.vocab", "o200k_harmony.special"),
    "llama3": ("llama3.vocab", "llama3.special"),
    "qwen3": ("qwen3.vocab", "qwen3.special"),
}
_DECOMPOSED = "e\u0301"  # what NFC would compose


class QuicktokTokenizer(SpelledTokenizer):
    """A tokenizer of quicktok; the text of special tokens is ordinary text unless `match`."""

    library = "quicktok"
    decode_joins_bytes = True

    def __init__(self, tokenizer: Any, *, name: str, match: bool, threads: int = 1) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size: int = tokenizer.n_vocab
        self.lossless: bool = tokenizer.decode(tokenizer.encode_ordinary(_DECOMPOSED)) == _DECOMPOSED
        self._match = match
        self._one = tokenizer.encode_with_special if match else tokenizer.encode_ordinary
        self._decoded = tokenizer.decode_bytes
        self._threads = threads

    @cached_property
    def _special_tokens(self) -> dict[str, int]:
        tokens = self.tokenizer.special_tokens_set
        found = {str(text): int(self.tokenizer.encode_single_token(text)) for text in tokens}
        return dict(sorted(found.items(), key=lambda item: item[1]))

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of the special tokens."""
        return frozenset(self._special_tokens.values())

    def _many(self, texts: list[str]) -> TokenBatch:
        """The library's ragged array, without a copy."""
        import numpy as np

        ids, offsets = self.tokenizer.encode_batch(texts, self._threads, self._match)
        return TokenBatch(ids.view(np.int32), offsets)

    def _bytes(self, token_id: int) -> bytes:
        try:
            part: bytes = self.tokenizer.decode_single_token_bytes(token_id)
        except KeyError:
            return b""
        return part

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {
            "algorithm": "BPE",
            "normalizer": None if self.lossless else "NFC",
            "byte_fallback": False,
            "byte_level": True,
            "special_tokens": self._special_tokens,
            "special_token_text": "match" if self._match else "text",
            "lossless": self.lossless,
            "why_not_lossless": None if self.lossless else "text is normalised (NFC)",
        }


def load(spec: Spec, context: LoadContext) -> QuicktokTokenizer:
    """Load an encoding bundled with the package, or import a `tokenizer.json` or `tekken.json`."""
    path = _file(spec)
    library = need("quicktok", extra="quicktok")
    if not hasattr(library, "import_tokenizer"):
        raise TokenizerError(
            f"{spec}: the package `quicktok` is installed, an unrelated one: pip uninstall quicktok, "
            f"then pip install 'tokbench[quicktok]', which brings `quicktok-v1`"
        )
    tokenizer = library.get_encoding(spec.variant) if path is None else _imported(library, path, spec)
    return QuicktokTokenizer(tokenizer, name=str(spec), match=matches_special(spec), threads=context.threads)


def _imported(library: ModuleType, path: Path, spec: Spec) -> Any:
    if not path.is_file():
        raise TokenizerError(f"{spec}: there is no file {path}")
    told = io.StringIO()  # it prints what it does
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(told):
            library.import_tokenizer(str(path), "imported", folder)
            return library.Tokenizer("imported", folder)
    except Exception as error:  # its own refusals, and what a wrong file makes of its parser
        reason = first_line(error).partition(" — ")[0]  # after the dash it explains itself over several lines
        raise TokenizerError(f"{spec}: quicktok cannot load {path}: {reason}") from error


def _file(spec: Spec) -> Path | None:
    """The file that a spec names; None for an encoding bundled with the package."""
    variant = spec.variant
    if not variant:
        raise SpecError(f"quicktok: name an encoding ({', '.join(_FILES)}) or a tokenizer.json: quicktok:NAME")
    if variant in _FILES:
        return None
    if "/" not in variant and not variant.endswith(".json"):
        raise UnknownNameError.of("quicktok encoding", variant, _FILES)
    return path_of(spec)


def _files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    path = _file(spec)
    if path is not None:
        return [path]
    package = Path(need("quicktok", extra="quicktok").__file__ or "").parent
    return [package / "data" / name for name in _FILES[spec.variant or ""]]


QUICKTOK = TokenizerFamily(
    name="quicktok",
    summary="Fast BPE in C++: cl100k, o200k, Llama 3 and Qwen bundled, and .json files with their patterns",
    load=load,
    files=_files,
    options=(SPECIAL,),
    variant="cl100k_base, o200k_base, o200k_harmony, llama3, qwen3, or a tokenizer.json or tekken.json",
    libraries=("quicktok-v1",),
    examples=("quicktok:o200k_base", "quicktok:llama3", "quicktok:path/to/tokenizer.json"),
)
