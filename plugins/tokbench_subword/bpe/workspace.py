"""`Workspace`: what one thread needs for itself: the word cache, scratch space, and the block of addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.backtracking import MARKS
from tokbench_subword.bpe.merging import SHORT
from tokbench_subword.bpe.word_cache import SHORT_BUCKET, WIDE_BUCKET, move_words
from tokbench_subword.kernels.pointers import block

_LEAST_SHORT, _MOST_SHORT = 1 << 11, 1 << 17
_LEAST_WIDE, _MOST_WIDE = 1 << 8, 1 << 15
"""Buckets of the cache at first and at most: 160 kB and 12 MB."""
_BYTES_A_BUCKET = 128
"""A text of so many bytes for each bucket is given a larger table beforehand."""
_KEPT_OUTPUT = 1 << 18


class Workspace:
    """The arrays of one thread, after those that all share; `block` is what kernels take."""

    __slots__ = ("arrays", "block", "end", "out", "passed", "span")

    def __init__(self, shared: Sequence[NDArray[Any]]) -> None:
        own: list[NDArray[Any]] = [
            _aligned_zeros(_LEAST_SHORT * SHORT_BUCKET),
            _aligned_zeros(_LEAST_WIDE * WIDE_BUCKET),
            np.array([_LEAST_SHORT - 1, _LEAST_WIDE - 1], np.int64),
            np.empty(at.ARENA_SIZE, np.uint32),
            np.zeros(1 << at.MEMO_BITS, np.uint64),
            np.zeros(at.N_COUNTERS, np.int64),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(SHORT + 1, np.uint8),
            np.zeros(SHORT + 1, np.uint8),
            np.zeros(at.CUTS + 1, np.int64),
            np.zeros(MARKS, np.uint64),
        ]
        self.arrays = [*shared, *own]
        self.block = block(self.arrays)
        self.out = np.empty(1 << 12, np.int32)
        self.span = np.zeros(2, np.int64)  # offsets of a single text
        self.end = np.zeros(2, np.int64)
        self.passed = 0  # bytes of single texts since the cache was looked at

    def fit(self, bytes_: int = 0) -> None:
        """Make the cache large enough for the words that are in it already, and for a text of so many bytes."""
        self._fit(0, at.SHORT_ENTERED, bytes_ // _BYTES_A_BUCKET, _MOST_SHORT)
        self._fit(1, at.WIDE_ENTERED, 0, _MOST_WIDE)

    def room(self, bytes_: int) -> NDArray[np.int32]:
        """An output array for a text of so many bytes, used again from call to call up to a megabyte."""
        if bytes_ + 4 <= len(self.out):
            return self.out
        room = np.empty(bytes_ + 4, np.int32)
        if bytes_ <= _KEPT_OUTPUT:
            self.out = room
        return room

    def _fit(self, wide: int, counter: int, expected: int, most: int) -> None:
        """Enlarge a table when as many words were entered as it has buckets, half of its slots."""
        buckets = int(self.arrays[at.CACHE_MASKS][wide]) + 1
        entered = int(self.arrays[at.COUNTERS][counter])
        wanted = buckets
        while wanted < most and (wanted < expected or wanted < entered):
            wanted *= 2
        if wanted == buckets:
            return
        place = at.WIDE_WORDS if wide else at.SHORT_WORDS
        table = _aligned_zeros(wanted * (WIDE_BUCKET if wide else SHORT_BUCKET))
        self.arrays[at.COUNTERS][counter] = move_words(self.arrays[place], table, bool(wide))
        self.arrays[place] = table
        self.arrays[at.CACHE_MASKS][wide] = wanted - 1
        self.block = block(self.arrays)


def _aligned_zeros(words: int) -> NDArray[np.uint64]:
    """Zeros that begin at a multiple of 64 bytes, so that a bucket is one cache line."""
    raw = np.zeros(words + 8, np.uint64)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + words]
