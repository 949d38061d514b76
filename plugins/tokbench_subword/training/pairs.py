"""The trainers' pairs: a hash table with their counts, and the runs of their positions (see `layout`).

The inline functions take pointers (see `kernels.pointers`); their callers must check that there is room.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.heap import heapify, pop
from tokbench.kernels.pointers import Block, Ids, Int, Ints, i32_in, i64_in, pointer, prefetch
from tokbench_subword.training import layout as at
from tokbench_subword.training.cells import stands_at
from tokbench_subword.training.ties import HF

RUN_HEAD = 3
"""The number of entries in a run before its positions."""

_HIGH = np.uint64(32)
_LOW_32 = np.int64(0xFFFFFFFF)


@inline
def pair_key(left: Int, right: Int) -> np.int64:
    """Two symbols as one int64, in the same order as the pairs."""
    return (np.int64(left) << 32) | np.int64(right)


@inline
def sides(key: Int) -> tuple[np.int64, np.int64]:
    """The two symbols of a key."""
    return np.int64(key) >> 32, np.int64(key) & _LOW_32


@inline
def _home(mask: Int, key: Int) -> np.int64:
    """The row at which the search for a key starts."""
    return np.int64(spread(np.uint64(key)) >> _HIGH) & mask


@inline
def prefetch_pair(pairs: Ints, mask: Int, key: Int) -> None:
    """Prefetch the row of a pair that will be looked up soon."""
    prefetch(pairs, 4 * _home(mask, key))


@inline
def find_pair(pairs: Ints, mask: Int, key: Int) -> np.int64:
    """The index in `pairs` of the row of `key`, or of the free row where it belongs."""
    place = _home(mask, key)
    while True:
        found = pairs[4 * place]
        if found == key or found < 0:
            return 4 * place
        place = (place + 1) & mask


@inline
def count_of(pairs: Ints, mask: Int, key: Int) -> np.int64:
    """The count of a pair; 0 if it is not in the table."""
    row = find_pair(pairs, mask, key)
    return pairs[row + at.COUNT] if pairs[row] == key else np.int64(0)


@inline
def find_or_add_pair(pairs: Ints, mask: Int, key: Int, state: Ints) -> np.int64:
    """The index of the row of `key`, which is added if it is missing."""
    row = find_pair(pairs, mask, key)
    if pairs[row] != key:
        pairs[row] = key
        pairs[row + at.COUNT] = 0
        pairs[row + at.RUN] = -1
        pairs[row + at.STAMP] = -1
        state[at.N_PAIRS] += 1
    return row


@inline
def new_run(pairs: Ints, row: Int, runs: Ids, state: Ints, size: Int) -> np.int64:
    """Add a first run to a pair, for `size` positions made by the current merge; return its index."""
    start = state[at.RUNS_USED]
    runs[start], runs[start + 1] = np.int32(pairs[row + at.RUN]), np.int32(size)
    runs[start + 2] = np.int32(state[at.N_MERGES])
    state[at.RUNS_USED], pairs[row + at.RUN] = start + RUN_HEAD + size, start
    return start


@inline
def take_runs(pairs: Ints, row: Int) -> np.int64:
    """Remove the runs of a pair, and return the first one, or -1."""
    run = pairs[row + at.RUN]
    pairs[row + at.RUN] = -1
    return run


@inline
def first_standing(cells: Ids, runs: Ids, run: Int, left: Int, right: Int) -> np.int64:
    """The lowest position in a list of runs at which the pair still occurs, or -1."""
    lowest = np.int64(-1)
    while run >= 0:
        for index in range(np.int64(runs[run + 1])):
            position = np.int64(runs[run + RUN_HEAD + index])
            if lowest >= 0 and position >= lowest:
                break
            if stands_at(cells, position, left, right):
                lowest = position
                break
        run = np.int64(runs[run])
    return lowest


@inline
def gather_runs(runs: Ids, run: Int, positions: Ids, room: Int) -> np.int64:
    """Copy a list of runs to `positions`, ascending; return how many, or -1 if they exceed `room`."""
    count = np.int64(0)
    while run >= 0:
        size = np.int64(runs[run + 1])
        if count + size > room:
            return np.int64(-1)
        for index in range(size):
            positions[count + index] = -runs[run + RUN_HEAD + index]
        count += size
        run = np.int64(runs[run])
    heapify(positions, count)  # negated, so that the highest position is popped first
    for left in range(count, 0, -1):
        positions[left - 1] = -pop(positions, left)
    return count


@inline
def _alive(pairs: Ints, place: Int) -> bool:
    """Whether a row has a pair with a count other than 0."""
    return pairs[place] >= 0 and pairs[place + at.COUNT] != 0


@kernel
def alive_pairs(pairs_: Ints) -> int:
    """The number of pairs with a count other than 0."""
    number, pairs = 0, pointer(pairs_)
    for place in range(0, len(pairs_), 4):
        number += _alive(pairs, place)
    return number


@kernel
def rehash(pairs: Ints, larger: Ints, state: Ints) -> None:
    """Copy the pairs to the empty table `larger`, except those with the count 0."""
    old, new = pointer(pairs), pointer(larger)
    mask = np.int64(len(larger) // 4 - 1)
    moved = np.int64(0)
    for place in range(0, len(pairs), 4):
        if _alive(old, place):
            row = find_pair(new, mask, old[place])
            for field in range(4):
                new[row + field] = old[place + field]
            moved += 1
    state[at.N_PAIRS] = moved


@inline
def moved_runs(
    cells: Ids, runs: Ids, run: np.int64, key: Int, target: Ids, used: np.int64
) -> tuple[np.int64, np.int64]:
    """Copy a list of runs without outdated positions to `target`; return the new first run and the new end."""
    left, right = sides(key)
    first = np.int64(-1)
    before = np.int64(-1)
    while run >= 0:
        end = used + RUN_HEAD
        for index in range(np.int64(runs[run + 1])):
            position = np.int64(runs[run + RUN_HEAD + index])
            if stands_at(cells, position, left, right):
                target[end] = np.int32(position)
                end += 1
        if end > used + RUN_HEAD:
            target[used] = -1
            target[used + 1], target[used + 2] = np.int32(end - used - RUN_HEAD), runs[run + 2]
            if before < 0:
                first = used
            else:
                target[before] = np.int32(used)
            before, used = used, end
        run = np.int64(runs[run])
    return first, used


@kernel
def compact_runs(block: Block, target_: Ids) -> None:
    """Copy all runs to `target_` (int32, at least as long) without outdated positions.

    Runs belong to pairs or, with the rule `hf`, to entries of the queue.
    """
    cells, runs, target = i32_in(block, at.CELLS), i32_in(block, at.RUNS), pointer(target_)
    pairs, state, sizes = i64_in(block, at.PAIRS), i64_in(block, at.STATE), i64_in(block, at.SIZES)
    keys, extras = i64_in(block, at.HEAP_KEYS), i64_in(block, at.HEAP_EXTRAS)
    waiting, used = i64_in(block, at.WAITING), np.int64(0)
    for row in range(0, sizes[at.PAIRS], 4):
        if pairs[row] >= 0 and pairs[row + at.RUN] >= 0:
            first, used = moved_runs(cells, runs, pairs[row + at.RUN], pairs[row], target, used)
            pairs[row + at.RUN] = first
    if state[at.RULE] == HF:
        for entry in range(state[at.HEAP_SIZE]):
            first, used = moved_runs(cells, runs, extras[entry], keys[entry], target, used)
            extras[entry] = first
        for entry in range(0, state[at.WAITING_USED], 4):
            first, used = moved_runs(cells, runs, waiting[entry + 2], waiting[entry + 1], target, used)
            waiting[entry + 2] = first
    state[at.RUNS_USED] = used
