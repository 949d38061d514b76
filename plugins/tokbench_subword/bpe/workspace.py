"""`Workspace`: what one thread needs for itself: the word cache, scratch space, and the block of addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import PADDING, block
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.backtracking import MARKS
from tokbench_subword.bpe.merging import SHORT
from tokbench_subword.bpe.word_cache import SHORT_SLOT, SPARE_IDS, WIDE_SLOT, move_words

_LEAST, _MOST = (1 << 12, 1 << 9), (1 << 18, 1 << 16)
"""Slots of the cache's two tables at first and at most: 160 kB and 12 MB."""
_BYTES_A_SLOT, _BYTES_A_WIDE_SLOT = 128, 256
"""A text of so many bytes for each slot is given larger tables beforehand."""
_LOOK_EVERY = 1 << 8
"""New words after which it is time to see whether the tables are large enough."""
_KEPT_OUTPUT = 1 << 18
_TABLES = ((at.SHORT_WORDS, SHORT_SLOT), (at.WIDE_WORDS, WIDE_SLOT))


class Workspace:
    """The arrays of one thread, after those that all share; `block` is what kernels take."""

    __slots__ = ("arrays", "block", "ids", "out", "text", "utf8")

    def __init__(self, shared: Sequence[NDArray[Any]]) -> None:
        own: list[NDArray[Any]] = [
            _aligned_zeros(_LEAST[0] * SHORT_SLOT),
            _aligned_zeros(_LEAST[1] * WIDE_SLOT),
            np.array([_shift(slots) for slots in _LEAST], np.uint64),
            np.empty(at.ARENA_SIZE + SPARE_IDS, np.uint32),
            _aligned_zeros(1 << at.PHRASE_BITS),
            np.empty(at.PHRASE_BYTES_SIZE + PADDING, np.uint8),
            np.empty(1 + at.PHRASE_IDS_SIZE + SPARE_IDS, np.uint32),
            _aligned_zeros(1 << at.MEMO_BITS),
            np.zeros(at.N_COUNTERS, np.int64),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(SHORT + 1, np.uint8),
            np.zeros(SHORT + 1, np.uint8),
            np.zeros(at.CUTS + 1, np.int64),
            np.zeros(at.GROUP + 1, np.int64),
            np.zeros(at.GROUP, np.int64),
            np.zeros(2 * at.GROUP, np.uint64),
            np.zeros(at.GROUP, np.int64),
            np.zeros(at.GROUP + 1, np.int64),
            np.zeros(at.GROUP, np.int64),
            np.zeros(MARKS, np.uint64),
            np.zeros(at.TEXT_SIZE + PADDING, np.uint8),
            np.empty(at.TEXT_SIZE + SPARE_IDS, np.int32),
        ]
        self.arrays = [*shared, *own]
        self.out = np.empty(1 << 12, np.int32)
        self.ids = self.arrays[at.IDS]
        self.text = self.arrays[at.TEXT]
        self.utf8 = self.text.view()
        self.utf8.flags.writeable = False  # as all text that kernels are compiled for
        self.block = block(self.arrays)
        self.fit()

    def get_ready(self) -> None:
        """Have the compiled code read that larger tables need: it moves nothing, of no words."""
        for place, step in _TABLES:
            move_words(self.arrays[place][:0], self.arrays[place], step)

    def fit(self, bytes_: int = 0) -> None:
        """Make the cache large enough for the words entered so far, and for a text of so many bytes."""
        self._fit(0, bytes_ // _BYTES_A_SLOT)
        self._fit(1, bytes_ // _BYTES_A_WIDE_SLOT)
        counters = self.arrays[at.COUNTERS]
        counters[at.FIT_AFTER] = counters[at.SHORT_ENTERED] + counters[at.WIDE_ENTERED] + _LOOK_EVERY

    def crowded(self) -> bool:
        """Whether so many words were entered that it is time to call `fit`."""
        counters = self.arrays[at.COUNTERS]
        return bool(counters[at.SHORT_ENTERED] + counters[at.WIDE_ENTERED] > counters[at.FIT_AFTER])

    def last(self) -> NDArray[np.int32]:
        """The ids of the text that was last encoded by itself, where they lie."""
        return self.ids[: self.arrays[at.COUNTERS][at.N_IDS]]

    def room(self, bytes_: int) -> NDArray[np.int32]:
        """An output array for a text of so many bytes, used again from call to call up to a megabyte."""
        if bytes_ + SPARE_IDS <= len(self.out):
            return self.out
        room = np.empty(bytes_ + SPARE_IDS, np.int32)
        if bytes_ <= _KEPT_OUTPUT:
            self.out = room
        return room

    def _fit(self, which: int, expected: int) -> None:
        """Enlarge a table when as many words were entered as half of its slots."""
        place, step = _TABLES[which]
        slots = len(self.arrays[place]) // step
        counters = self.arrays[at.COUNTERS]
        wanted = slots
        while wanted < _MOST[which] and (wanted < expected or wanted < 2 * counters[at.SHORT_ENTERED + which]):
            wanted *= 2
        if wanted == slots:
            return
        table = _aligned_zeros(wanted * step)
        move_words(self.arrays[place], table, step)
        self.arrays[place] = table
        self.arrays[at.CACHE_SHIFTS][which] = _shift(wanted)
        counters[at.SHORT_ENTERED + which] = counters[at.SHORT_HELD + which]
        self.block[:] = block(self.arrays)  # in its place, which is known elsewhere


def _shift(slots: int) -> int:
    """How far a hash is shifted to give one of so many slots, a power of two."""
    return 65 - slots.bit_length()


def _aligned_zeros(words: int) -> NDArray[np.uint64]:
    """Zeros that begin at a multiple of 64 bytes, so that no slot lies on two cache lines.

    They are written: of zeros that are only promised, the first text would wait for page after page.
    """
    raw = np.empty(words + 8, np.uint64)
    raw.fill(0)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + words]
