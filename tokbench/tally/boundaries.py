"""Boundaries between tokens: one bit for every byte of a batch, in words of 64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE, SIX, LAST = np.uint64(1), np.uint64(6), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def no_boundaries(size: int) -> NDArray[np.uint64]:
    """Room for the boundaries of so many bytes; kernels may read 64 bits from the last one on."""
    return np.zeros((size >> 6) + 2, np.uint64)


def boundary_flags(boundary: NDArray[np.uint64], size: int) -> NDArray[np.bool_]:
    """Of each of so many bytes, whether there is a boundary.

    Example:
        >>> boundary = no_boundaries(100)
        >>> boundary[0], boundary[1] = 1 << 63, 0b10
        >>> np.flatnonzero(boundary_flags(boundary, 100)).tolist()
        [63, 65]
    """
    flags = np.unpackbits(boundary.astype("<u8").view(np.uint8), count=size, bitorder="little")
    return flags.view(np.bool_)


@kernel
def is_boundary(boundary: Any, place: Any) -> Any:
    """Whether there is a boundary at a place."""
    return boundary[place >> 6] >> np.uint64(place & 63) & ONE


@kernel
def boundaries_from(boundary: Any, place: Any) -> Any:
    """Bit i: whether there is a boundary i bytes after a place."""
    word, shift = place >> 6, np.uint64(place & 63)
    return boundary[word] >> shift | boundary[word + 1] << ONE << (LAST - shift)


@kernel
def set_boundary(boundary: Any, place: Any) -> None:
    """Make a boundary at a place, an unsigned number."""
    boundary[place >> SIX] |= ONE << (place & LAST)


@kernel
def clear(boundary: Any, start: Any, end: Any) -> None:
    """Take out the boundaries from `start` up to `end`, both included."""
    before, after = ~(ALL << np.uint64(start & 63)), ~(ALL >> np.uint64(63 - (end & 63)))
    first, last = start >> 6, end >> 6
    if first == last:
        boundary[first] &= before | after
        return
    boundary[first] &= before
    boundary[first + 1 : last] = 0
    boundary[last] &= after
