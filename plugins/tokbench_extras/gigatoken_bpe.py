"""gigatoken: byte-level and sentencepiece BPE in Rust, for a fair speed table.

The library always matches the special tokens it is given. Without ``special=match`` it gets none, so their text
is ordinary text, as everywhere in tokbench. It loads only BPE: no WordPiece, no Unigram.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Option, Spec, SpecError, TokenBatch, TokenizerError, TokenizerFamily
from tokbench_extras.json_files import opened, path_of
from tokbench_extras.libraries import SPECIAL, SpelledTokenizer, failure, matches_special, need
from tokbench_extras.published import cached, required

if TYPE_CHECKING:
    import gigatoken

ENCODINGS = ("r50k_base", "cl100k_base", "o200k_base")


class GigatokenTokenizer(SpelledTokenizer):
    """A tokenizer of gigatoken."""

    library = "gigatoken"

    def __init__(self, tokenizer: gigatoken.Tokenizer, *, name: str, source: str, threads: int = 1) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.source = source
        self.vocab_size: int = tokenizer.vocab_size
        self.lossless = self.decode_joins_bytes = source == "ranks"
        self._parallel = threads > 1

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of the special tokens passed to the library."""
        return frozenset(self.tokenizer._special_tokens().values())

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode(text).tolist()

    def _many(self, texts: list[str]) -> TokenBatch:
        """The library's ragged array, without a copy."""
        import numpy as np

        layout = self.tokenizer.encode_batch(texts, parallel=self._parallel).layout
        offsets = np.asarray(layout.offsets.data, np.int64)
        ids = np.asarray(layout.content.data)[offsets[0] : offsets[-1]]
        return TokenBatch(ids.view(np.int32), offsets - offsets[0])

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids)

    @cached_property
    def _vocabulary(self) -> Mapping[int, bytes]:
        vocabulary: Mapping[int, bytes] = self.tokenizer.vocab
        return vocabulary

    def _bytes(self, token_id: int) -> bytes:
        part = self._vocabulary.get(token_id, b"")
        return part.replace("▁".encode(), b" ") if self.source == "sentencepiece" else part

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {
            "algorithm": "BPE",
            "special_tokens": dict(self.tokenizer._special_tokens()),
            "lossless": self.lossless,
            "why_not_lossless": None if self.lossless else "its file may normalise text",
        }


def load(spec: Spec, context: LoadContext) -> GigatokenTokenizer:
    """Load ranks (tiktoken's cached encodings or a file), a `tokenizer.json` or a sentencepiece BPE model."""
    path = _path(spec)
    library = need("gigatoken", extra="gigatoken")
    match = matches_special(spec)
    if spec.variant in ENCODINGS:
        required(spec.variant, spec)
    elif not path.is_file():
        raise TokenizerError(f"{spec}: there is no file {path}")
    try:
        if path.suffix == ".json":
            tokenizer, source = opened(spec, "gigatoken", library.Tokenizer.from_json)[0], "json"
        elif path.suffix == ".model":
            tokenizer, source = _of_model(library, path, match), "sentencepiece"
        else:
            scheme, special = _scheme(spec)
            tokenizer = library.Tokenizer.from_tiktoken(path, scheme, special if match else {})
            source = "ranks"
    except (SpecError, TokenizerError):
        raise
    except Exception as error:  # the library raises what Rust gives, over several lines
        raise failure(f"{spec}: gigatoken cannot load {path}", error) from error
    return GigatokenTokenizer(tokenizer, name=str(spec), source=source, threads=context.threads)


def _of_model(library: Any, path: Path, match: bool) -> gigatoken.Tokenizer:
    """A sentencepiece model; unless `match`, its control symbols become unused pieces."""
    if match:
        return library.Tokenizer.from_sentencepiece(path)
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    for piece in model.pieces:
        if piece.type == piece.CONTROL:
            piece.type = piece.UNUSED
    with TemporaryDirectory() as folder:
        changed = Path(folder, path.name)
        changed.write_bytes(model.SerializeToString())
        return library.Tokenizer.from_sentencepiece(changed)


def _scheme(spec: Spec) -> tuple[str, dict[str, int]]:
    """The library's name of the pre-tokenizer, and the special tokens of a published encoding."""
    from gigatoken._load.tiktoken import ENCODINGS as KNOWN

    known = KNOWN.get(spec.variant or "")
    scheme = spec.get("pretokenizer") or (known.pretokenizer if known else None)
    if scheme is None:
        raise SpecError(
            f"{spec}: a .tiktoken file holds no pattern; add pretokenizer=NAME (gpt2, cl100k, o200k, qwen2 …)"
        )
    return scheme, dict(known.special_tokens) if known else {}


def _path(spec: Spec) -> Path:
    if not spec.variant:
        raise SpecError(f"gigatoken: name an encoding ({', '.join(ENCODINGS)}) or a file: gigatoken:NAME")
    if spec.variant in ENCODINGS:
        return cached(spec.variant)
    return path_of(spec)


GIGATOKEN = TokenizerFamily(
    name="gigatoken",
    summary="Fast BPE in Rust: tiktoken encodings, BPE tokenizer.json files and sentencepiece BPE models",
    load=load,
    files=lambda spec, context: [_path(spec)],
    options=(
        SPECIAL,
        Option("pretokenizer", "str", None, "For a .tiktoken file: the library's name of its pattern."),
    ),
    variant="an encoding (o200k_base …), a .tiktoken, .json or .model file",
    libraries=("gigatoken",),
    examples=("gigatoken:o200k_base", "gigatoken:path/to/tokenizer.json"),
)
