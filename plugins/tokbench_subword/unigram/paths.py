"""Paths through a text as kernels keep them: by the ends of their pieces.

``links[end]`` is one number made of where the piece that ends there begins, and of its id. Places are in bytes
from where the text begins.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench_subword.unigram.trie import descend, root_of

UNKNOWN_PIECE = -1
"""What stands for an unknown character in a path."""


@inline
def width_of(byte):  # type: ignore[no-untyped-def]
    """The bytes of the character that begins with `byte`."""
    if byte < 0x80:
        return np.int64(1)
    if byte < 0xE0:
        return np.int64(2)
    return np.int64(3) if byte < 0xF0 else np.int64(4)


def plain_width_of(byte: int) -> int:
    """`width_of` for Python, which cannot call what is compiled into kernels."""
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


@inline
def link(start, piece):  # type: ignore[no-untyped-def]
    """The last piece of a path, as one number: where it begins, and its id (or `UNKNOWN_PIECE`)."""
    return start << 32 | (piece & 0xFFFFFFFF)


@inline
def link_start(value):  # type: ignore[no-untyped-def]
    """Where the piece of a link begins; negative in a link that was never set."""
    return value >> 32


@inline
def link_piece(value):  # type: ignore[no-untyped-def]
    """The id of a link's piece, or `UNKNOWN_PIECE`."""
    return np.int64(np.int32(value & 0xFFFFFFFF))


@inline
def only_piece(data, begin, size, units):  # type: ignore[no-untyped-def]
    """The piece that is exactly these bytes, or `UNKNOWN_PIECE`."""
    node, piece = root_of(units), np.int64(UNKNOWN_PIECE)
    for position in range(begin, begin + size):
        node, piece = descend(units, node, np.int64(data[position]))
        if node < 0:
            break
    return piece


@inline
def write_rows(links, size, rows):  # type: ignore[no-untyped-def]
    """Fill `rows` with (start, end, piece) of the path that ends at `size`; how many there are."""
    count, position = np.int64(0), size
    while position > 0:
        position = link_start(links[position])
        count += 1
    row, position = count, size
    while position > 0:
        row -= 1
        start = link_start(links[position])
        rows[row, 0], rows[row, 1], rows[row, 2] = start, position, link_piece(links[position])
        position = start
    return count
