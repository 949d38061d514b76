"""The merge loop: symbols of one pre-token to the symbols that no merge is left for.

Both forms do the same: of all neighbours that may merge, take the pair of lowest rank, the leftmost of
equals, merge it, and go on. `merge_short` looks through all ranks at every step, which for up to some hundred
symbols is faster than any queue; `merge_long` keeps them in a binary heap, n log n, with entries that went
stale recognised when they come up.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe.tables import NONE, pair_rank
from tokbench_subword.kernels.compiling import inline, subroutine
from tokbench_subword.kernels.heap import heapify, pop, push
from tokbench_subword.kernels.pointers import pointer

SHORT = 128
"""Up to so many symbols, `merge_short` is the faster one."""
_PLACE_BITS, _PLACE = np.uint32(7), np.uint32(127)
_FEW, _SEVERAL = 17, 33  # symbols, so that 16 or 32 keys hold all pairs
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inline
def pair_key(rank, i):  # type: ignore[no-untyped-def]
    """Rank and place of a pair as one number: the least of all is the next to merge. `NONE` without a rank."""
    if rank == NONE:
        return NONE
    return (rank << _PLACE_BITS) | np.uint32(i)


@subroutine
def merge_short(symbols, keys, following, before, count, pairs, bloom, shift, results, numbered):  # type: ignore[no-untyped-def]
    """Merge ``symbols[:count]`` in place; return how many are left, which are moved together at the beginning.

    ``keys[i]`` must hold `pair_key` of symbols i and i + 1, and `NONE` from ``keys[count - 1]`` to
    ``keys[31]``. `following` and `before` are scratch space. ``results[rank]`` is the id a merge gives; where
    symbols are `numbered` as `pieces`, the rank itself is what it gives.
    """
    for i in range(count):
        following[i] = i + 1
        before[i] = max(i - 1, 0)
    while True:
        best = NONE
        if count <= _FEW:
            for i in range(16):  # a fixed number: no branch to guess wrong
                best = min(best, keys[i])
        elif count <= _SEVERAL:
            for i in range(32):
                best = min(best, keys[i])
        else:
            for i in range(count - 1):
                best = min(best, keys[i])
        if best == NONE:
            break
        place, rank = np.int64(best & _PLACE), best >> _PLACE_BITS
        joined = np.int64(following[place])
        after = np.int64(following[joined])
        symbol = rank if numbered else results[rank]
        symbols[place] = symbol
        following[place] = after
        keys[joined] = NONE
        key = NONE
        if after < count:
            before[after] = place
            key = pair_key(pair_rank(pairs, bloom, shift, symbol, symbols[after]), place)
        keys[place] = key
        if place > 0:
            previous = np.int64(before[place])
            keys[previous] = pair_key(pair_rank(pairs, bloom, shift, symbols[previous], symbol), previous)
    left, place = 0, np.int64(0)
    while place < count:
        symbols[left] = symbols[place]
        left += 1
        place = np.int64(following[place])
    return left


@subroutine
def merge_long(symbols, count, pairs, bloom, shift, results):  # type: ignore[no-untyped-def]
    """Merge ``symbols[:count]`` in place, as `merge_short` does; heap entries are ``rank << 32 | position``."""
    following_array = np.empty(count, np.int64)
    before_array = np.empty(count, np.int64)
    heap_array = np.empty(3 * count + 4, np.uint64)
    following, before, heap = pointer(following_array), pointer(before_array), pointer(heap_array)
    size = 0
    for i in range(count):
        following[i] = i + 1
        before[i] = i - 1
        if i + 1 < count:
            rank = pair_rank(pairs, bloom, shift, symbols[i], symbols[i + 1])
            if rank != NONE:
                heap[size] = (np.uint64(rank) << _HALF) | np.uint64(i)
                size += 1
    heapify(heap, size)
    while size > 0:
        top = pop(heap, size)
        size -= 1
        rank = np.uint32(top >> _HALF)
        i = int(top & _LOW)
        if symbols[i] == NONE:
            continue
        j = following[i]
        if j >= count or pair_rank(pairs, bloom, shift, symbols[i], symbols[j]) != rank:
            continue  # stale: one of the two has merged with another since
        symbols[i] = results[rank]
        symbols[j] = NONE
        after = following[j]
        following[i] = after
        if after < count:
            before[after] = i
            rank = pair_rank(pairs, bloom, shift, symbols[i], symbols[after])
            if rank != NONE:
                size = push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(i))
        previous = before[i]
        if previous >= 0:
            rank = pair_rank(pairs, bloom, shift, symbols[previous], symbols[i])
            if rank != NONE:
                size = push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(previous))
    left, i = 0, 0
    while i < count:
        symbols[left] = symbols[i]
        left += 1
        i = following[i]
    # the arrays are used to the end of the function, so that numba frees them no earlier
    return left + 0 * (len(following_array) + len(before_array) + len(heap_array))
