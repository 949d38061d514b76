"""`WordCache`: the memory of one thread's word cache, which grows with its words, up to a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import block
from tokbench_subword.words import slots as at
from tokbench_subword.words.cache_size import CACHE_BYTES

_FIRST_SLOTS = 1 << 9
_FIRST_RING = 1 << 13
_LINE = 8
"""64-bit numbers in a line of the processor's cache."""


class WordCache(Stays):
    """Maps words to ids; the kernels of `slots` take its `block`.

    It takes up to `most` bytes: half for slots and half for records, each rounded down to a power of two, and
    at least 16 and 64 kB. With 0, no word is cached. It begins with 16 kB of slots and takes further memory as
    that is written to.

    Example:
        >>> cache = WordCache()
        >>> cache.held, cache.slots
        (0, 512)
    """

    __slots__ = ("_arrays", "block")

    def __init__(self, most: int = CACHE_BYTES) -> None:
        half = 1 << max(most // 2, 1).bit_length() - 1
        ring_size = max(half // 8, _FIRST_RING)
        ring = np.empty(ring_size + at.SPARE_IDS, np.uint64)
        table = _aligned(max(half // 8, _FIRST_SLOTS * at.SLOT))
        state = np.zeros(at.N_STATE, np.int64)
        state[at.RING_SIZE], state[at.MOST] = ring_size if most else 0, len(table)
        self._arrays: list[NDArray[Any]] = [table, state, ring, ring.view(np.uint32), ring.view(np.uint8)]
        self.block = block(self._arrays)
        table[: _FIRST_SLOTS * at.SLOT] = 0
        state[at.MASK], state[at.SHIFT] = _FIRST_SLOTS * at.SLOT - 1, 65 - _FIRST_SLOTS.bit_length()
        state[at.ENOUGH] = _FIRST_SLOTS if len(table) == _FIRST_SLOTS * at.SLOT else _FIRST_SLOTS // 2

    @property
    def slots(self) -> int:
        """How many slots are in use."""
        return (int(self._arrays[at.STATE][at.MASK]) + 1) // at.SLOT

    @property
    def held(self) -> int:
        """How many words the slots hold."""
        return int(self._arrays[at.STATE][at.HELD])


def _aligned(words: int) -> NDArray[np.uint64]:
    """An array of 64-bit numbers at a multiple of 64 bytes, so that no slot lies on two cache lines."""
    raw = np.empty(words + _LINE, np.uint64)
    skip = (-raw.ctypes.data % (8 * _LINE)) // 8
    return raw[skip : skip + words]
