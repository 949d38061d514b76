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
from tokbench_subword.kernels.pointers import pointer

SHORT = 128
"""Up to so many symbols, `merge_short` is the faster one."""
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@subroutine
def merge_short(symbols, ranks, count, pairs, bloom, shift, results):  # type: ignore[no-untyped-def]
    """Merge ``symbols[:count]`` in place; return how many are left.

    ``ranks[i]`` must hold the rank of merging symbols i and i + 1; ``results[rank]`` is the id a merge gives.
    """
    while count > 1:
        best = NONE
        for i in range(count - 1):
            best = min(best, ranks[i])
        if best == NONE:
            break
        at = 0
        while ranks[at] != best:
            at += 1
        symbols[at] = results[best]
        for i in range(at + 1, count - 1):
            symbols[i] = symbols[i + 1]
        for i in range(at, count - 2):
            ranks[i] = ranks[i + 1]
        count -= 1
        if at + 1 < count:
            ranks[at] = pair_rank(pairs, bloom, shift, symbols[at], symbols[at + 1])
        if at > 0:
            ranks[at - 1] = pair_rank(pairs, bloom, shift, symbols[at - 1], symbols[at])
    return count


@inline
def _sink(heap, size, at):  # type: ignore[no-untyped-def]
    """Move the entry `at` down to where the heap property holds."""
    value = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inline
def _push(heap, size, value):  # type: ignore[no-untyped-def]
    """Add an entry; the heap then has ``size + 1``."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value


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
    for i in range(size // 2 - 1, -1, -1):
        _sink(heap, size, i)
    while size > 0:
        top = heap[0]
        size -= 1
        heap[0] = heap[size]
        if size > 0:
            _sink(heap, size, 0)
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
                _push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(i))
                size += 1
        previous = before[i]
        if previous >= 0:
            rank = pair_rank(pairs, bloom, shift, symbols[previous], symbols[i])
            if rank != NONE:
                _push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(previous))
                size += 1
    left, i = 0, 0
    while i < count:
        symbols[left] = symbols[i]
        left += 1
        i = following[i]
    # the arrays are used to the end of the function, so that numba frees them no earlier
    return left + 0 * (len(following_array) + len(before_array) + len(heap_array))
