"""The rules for superwords: how many words, and which characters are excluded (Liu et al. 2025, their trainer).

The shape of a token, int64, is 16 times the number of its words (runs of bytes other than a space), plus a bit
for each of: first byte a space, last byte a space, last byte a colon, a colon before a space anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Int, Ints
from tokbench.kernels.text import end_to_end

SPACE_FIRST, SPACE_LAST, COLON_LAST, COLON_SPACE = 1, 2, 4, 8
WORD = 16
_SPACE, _COLON = ord(" "), ord(":")

PATTERN = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""Still cut off when superwords are learned and used: groups of digits, runs of punctuation, and spaces before
white space or the end (the authors' second stage).
"""
MOST_WORDS = 4
"""The most words in a superword, as in the authors' trainer."""


@inline
def joined_shape(left: np.int64, right: np.int64) -> np.int64:
    """The shape of two tokens joined together."""
    shape = (left & SPACE_FIRST) | (right & (SPACE_LAST | COLON_LAST)) | ((left | right) & COLON_SPACE)
    if left & COLON_LAST and right & SPACE_FIRST:
        shape |= COLON_SPACE
    words = left // WORD + right // WORD
    if not left & SPACE_LAST and not right & SPACE_FIRST:
        words -= 1  # the last word of the left and the first of the right become one
    return shape | words * WORD


@inline
def may_be(shape: Int, most_words: Int) -> bool | np.bool_:
    """Whether a token may have this shape: at most `most_words` words, and no colon before a space."""
    return shape & COLON_SPACE == 0 and shape // WORD <= most_words


def shapes_of(tokens: Sequence[bytes], n_wanted: int) -> NDArray[np.int64]:
    """The shapes of the first tokens, with room for `n_wanted` tokens."""
    shapes = np.zeros(max(n_wanted, len(tokens)), np.int64)
    data, starts = end_to_end(tokens)
    _shape(data, starts[1:], shapes)
    return shapes


@kernel
def _shape(data: Bytes, ends: Ints, shapes: Ints) -> None:
    """Write the shapes of tokens that are stored end to end, by joining the shapes of their bytes."""
    at = np.int64(0)
    for token in range(len(ends)):
        shape = np.int64(0)
        for place in range(at, ends[token]):
            byte = np.int64(WORD)
            if data[place] == _SPACE:
                byte = np.int64(SPACE_FIRST | SPACE_LAST)
            elif data[place] == _COLON:
                byte = np.int64(WORD | COLON_LAST)
            shape = joined_shape(shape, byte) if place > at else byte
        shapes[token] = shape
        at = ends[token]
