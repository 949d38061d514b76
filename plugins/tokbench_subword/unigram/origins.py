"""Where the bytes of prepared text come from: for each, a span of code points of its document, in one number.

The number is the span's start above 32 bits of its end. Every step from text to words gives each byte it writes
the span of what it writes it for, as `pipeline.stretch` does for characters: new text comes from the whole of
what it replaces, text put in front of a character from that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import pointer

_START = ~0xFFFFFFFF
_END = 0xFFFFFFFF


@inline
def carry(after, place, before, first, last):  # type: ignore[no-untyped-def]
    """Let the byte at `place` come from the bytes `first` to `last` of the text before."""
    after[place] = (before[first] & _START) | (before[last] & _END)


@inline
def extend(after, place, before, last):  # type: ignore[no-untyped-def]
    """Let what the byte at `place` comes from go on to the byte `last` of the text before."""
    after[place] = (after[place] & _START) | (before[last] & _END)


@kernel
def number_characters(source, offsets, origins):  # type: ignore[no-untyped-def]
    """The origins of text as it is: each byte of a character has its number and the next as a span."""
    for document in range(len(offsets) - 1):
        characters = np.int64(0)
        for position in range(offsets[document], offsets[document + 1]):
            characters += (source[position] & 0xC0) != 0x80
            origins[position] = (characters - 1) << 32 | characters


def spans_in(origins: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """What bytes from ``places[:, 0]`` to ``places[:, 1]`` come from, int64 of the same shape."""
    return np.stack([origins[places[:, 0]] >> 32, origins[places[:, 1] - 1] & _END], axis=1)


@kernel
def place_tokens(rows, limits, words, documents, origins, ids, spans):  # type: ignore[no-untyped-def]
    """Part `rows` of (id, start, end) into `ids` and `spans`, in code points of the document.

    Rows ``limits[w]`` to ``limits[w + 1]`` are of word w, their places in bytes behind ``words[w, 0]``; words
    ``documents[d]`` to ``documents[d + 1]`` are of document d. In it, neither starts nor ends go back.
    """
    source, number, triples = pointer(origins), pointer(ids), pointer(rows)
    for document in range(len(documents) - 1):
        start = end = np.int64(0)
        for word in range(documents[document], documents[document + 1]):
            begin = words[word, 0]
            for token in range(limits[word], limits[word + 1]):
                number[token] = triples[3 * token]
                start = max(start, source[begin + triples[3 * token + 1]] >> 32)
                end = max(start, end, source[begin + triples[3 * token + 2] - 1] & _END)
                spans[token, 0], spans[token, 1] = start, end
