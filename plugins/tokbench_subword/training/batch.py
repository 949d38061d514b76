"""Which merges come next: each shard shows the first pairs it is home of, and all choose the same ones of them.

A *batch* is as many merges as come one after another whatever the first of them do, so that shards need to meet
twice for each batch, not for each merge. It is pairs of one count that stand one after another in the queue, of
which none begins with what another ends with. Such pairs do not touch each other's counts: merging (a, b)
takes from pairs (x, a) and (b, y) alone. And no pair that one of them makes, at most as frequent, comes before
the next ones: a new token has the greatest id, so

- (new, y) comes after all pairs of that count there are;
- (x, new) comes after all others with x. It is as frequent as (a, b) only if x stands before each of
  them, so (x, a) is as frequent, and is in the queue before the next pair if x is less than what that
  begins with. There (x, a) ends the batch, since it ends with what (a, b) begins with.

A merge that builds a known token in a second way may make a pair more frequent than any: it ends its batch.
Once a pair was refused, since it spells a special token, (x, a) may be missing in the queue: from then on each
merge is a batch.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import i32_in, i64_in, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.homes import first_run_of
from tokbench_subword.training.pairs import find_pair, sides
from tokbench_subword.training.queue import before, call_waiting, drop_top, enqueue, level_of, queue_again
from tokbench_subword.training.spelling import NOT_A_TOKEN, enter_token

MOST_SHOWN = 32
"""Pairs that a shard shows."""
MOST_TOGETHER = 64
"""Merges of a batch."""
# `FRONT`: how many pairs, whether others may follow that are as frequent as the first, and an entry of each, in
# the order of the queue: count, key, extra, row. `SHOWN_RUNS`: of each its first runs in all shards.
N_SHOWN, MORE, ENTRIES = range(3)
ENTRY = 4
NOTHING = -1


@inline
def show_front(block):  # type: ignore[no-untyped-def]
    """Bring the front of a shard up to date; returns `DONE`, or what needs more room.

    A pair whose count has risen without a new entry (rule `hf`: see `ties`) is shown where it stood, and its
    `extra` inverted: when its turn has come it goes back to the queue with its true count.
    """
    reason = _bring_up_to_date(block)
    if reason == at.DONE:
        front, shown = i64_in(block, at.FRONT), i64_in(block, at.SHOWN_RUNS)
        first_runs, n_shards = i32_in(block, at.FIRST_RUNS), i64_in(block, at.STATE)[at.N_SHARDS]
        for index in range(front[N_SHOWN]):
            slot = first_run_of(front[_entry(index) + 3], n_shards, 0)
            for shard in range(n_shards):
                shown[index * n_shards + shard] = np.int64(first_runs[slot + shard])
    return reason


@inline
def _bring_up_to_date(block):  # type: ignore[no-untyped-def]
    """`show_front`, less the runs."""
    state, sizes, front = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.FRONT)
    counts, keys = i64_in(block, at.HEAP_COUNTS), i64_in(block, at.HEAP_KEYS)
    extras = i64_in(block, at.HEAP_EXTRAS)
    pairs, mask, rule = i64_in(block, at.PAIRS), sizes[at.PAIRS] // 4 - 1, state[at.RULE]
    state[at.N_TOUCHED] = MOST_SHOWN + 1
    if state[at.HEAP_SIZE] + state[at.N_TOUCHED] > sizes[at.HEAP_KEYS]:
        return at.HEAP_FULL
    if state[at.WAITING_USED] + 4 * (state[at.N_TOUCHED] + state[at.HEAP_SIZE]) > sizes[at.WAITING]:
        return at.WAITING_FULL
    heads = i64_in(block, at.HEADS)
    n_shown = np.int64(0)
    for index in range(heads[state[at.SHARD]], front[N_SHOWN]):
        offset = _entry(index)
        count, key, extra = front[offset], front[offset + 1], front[offset + 2]
        if extra < 0:
            extra = ~extra
        row = find_pair(pairs, mask, key)
        true = pairs[row + at.COUNT] if pairs[row] == key else np.int64(0)
        if true >= count:
            _put(front, n_shown, count, key, extra if true == count else ~extra, row)
            n_shown += 1
        elif true > 0:
            enqueue(block, true, key, extra)
    heads[state[at.SHARD]] = 0
    front[N_SHOWN] = n_shown
    while True:
        most = front[ENTRIES]
        queued = state[at.HEAP_SIZE] > 0 and counts[0] >= most
        if n_shown > 0 and state[at.MOST_WAITING] < level_of(most) and not queued:
            front[MORE] = 0
            return at.DONE
        if not call_waiting(block):
            return at.HEAP_FULL
        if state[at.HEAP_SIZE] == 0:
            front[MORE] = 0
            return at.DONE
        count, key, extra = counts[0], keys[0], extras[0]
        if n_shown == MOST_SHOWN and not _before(front, n_shown - 1, block, rule, count, key, extra):
            front[MORE] = 1
            return at.DONE
        row = find_pair(pairs, mask, key)
        true = pairs[row + at.COUNT] if pairs[row] == key else np.int64(0)
        if true < count:
            if true > 0:
                queue_again(block, true, key, extra)
            else:
                drop_top(block)
            continue
        if n_shown > 0 and count < most:
            front[MORE] = 0
            return at.DONE
        drop_top(block)
        place = n_shown
        while place > 0 and _before(front, place - 1, block, rule, count, key, extra):
            offset = _entry(place - 1)
            _put(front, place, front[offset], front[offset + 1], front[offset + 2], front[offset + 3])
            place -= 1
        _put(front, place, count, key, extra if true == count else ~extra, row)
        if n_shown < MOST_SHOWN:
            n_shown += 1
        else:
            last = _entry(n_shown)
            extra = front[last + 2]
            enqueue(block, front[last], front[last + 1], extra if extra >= 0 else ~extra)
        front[N_SHOWN] = n_shown


@inline
def _entry(index):  # type: ignore[no-untyped-def]
    """Where an entry of a front begins."""
    return ENTRIES + ENTRY * index


@inline
def _put(front, index, count, key, extra, row):  # type: ignore[no-untyped-def]
    """Set an entry of a front."""
    offset = _entry(index)
    front[offset], front[offset + 1], front[offset + 2], front[offset + 3] = count, key, extra, row


@inline
def _before(front, index, block, rule, count, key, extra):  # type: ignore[no-untyped-def]
    """Whether an entry comes before the one at `index` of a front."""
    offset = _entry(index)
    other = front[offset + 2]
    if other < 0:
        other = ~other
    return before(block, rule, count, key, extra, front[offset], front[offset + 1], other)


@inline
def _first_shown(team, block, n_shards, most):  # type: ignore[no-untyped-def]
    """Which shard shows the pair that comes next, or `NOTHING` if none does, or another may come sooner."""
    heads, rule = i64_in(block, at.HEADS), i64_in(block, at.STATE)[at.RULE]
    first = NOTHING
    for shard in range(n_shards):
        front = i64_in(u64_in(team, shard), at.FRONT)
        if heads[shard] == front[N_SHOWN]:
            if front[N_SHOWN] > 0 and front[MORE] == 1 and front[ENTRIES] == most:
                return NOTHING
        elif first < 0:
            first = shard
        else:
            best, offset = i64_in(u64_in(team, first), at.FRONT), _entry(heads[first])
            extra = best[offset + 2]
            if extra < 0:
                extra = ~extra
            if not _before(front, heads[shard], block, rule, best[offset], best[offset + 1], extra):
                first = shard
    return first


@inline
def choose_batch(team, block):  # type: ignore[no-untyped-def]
    """Write the next merges to `BATCH`; returns -1, or what to stop for.

    Each shard does so for itself, from what all show, with the same result.
    """
    state, sizes, batch = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.BATCH)
    heads, marks, n_shards = i64_in(block, at.HEADS), i64_in(block, at.IN_BATCH), state[at.N_SHARDS]
    if state[at.N_MERGES] + MOST_TOGETHER > sizes[at.MERGES] // 3:
        return at.MERGES_FULL
    for shard in range(n_shards):
        heads[shard] = 0
    state[at.BATCH_NUMBER] += 1
    number, n_taken, n_batch = state[at.BATCH_NUMBER], np.int64(0), np.int64(0)
    most, last = np.int64(0), np.int64(-1)
    while n_batch < MOST_TOGETHER and state[at.N_TOKENS] < state[at.N_WANTED]:
        shard = _first_shown(team, block, n_shards, most)
        if shard < 0:
            break
        peer, index = u64_in(team, shard), heads[shard]
        front, offset = i64_in(peer, at.FRONT), _entry(index)
        count, key, extra = front[offset], front[offset + 1], front[offset + 2]
        left, right = sides(key)
        if n_taken == 0:
            most = count
            if count < state[at.MINIMUM]:
                break
        elif count != most or key == last or marks[2 * right] == number or marks[2 * left + 1] == number:
            break
        if extra < 0:
            if n_taken == 0:
                n_taken += 1
                heads[shard] += 1
                if shard == state[at.SHARD]:
                    _queue_risen(block, key, ~extra)
            break
        n_taken += 1
        heads[shard] += 1
        n_tokens = state[at.N_TOKENS]
        new = enter_token(block, left, right)
        if new == NOT_A_TOKEN:
            state[at.ALONE] = 1
            if n_batch > 0:
                break
            continue
        entry = at.B_SIZE * n_batch
        batch[entry + at.B_LEFT], batch[entry + at.B_RIGHT], batch[entry + at.B_NEW] = left, right, new
        batch[entry + at.B_EXTRA], batch[entry + at.B_ROW] = extra, front[offset + 3]
        batch[entry + at.B_RUN] = i64_in(peer, at.SHOWN_RUNS)[index * n_shards + state[at.SHARD]]
        n_batch += 1
        marks[2 * left], marks[2 * right + 1], last = number, number, key
        if new < n_tokens or state[at.ALONE] == 1:
            break
    if n_taken == 0:
        return at.DONE
    state[at.N_BATCH], state[at.AT_MERGE] = n_batch, 0
    return -1


@inline
def _queue_risen(block, key, extra):  # type: ignore[no-untyped-def]
    """Put a pair back in the queue with its true count; `show_front` has seen to the room."""
    pairs, sizes = i64_in(block, at.PAIRS), i64_in(block, at.SIZES)
    row = find_pair(pairs, sizes[at.PAIRS] // 4 - 1, key)
    enqueue(block, pairs[row + at.COUNT], key, extra)
