"""Distinct numbers and where to find them again: an open-addressing table of 64-bit keys, as kernels.

Keys are numbered in the order in which they are first seen. A table of n-grams does not fit a processor's
cache, so what is looked for is asked for some keys ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tokbench.kernels.compiling import announce, inline, kernel
from tokbench.kernels.pointers import pointer, prefetch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_AHEAD = 12
"""How many keys ahead memory is asked for: about what is done while it comes."""
_FREE = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeyTable:
    """`rows` int64 ``(2**k * 2,)``: keys, each followed by its number; `shift` takes a hash to its row."""

    rows: Ints
    shift: int

    def find(self, keys: Ints) -> Ints:
        """The number of each key, -1 for those that are none: int64 ``(n,)``."""
        found = np.empty(len(keys), np.int64)
        _find(keys, self.rows, self.shift, found)
        return found


def numbered(keys: Ints) -> tuple[KeyTable, NDArray[np.int32], Ints, Ints]:
    """A table of keys of 0 and more; the number of each key, where each number is first, and how often it is.

    Example:
        >>> table, numbers, first, counts = numbered(np.array([7, 5, 7]))
        >>> numbers.tolist(), first.tolist(), counts.tolist(), table.find(np.array([5, 6])).tolist()
        ([0, 1, 0], [0, 1], [2, 1], [1, -1])
    """
    announce(_number)
    bits = 8
    first, counts = np.empty(len(keys), np.int64), np.zeros(len(keys), np.int64)
    numbers = np.empty(len(keys), np.int32)
    rows, done, kinds = _empty(bits), 0, 0
    while True:
        done, kinds = _number(keys, rows, 64 - bits, (done, kinds), numbers, first, counts)
        if done == len(keys):
            first, counts = first[:kinds].copy(), counts[:kinds].copy()
            return KeyTable(rows, 64 - bits), numbers, first, counts
        bits += 2
        larger = _empty(bits)
        _move(rows, larger, 64 - bits)
        rows = larger


def _empty(bits: int) -> Ints:
    return np.full(2 << bits, _FREE, np.int64)


@inline
def _home(key, shift):  # type: ignore[no-untyped-def]
    """The row where a key is looked for first."""
    return np.int64((np.uint64(key) * _MULTIPLIER) >> np.uint64(shift)) * 2


@inline
def _row_of(rows, mask, key, shift):  # type: ignore[no-untyped-def]
    """Where a key stands, or the free row where it would."""
    row = _home(key, shift)
    while rows[row] != key and rows[row] != _FREE:
        row = (row + 2) & mask
    return row


@kernel
def _number(keys_, rows_, shift, begun, numbers, first, counts):  # type: ignore[no-untyped-def]
    """Number keys from where it was left; stops before the table is two thirds full."""
    keys, rows, mask = pointer(keys_), pointer(rows_), np.int64(len(rows_) - 1)
    done, kinds = begun
    n, most = len(keys_), len(rows_) // 3
    for at in range(done, n):
        if at + _AHEAD < n:
            prefetch(rows, _home(keys[at + _AHEAD], shift))
        row = _row_of(rows, mask, keys[at], shift)
        if rows[row] == _FREE:
            if kinds == most:
                return at, kinds
            rows[row], rows[row + 1] = keys[at], kinds
            first[kinds] = at
            kinds += 1
        number = rows[row + 1]
        numbers[at] = np.int32(number)
        counts[number] += 1
    return n, kinds


@kernel
def _move(old_, new_, shift):  # type: ignore[no-untyped-def]
    """Enter all keys of one table in another that is empty and larger."""
    old, new, mask = pointer(old_), pointer(new_), np.int64(len(new_) - 1)
    for row in range(0, len(old_), 2):
        if old[row] != _FREE:
            place = _row_of(new, mask, old[row], shift)
            new[place], new[place + 1] = old[row], old[row + 1]


@kernel
def _find(keys_, rows_, shift, found):  # type: ignore[no-untyped-def]
    """The number of each key, -1 where there is none."""
    keys, rows, mask = pointer(keys_), pointer(rows_), np.int64(len(rows_) - 1)
    n = len(keys_)
    for at in range(n):
        if at + _AHEAD < n:
            prefetch(rows, _home(keys[at + _AHEAD], shift))
        found[at] = rows[_row_of(rows, mask, keys[at], shift) + 1]  # of a free row -1
