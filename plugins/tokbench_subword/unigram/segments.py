r"""Where text may be cut without changing its segmentation: between characters that no piece has side by side.

No token crosses such a place, so the text on each side of it can be segmented on its own, and the same stretch
of text (mostly a word with its space) is segmented once and remembered. Whether a piece crosses is decided by
tables that err on the safe side: a character that no piece has except at its beginning always starts a segment;
a space does unless some piece has it behind a character that ends in the same byte; and a character outside
ASCII does unless some piece has it behind the very character before it, up to collisions in a table of such
pairs. That matters most in scripts that write no spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Bytes, Ids, Int
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import layout as at

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEEP, CHECK, SPACE = 0, 1, 2
"""What the first byte of a character says: no cut before it; look at `characters`; look at `before_space`."""
FOLLOWS, LEADS = 1, 2
"""Flags of a character."""
PIECE_SHIFT = 2
"""Where above the flags the id of the character as a piece stands, plus one."""
_PAIR_BITS = 17


def _place(left: Any, right: Any) -> Any:
    """The place of two characters in the table of pairs: for arrays here, for numbers in kernels."""
    return (left * 0x9E3779B1 ^ right * 0x85EBCA6B) >> 15 & ((1 << _PAIR_BITS) - 1)


_pair_place = inline(_place)


@dataclass(frozen=True, slots=True, eq=False)
class SafeCuts:
    """The tables: `classes` uint8 ``(256,)`` by first byte; `characters` int32 ``(0x110000,)``, whether the
    character is behind another in a piece (`FOLLOWS`), whether one begins with it and goes on (`LEADS`), and
    above that (`PIECE_SHIFT`) the id of the character as a piece plus one; `before_space` uint8 ``(256,)`` by
    the last byte before a space, and `pairs` uint8 by the hash of two characters (1: there may be no cut).
    """

    classes: NDArray[np.uint8]
    characters: NDArray[np.int32]
    before_space: NDArray[np.uint8]
    pairs: NDArray[np.uint8]

    def tables(self) -> dict[int, NDArray[Any]]:
        """The tables by their place in the block of an encoder."""
        return {
            at.CUT_CLASSES: self.classes,
            at.CHARACTERS: self.characters,
            at.BEFORE_SPACE: self.before_space,
            at.PAIRS: self.pairs,
        }


def find_cuts(pieces: Mapping[bytes, int]) -> SafeCuts:
    """The tables for a vocabulary of `pieces` in internal form (see `charsmap.to_internal`).

    Example:
        >>> cuts = find_cuts({b" ": 5, b" the": 6, "é".encode(): 7})
        >>> int(cuts.classes[ord("h")]), int(cuts.characters[ord("é")]), int(cuts.before_space[ord("e")])
        (0, 32, 0)
    """
    characters, before_space = np.zeros(0x110000, np.int32), np.zeros(256, np.uint8)
    crossed: set[tuple[int, int]] = set()
    for piece, index in pieces.items():
        text = piece.decode()
        if len(text) == 1:
            characters[ord(text)] |= (index + 1) << PIECE_SHIFT
            continue
        characters[ord(text[0])] |= LEADS
        crossed.update(pairwise(map(ord, text)))
    pairs = np.zeros(1 << _PAIR_BITS, np.uint8)
    for left, right in crossed:
        if right == 0x20:
            before_space[chr(left).encode()[-1]] = 1
        else:
            characters[right] |= FOLLOWS
            pairs[_place(left, right)] = 1
    classes = np.full(256, CHECK, np.uint8)
    letters = np.array([chr(byte).isalnum() for byte in range(0x80)])
    classes[:0x80] = np.where(letters & (characters[:0x80] & FOLLOWS != 0), KEEP, CHECK)
    classes[0x80:0xC0] = KEEP  # inside a character
    classes[0x20] = SPACE
    return SafeCuts(classes, characters, before_space, pairs)


@inline
def next_cut(
    data: Bytes, index: Int, stop: Int, classes: Bytes, characters: Ids, before_space: Bytes, pairs: Bytes
) -> np.int64:
    """The end of the segment that begins at `index`: the next cut, or `stop`."""
    left, width = code_point(data, index)
    position = index + width
    while position < stop:
        byte = data[position]
        kind = classes[byte]
        if kind == KEEP:
            left, width = np.int64(byte), 1
        elif kind == SPACE:
            if not before_space[data[position - 1]]:
                break
            left, width = np.int64(byte), 1
        else:
            right, width = code_point(data, position)
            if not characters[right] & FOLLOWS or not pairs[_pair_place(left, right)]:
                break
            left = right
        position += width
    return position
