"""What a check is: of one text after the other, or of the tokenizer as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tokbench.batch import TokenBatch
from tokbench.tokenizer import Tokenizer

Problem = str | None


class TextCheck(NamedTuple):
    """A check tried on many texts: `run(tokenizer, text)` says what is wrong, or None."""

    name: str
    remedy: str
    run: Callable[[Tokenizer, str], Problem]


class WholeCheck(NamedTuple):
    """A check of the tokenizer as a whole: `run(tokenizer)` says what is wrong, or None."""

    name: str
    remedy: str
    run: Callable[[Tokenizer], Problem]


def ids_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of `text` as plain ints."""
    ids: list[int] = TokenBatch.of([tokenizer.encode(text)]).ids.tolist()
    return ids
