"""A cache of what short stretches of text became, as kernels keep it: two-way associative, a slot a cache line.

A slot is eight words of 64 bits: four of text, one of sizes (the number of bytes in its lowest byte, the number
of tokens in the next, the rest for the algorithm), three of ids. A stretch has its place in the slot of its
hash or in the neighbour, the slot number xor 1. The whole text is compared: a collision costs time, no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.hashing import mix
from tokbench.kernels.pointers import load_u64

if TYPE_CHECKING:
    from numpy.typing import NDArray

CACHED_BYTES = 32
"""The longest stretch that is remembered, in bytes."""
CACHED_TOKENS = 6
"""The most tokens a slot holds."""
SLOT_WORDS = 8
"""Words of 64 bits in a slot."""
ABOUT, IDS = 4, 5
"""Where in a slot the word of sizes and the ids are."""


def cache_lines(slots: int) -> NDArray[np.uint64]:
    """An empty cache of so many slots, each in a cache line of its own."""
    room = np.zeros((slots + 1) * SLOT_WORDS, np.uint64)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + slots * SLOT_WORDS]


@inline
def stretch_key(data: Any, begin: Any, size: Any) -> Any:
    """The bytes of a stretch of at most 32 as four words, zero behind its end (the size tells NUL).

    Reads up to seven bytes past the end.
    """
    first = load_u64(data, begin)
    second = third = fourth = np.uint64(0)
    if size < 8:
        first &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
    elif size > 8:
        second = load_u64(data, begin + 8)
        if size < 16:
            second &= (np.uint64(1) << np.uint64(8 * (size - 8))) - np.uint64(1)
        elif size > 16:
            third = load_u64(data, begin + 16)
            if size < 24:
                third &= (np.uint64(1) << np.uint64(8 * (size - 16))) - np.uint64(1)
            elif size > 24:
                fourth = load_u64(data, begin + 24)
                if size < 32:
                    fourth &= (np.uint64(1) << np.uint64(8 * (size - 24))) - np.uint64(1)
    return first, second, third, fourth


@inline
def slot_of(first: Any, second: Any, third: Any, fourth: Any, size: Any, mask: Any) -> Any:
    """The slot of a key; `mask` is the number of slots, a power of two, less one."""
    hashed = mix(first, second + np.uint64(size))
    if size > 16:
        hashed = mix(hashed ^ third, fourth)
    return np.int64(hashed) & mask


@inline
def holds(cache: Any, slot: Any, first: Any, second: Any, third: Any, fourth: Any, size: Any) -> Any:
    """Whether the slot holds the entry of this key."""
    place = slot * SLOT_WORDS
    return (
        cache[place] == first
        and cache[place + 1] == second
        and cache[place + 2] == third
        and cache[place + 3] == fourth
        and np.int64(cache[place + ABOUT] & np.uint64(0xFF)) == size
    )
