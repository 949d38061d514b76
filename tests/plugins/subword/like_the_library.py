"""Tokenizers made by `tokenizers`, and the same in-house."""

from __future__ import annotations

import json
from typing import Any

from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import Tokenizer


def content_of(tokenizer: Tokenizer) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(tokenizer.to_str())
    return content


def assert_same_ids_and_spans(ours: BpeTokenizer | WordPieceTokenizer, theirs: Tokenizer, *some: str) -> None:
    for text in some:
        expected = theirs.encode(text)
        assert ours(text) == expected.ids
        assert [tuple(span) for span in ours.offsets(text).tolist()] == expected.offsets, text
