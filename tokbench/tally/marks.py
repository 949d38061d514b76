"""What every byte of a text is to graphemes and words: a byte of flags each, 64 of which are read at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.bits import in_range_64, spread_64
from tokbench.kernels.compiling import kernel, lean_kernel

INSIDE_GRAPHEME, WORD_BEGINS, INSIDE_WORD = 1, 2, 4
"""No grapheme cluster begins here; a word begins here; a word began before and has not ended."""
ZERO, ONE = np.uint64(0), np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@lean_kernel
def mark_word(marks: Any, start: Any, end: Any) -> None:
    """Mark one word, whatever words were marked there before; none may be yet in the 64 bytes after it."""
    position, begins = start, ONE
    while position < end:
        size = min(end - position, 64)
        within = in_range_64(marks, position, 0xFE, 0xFF, 1)
        spread_64(marks, position, within, begins, ALL >> np.uint64(64 - size) & ~begins)
        position += 64
        begins = ZERO


@kernel
def mark_words(marks: Any, starts: Any, ends: Any) -> None:
    """Mark these words, and no others."""
    for at in range(len(marks)):
        marks[at] &= INSIDE_GRAPHEME
    for word in range(len(starts)):
        mark_word(marks, starts[word], ends[word])
