"""Where the bytes of prepared text come from: for each, a span of code points of its document, in one number.

The number is the span's start above 32 bits of its end. Every step from text to words gives each byte it writes
the span of what it writes it for, as `pipeline.stretch` does for characters: new text comes from the whole of
what it replaces, text put in front of a character from that.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import pointer

_START = ~0xFFFFFFFF
_END = 0xFFFFFFFF


@inline
def optional(array):  # type: ignore[no-untyped-def]
    """The pointer of an array, or None for None: what is done with it is then compiled away."""
    if array is None:
        return None
    return pointer(array)


@inline
def carry(after, place, before, first, last):  # type: ignore[no-untyped-def]
    """Let the byte at `place` come from the bytes `first` to `last` of the text before."""
    if after is not None:
        after[place] = (before[first] & _START) | (before[last] & _END)


@inline
def extend(after, place, before, last):  # type: ignore[no-untyped-def]
    """Let what the byte at `place` comes from go on to the byte `last` of the text before."""
    if after is not None:
        after[place] = (after[place] & _START) | (before[last] & _END)


@kernel
def number_characters(source, offsets, origins):  # type: ignore[no-untyped-def]
    """The origins of text as it is: each byte of a character has its number and the next as a span."""
    for document in range(len(offsets) - 1):
        characters = np.int64(0)
        for position in range(offsets[document], offsets[document + 1]):
            characters += (source[position] & 0xC0) != 0x80
            origins[position] = (characters - 1) << 32 | characters


@kernel
def to_characters(spans, limits, origins):  # type: ignore[no-untyped-def]
    """Turn spans of bytes, ``spans[limits[d]:limits[d + 1]]`` for document d, into what these come from.

    Neither starts nor ends go back within a document.
    """
    for document in range(len(limits) - 1):
        start = end = np.int64(0)
        for token in range(limits[document], limits[document + 1]):
            start = max(start, origins[spans[token, 0]] >> 32)
            end = max(start, end, origins[spans[token, 1] - 1] & _END)
            spans[token, 0], spans[token, 1] = start, end
