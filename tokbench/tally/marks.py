"""What every byte of a text is to graphemes and words: a byte of flags each, 64 of which are read at once."""

from __future__ import annotations

from typing import Any

from tokbench.tally.compiling import kernel

INSIDE_GRAPHEME, WORD_BEGINS, INSIDE_WORD = 1, 2, 4
"""No grapheme cluster begins here; a word begins here; a word began before and has not ended."""


@kernel
def mark_word(marks: Any, start: Any, end: Any) -> None:
    """Mark one word, whatever words were marked there before."""
    marks[start] = marks[start] & INSIDE_GRAPHEME | WORD_BEGINS
    for at in range(start + 1, end):
        marks[at] = marks[at] & INSIDE_GRAPHEME | INSIDE_WORD


@kernel
def mark_words(marks: Any, starts: Any, ends: Any) -> None:
    """Mark these words, and no others."""
    for at in range(len(marks)):
        marks[at] &= INSIDE_GRAPHEME
    for word in range(len(starts)):
        mark_word(marks, starts[word], ends[word])
