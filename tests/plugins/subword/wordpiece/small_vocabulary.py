"""A small vocabulary of WordPiece, and how the family opens files."""

from __future__ import annotations

from tokbench_subword.wordpiece.family import WORDPIECE
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

from tokbench.registry import default_context
from tokbench.spec import Spec, validate

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "caf", "##e", "Caf", "##é", *"Ée.北京", "北京"]


def load(spec: str) -> WordPieceTokenizer:
    tokenizer = WORDPIECE.load(validate(Spec.parse(spec), WORDPIECE.options), default_context())
    assert isinstance(tokenizer, WordPieceTokenizer)
    return tokenizer
