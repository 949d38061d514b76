"""`WordCache`: the memory of one thread's word cache, which grows with the words it is given, up to a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import block
from tokbench_subword.words import slots as at
from tokbench_subword.words.cache_size import CACHE_BYTES as CACHE_BYTES

_FIRST_SLOTS = 1 << 9
_FIRST_RING = 1 << 13
_BYTES_A_SLOT = 64
"""A text of so many bytes for each slot is given a larger table beforehand."""
_LINE = 8
"""Words of 64 bits in a line of the processor's cache."""


class WordCache(Stays):
    """Words to ids, for the kernels of `slots`, which take its `block`.

    `most` is how many bytes it may take, half of them for slots and half for records, each a power of two; with
    0, words are not kept. It
    begins with 16 kB of slots. Memory of records is taken from the system page by page as they are written.

    Example:
        >>> cache = WordCache()
        >>> cache.held, cache.slots
        (0, 512)
    """

    __slots__ = ("_arrays", "_most_slots", "block")

    def __init__(self, most: int = CACHE_BYTES) -> None:
        half = 1 << max(most // 2, 1).bit_length() - 1
        self._most_slots = max(half // (8 * at.SLOT), _FIRST_SLOTS)
        ring_size = max(half // 8, _FIRST_RING)
        ring = np.empty(ring_size + at.SPARE_IDS, np.uint64)
        state = np.zeros(at.N_STATE, np.int64)
        state[at.RING_SIZE] = ring_size if most else 0
        table = _aligned_zeros(_FIRST_SLOTS * at.SLOT)
        self._arrays: list[NDArray[Any]] = [table, state, ring, ring.view(np.uint32), ring.view(np.uint8)]
        self.block = block(self._arrays)
        self._measure()

    @property
    def state(self) -> NDArray[np.int64]:
        """The numbers that `slots` counts by."""
        return self._arrays[at.STATE]

    @property
    def slots(self) -> int:
        """How many slots there are now."""
        return len(self._arrays[at.SLOTS]) // at.SLOT

    @property
    def held(self) -> int:
        """How many words they hold."""
        return int(self.state[at.HELD])

    @property
    def crowded(self) -> bool:
        """Whether it is time to call `fit`."""
        return bool(self.state[at.HELD] > self.state[at.ENOUGH])

    def fit(self, n_bytes: int = 0) -> None:
        """Make room for as many words again as are held, and for a text of so many bytes."""
        wanted = self.slots
        while wanted < self._most_slots and (2 * self.held > wanted or n_bytes > wanted * _BYTES_A_SLOT):
            wanted *= 2
        if wanted == self.slots:
            return
        table = _aligned_zeros(wanted * at.SLOT)
        self.state[at.HELD] = at.move_words(self._arrays[at.SLOTS], table, _shift(wanted))
        self._arrays[at.SLOTS] = table
        self.block[:] = block(self._arrays)  # in its place, which is known elsewhere
        self._measure()

    def _measure(self) -> None:
        self.state[at.MASK] = self.slots * at.SLOT - 1
        self.state[at.SHIFT] = _shift(self.slots)
        self.state[at.ENOUGH] = self.slots // 2 if self.slots < self._most_slots else self.slots


def _shift(slots: int) -> int:
    """How far a hash is shifted to give one of so many slots, a power of two."""
    return 65 - slots.bit_length()


def _aligned_zeros(words: int) -> NDArray[np.uint64]:
    """Zeros that begin at a multiple of 64 bytes, so that no slot lies on two cache lines.

    They are written: of zeros that are only promised, the first text would wait for page after page.
    """
    raw = np.empty(words + _LINE, np.uint64)
    raw.fill(0)
    skip = (-raw.ctypes.data % (8 * _LINE)) // 8
    return raw[skip : skip + words]
