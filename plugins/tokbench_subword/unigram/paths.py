"""Paths through a text, as the kernels store them.

``links[start]`` packs the end and the id of the piece that begins at `start` into one number. During the
search, a link is stored at the end of its piece instead and contains the start; `turn_around` converts the
links. Places are in bytes from the beginning of the text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Bytes, Int, Ints, Words
from tokbench_subword.pipeline.trie import descend, root_of

UNKNOWN_PIECE = -1
"""The piece id of an unknown character in a path."""


class Node(NamedTuple):
    """A piece of a path through internal text, ``[start, end)`` in bytes; `UNKNOWN_PIECE` if it is unknown."""

    start: int
    end: int
    piece: int


@inline
def link(place: Int, piece: Int) -> Any:
    """A piece of a path, as one number: its other end, and its id (or `UNKNOWN_PIECE`)."""
    return place << 32 | (piece & 0xFFFFFFFF)


@inline
def link_place(value: np.int64) -> np.int64:
    """The other end of the piece of a link; negative in a link that was never set."""
    return value >> 32


@inline
def link_piece(value: np.int64) -> np.int64:
    """The id of a link's piece, or `UNKNOWN_PIECE`."""
    return np.int64(np.int32(value & 0xFFFFFFFF))


@inline
def turn_around(links: Ints, size: Int) -> None:
    """Convert the path to `size` from links at the ends of pieces to links at their beginnings."""
    position, moved = size, np.int64(-1)
    while position > 0:
        value = links[position]
        links[position] = moved
        moved, position = link(position, link_piece(value)), link_place(value)
    links[0] = moved


@inline
def only_piece(data: Bytes, begin: Int, size: Int, units: Words) -> np.int64:
    """The piece that is exactly these bytes, or `UNKNOWN_PIECE`."""
    node, piece = root_of(units), np.int64(UNKNOWN_PIECE)
    for position in range(begin, begin + size):
        node, piece = descend(units, node, np.int64(data[position]))
        if node < 0:
            break
    return piece


@inline
def write_rows(links: Ints, size: Int, rows: Ints) -> np.int64:
    """Fill `rows` with (start, end, piece) of the path to `size`; return the number of rows."""
    count = position = np.int64(0)
    while position < size:
        end = link_place(links[position])
        rows[count, 0], rows[count, 1], rows[count, 2] = position, end, link_piece(links[position])
        count, position = count + 1, end
    return count
