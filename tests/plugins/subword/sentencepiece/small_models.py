"""A vocabulary small enough to reckon with by hand, and the library's view of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokbench_subword.files.sentencepiece_model import (
    CONTROL,
    UNKNOWN,
    Piece,
    SpmModel,
)
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

Pair = Callable[[str], tuple[SpmTokenizer, Any]]
UNK = Piece("<unk>", 0.0, UNKNOWN)
SMALL = SpmModel(
    (
        UNK,
        Piece("<s>", 0.0, CONTROL),
        Piece("▁", -2.0),
        Piece("a", -1.0),
        Piece("b", -1.5),
        Piece("ab", -2.0),
        Piece("▁ab", -3.0),
        Piece("ba", -2.25),
    )
)


def small(**changes: Any) -> SpmTokenizer:
    return SpmTokenizer("small", SMALL.with_pieces((*SMALL.pieces, *changes.get("pieces", ()))))


def sentencepiece_of(model: SpmModel) -> Any:
    import sentencepiece
    from tokbench_subword.files.sentencepiece_model import serialize

    return sentencepiece.SentencePieceProcessor(model_proto=serialize(model))
