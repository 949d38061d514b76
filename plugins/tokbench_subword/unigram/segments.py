r"""Where a text may be cut without changing its segmentation: where no piece can cross.

That is between characters that no piece holds side by side.

No token crosses such a place, so what lies left of it and right of it can be segmented on their own, and the
same stretch of text (mostly a word with its space) is segmented once and remembered. Whether a piece crosses is
decided by two tables that err on the safe side: a character that no piece has except at its beginning always
starts a segment; a space does unless some piece has it behind a character that ends in the same byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import inline
from tokbench_subword.kernels.utf8 import code_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEEP, CHECK, SPACE = 0, 1, 2
"""What the first byte of a character says: never a cut before it; look at `inner`; look at `before_space`."""


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The tables: `classes` uint8 ``(256,)`` by first byte, `inner` uint8 ``(0x110000,)`` by character, and
    `before_space` uint8 ``(256,)`` by the last byte before a space (1: there may be no cut).
    """

    classes: NDArray[np.uint8]
    inner: NDArray[np.uint8]
    before_space: NDArray[np.uint8]


def find_cuts(pieces: Iterable[bytes]) -> Cuts:
    """The tables for a vocabulary of `pieces` in internal form (see `charsmap.to_internal`).

    Example:
        >>> cuts = find_cuts([b" ", b" the", "é".encode()])
        >>> int(cuts.classes[ord("h")]), int(cuts.inner[ord("é")]), int(cuts.before_space[ord("e")])
        (0, 0, 0)
    """
    inner, before_space = np.zeros(0x110000, np.uint8), np.zeros(256, np.uint8)
    for piece in pieces:
        text = piece.decode()
        if len(text) == 1:
            continue
        for left, right in pairwise(text):
            if right == " ":
                before_space[left.encode()[-1]] = 1
            else:
                inner[ord(right)] = 1
    classes = np.full(256, CHECK, np.uint8)
    classes[:0x80] = np.where(inner[:0x80], KEEP, CHECK)
    classes[0x80:0xC0] = KEEP  # inside a character
    classes[0x20] = SPACE
    return Cuts(classes, inner, before_space)


@inline
def next_cut(data, index, stop, classes, inner, before_space):  # type: ignore[no-untyped-def]
    """The end of the segment that begins at `index`: the next cut, or `stop`."""
    position = index + 1
    while position < stop:
        byte = data[position]
        kind = classes[byte]
        if kind != KEEP:
            if kind == SPACE:
                if not before_space[data[position - 1]]:
                    break
            else:
                character, _ = code_point(data, position)
                if not inner[character]:
                    break
        position += 1
    return position
