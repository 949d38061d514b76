"""Flags for every byte of a batch, for the kernels that count: words, grapheme clusters, token boundaries.

Marks are a byte of flags for each byte of text, 64 of which are read at once; the scan of the text sets them.
Boundaries between tokens are a bit for each byte of text, in words of 64; they depend on the tokenizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokbench.kernels.bits import ALL, ONE, ZERO, in_range_64, spread_64
from tokbench.kernels.compiling import kernel, lean_kernel
from tokbench.kernels.pointers import Bytes, Int, Words

if TYPE_CHECKING:
    from tokbench.tally.text import Offsets

INSIDE_GRAPHEME, WORD_BEGINS, INSIDE_WORD = 1, 2, 4
"""Marks: no grapheme cluster begins here; a word begins here; a word began before and has not ended."""
SIX, LAST = np.uint64(6), np.uint64(63)


class MarkedBytes(NamedTuple):
    """The bytes of a batch, their marks, and the boundaries among them."""

    data: Bytes
    marks: Bytes
    boundary: Words


@lean_kernel
def mark_word(marks: Bytes, start: Int, end: Int) -> None:
    """Mark one word over what was marked there; words come in order, as the 64 bytes after may lose marks."""
    position, begins = start, ONE
    while position < end:
        size = min(end - position, 64)
        within = in_range_64(marks, position, 0xFE, 0xFF, 1)
        spread_64(marks, position, within, begins, ALL >> np.uint64(64 - size) & ~begins)
        position += 64
        begins = ZERO


@kernel
def mark_words(marks: Bytes, starts: Offsets, ends: Offsets) -> None:
    """Mark these words, and no others."""
    for at in range(len(marks)):
        marks[at] &= INSIDE_GRAPHEME
    for word in range(len(starts)):
        mark_word(marks, starts[word], ends[word])


def no_boundaries(size: int) -> Words:
    """Room for the boundaries of so many bytes; kernels may read 64 bits from the last one on."""
    return np.zeros((size >> 6) + 2, np.uint64)


@kernel
def is_boundary(boundary: Words, place: Int) -> np.uint64:
    """Whether there is a boundary at a place: 1 or 0."""
    return np.uint64(boundary[place >> 6] >> np.uint64(place & 63) & ONE)


@kernel
def boundaries_from(boundary: Words, place: Int) -> np.uint64:
    """Bit i: whether there is a boundary i bytes after a place."""
    word, shift = place >> 6, np.uint64(place & 63)
    return np.uint64(boundary[word] >> shift | boundary[word + 1] << ONE << (LAST - shift))


@kernel
def set_boundary(boundary: Words, place: np.uint64) -> None:
    """Make a boundary at a place, an unsigned number."""
    boundary[place >> SIX] |= ONE << (place & LAST)


@kernel
def clear_boundaries(boundary: Words, start: Int, end: Int) -> None:
    """Take out the boundaries from `start` up to `end`, both included."""
    before, after = ~(ALL << np.uint64(start & 63)), ~(ALL >> np.uint64(63 - (end & 63)))
    first, last = start >> 6, end >> 6
    if first == last:
        boundary[first] &= before | after
        return
    boundary[first] &= before
    boundary[first + 1 : last] = 0
    boundary[last] &= after
