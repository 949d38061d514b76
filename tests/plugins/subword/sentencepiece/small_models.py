"""A vocabulary small enough to reckon with by hand, and the library's view of a model."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from tokbench_subword.files.sentencepiece_model import BYTE, CONTROL, UNKNOWN, Piece, SpmModel, parse, serialize
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.path_tokens import byte_piece

Pair = Callable[[str], tuple[SpmTokenizer, Any]]
UNK = Piece("<unk>", 0.0, UNKNOWN)
BYTES = tuple(Piece(byte_piece(byte), 0.0, BYTE) for byte in range(256))
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


def trained_there(lines: list[str], **options: Any) -> SpmModel:
    """The model that sentencepiece learns from lines, alike in every run."""
    import sentencepiece

    writer = io.BytesIO()
    common = {"sentence_iterator": iter(lines), "model_writer": writer, "num_threads": 1, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(**common, **options)
    return parse(writer.getvalue())


def sentencepiece_of(model: SpmModel) -> Any:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_proto=serialize(model))
