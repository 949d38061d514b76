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
from tokbench_subword.training.homes import first_run_of
from tokbench_subword.training.layout import (
    ALONE,
    AT_MERGE,
    B_EXTRA,
    B_LEFT,
    B_NEW,
    B_RIGHT,
    B_ROW,
    B_RUN,
    B_SIZE,
    BATCH,
    BATCH_NUMBER,
    COUNT,
    DONE,
    FIRST_RUNS,
    FRONT,
    HEADS,
    HEAP_COUNTS,
    HEAP_EXTRAS,
    HEAP_FULL,
    HEAP_KEYS,
    HEAP_SIZE,
    IN_BATCH,
    MERGES,
    MERGES_FULL,
    MINIMUM,
    MOST_WAITING,
    N_BATCH,
    N_MERGES,
    N_SHARDS,
    N_TOKENS,
    N_TOUCHED,
    N_WANTED,
    PAIRS,
    RULE,
    SHARD,
    SHOWN_RUNS,
    SIZES,
    STATE,
    WAITING,
    WAITING_FULL,
    WAITING_USED,
)
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
    if reason == DONE:
        front, shown, n_shards = i64_in(block, FRONT), i64_in(block, SHOWN_RUNS), i64_in(block, STATE)[N_SHARDS]
        first_runs = i32_in(block, FIRST_RUNS)
        for index in range(front[N_SHOWN]):
            slot = first_run_of(front[_entry(index) + 3], n_shards, 0)
            for shard in range(n_shards):
                shown[index * n_shards + shard] = np.int64(first_runs[slot + shard])
    return reason


@inline
def _bring_up_to_date(block):  # type: ignore[no-untyped-def]
    """`show_front`, less the runs."""
    state, sizes, front = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, FRONT)
    counts, keys, extras = i64_in(block, HEAP_COUNTS), i64_in(block, HEAP_KEYS), i64_in(block, HEAP_EXTRAS)
    pairs, mask, rule = i64_in(block, PAIRS), sizes[PAIRS] // 4 - 1, state[RULE]
    state[N_TOUCHED] = MOST_SHOWN + 1
    if state[HEAP_SIZE] + state[N_TOUCHED] > sizes[HEAP_KEYS]:
        return HEAP_FULL
    if state[WAITING_USED] + 4 * (state[N_TOUCHED] + state[HEAP_SIZE]) > sizes[WAITING]:
        return WAITING_FULL
    heads = i64_in(block, HEADS)
    n_shown = np.int64(0)
    for index in range(heads[state[SHARD]], front[N_SHOWN]):
        at = _entry(index)
        count, key, extra = front[at], front[at + 1], front[at + 2]
        if extra < 0:
            extra = ~extra
        row = find_pair(pairs, mask, key)
        true = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
        if true >= count:
            _put(front, n_shown, count, key, extra if true == count else ~extra, row)
            n_shown += 1
        elif true > 0:
            enqueue(block, true, key, extra)
    heads[state[SHARD]] = 0
    front[N_SHOWN] = n_shown
    while True:
        most = front[ENTRIES]
        if n_shown > 0 and state[MOST_WAITING] < level_of(most) and (state[HEAP_SIZE] == 0 or counts[0] < most):
            front[MORE] = 0
            return DONE
        if not call_waiting(block):
            return HEAP_FULL
        if state[HEAP_SIZE] == 0:
            front[MORE] = 0
            return DONE
        count, key, extra = counts[0], keys[0], extras[0]
        if n_shown == MOST_SHOWN and not _before(front, n_shown - 1, block, rule, count, key, extra):
            front[MORE] = 1
            return DONE
        row = find_pair(pairs, mask, key)
        true = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
        if true < count:
            if true > 0:
                queue_again(block, true, key, extra)
            else:
                drop_top(block)
            continue
        if n_shown > 0 and count < most:
            front[MORE] = 0
            return DONE
        drop_top(block)
        place = n_shown
        while place > 0 and _before(front, place - 1, block, rule, count, key, extra):
            at = _entry(place - 1)
            _put(front, place, front[at], front[at + 1], front[at + 2], front[at + 3])
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
    at = _entry(index)
    front[at], front[at + 1], front[at + 2], front[at + 3] = count, key, extra, row


@inline
def _before(front, index, block, rule, count, key, extra):  # type: ignore[no-untyped-def]
    """Whether an entry comes before the one at `index` of a front."""
    at = _entry(index)
    other = front[at + 2]
    if other < 0:
        other = ~other
    return before(block, rule, count, key, extra, front[at], front[at + 1], other)


@inline
def _first_shown(team, block, n_shards, most):  # type: ignore[no-untyped-def]
    """Which shard shows the pair that comes next, or `NOTHING` if none does, or another may come sooner."""
    heads, rule = i64_in(block, HEADS), i64_in(block, STATE)[RULE]
    first = NOTHING
    for shard in range(n_shards):
        front = i64_in(u64_in(team, shard), FRONT)
        if heads[shard] == front[N_SHOWN]:
            if front[N_SHOWN] > 0 and front[MORE] == 1 and front[ENTRIES] == most:
                return NOTHING
        elif first < 0:
            first = shard
        else:
            best, at = i64_in(u64_in(team, first), FRONT), _entry(heads[first])
            extra = best[at + 2]
            if extra < 0:
                extra = ~extra
            if not _before(front, heads[shard], block, rule, best[at], best[at + 1], extra):
                first = shard
    return first


@inline
def choose_batch(team, block):  # type: ignore[no-untyped-def]
    """Write the next merges to `BATCH`; returns -1, or what to stop for.

    Each shard does so for itself, from what all show, with the same result.
    """
    state, sizes, batch = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, BATCH)
    heads, marks, n_shards = i64_in(block, HEADS), i64_in(block, IN_BATCH), state[N_SHARDS]
    if state[N_MERGES] + MOST_TOGETHER > sizes[MERGES] // 3:
        return MERGES_FULL
    for shard in range(n_shards):
        heads[shard] = 0
    state[BATCH_NUMBER] += 1
    number, n_taken, n_batch = state[BATCH_NUMBER], np.int64(0), np.int64(0)
    most, last = np.int64(0), np.int64(-1)
    while n_batch < MOST_TOGETHER and state[N_TOKENS] < state[N_WANTED]:
        shard = _first_shown(team, block, n_shards, most)
        if shard < 0:
            break
        peer, index = u64_in(team, shard), heads[shard]
        front, at = i64_in(peer, FRONT), _entry(index)
        count, key, extra = front[at], front[at + 1], front[at + 2]
        left, right = sides(key)
        if n_taken == 0:
            most = count
            if count < state[MINIMUM]:
                break
        elif count != most or key == last or marks[2 * right] == number or marks[2 * left + 1] == number:
            break
        if extra < 0:
            if n_taken == 0:
                n_taken += 1
                heads[shard] += 1
                if shard == state[SHARD]:
                    _queue_risen(block, key, ~extra)
            break
        n_taken += 1
        heads[shard] += 1
        n_tokens = state[N_TOKENS]
        new = enter_token(block, left, right)
        if new == NOT_A_TOKEN:
            state[ALONE] = 1
            if n_batch > 0:
                break
            continue
        entry = B_SIZE * n_batch
        batch[entry + B_LEFT], batch[entry + B_RIGHT], batch[entry + B_NEW] = left, right, new
        batch[entry + B_EXTRA], batch[entry + B_ROW] = extra, front[at + 3]
        batch[entry + B_RUN] = i64_in(peer, SHOWN_RUNS)[index * n_shards + state[SHARD]]
        n_batch += 1
        marks[2 * left], marks[2 * right + 1], last = number, number, key
        if new < n_tokens or state[ALONE] == 1:
            break
    if n_taken == 0:
        return DONE
    state[N_BATCH], state[AT_MERGE] = n_batch, 0
    return -1


@inline
def _queue_risen(block, key, extra):  # type: ignore[no-untyped-def]
    """Put a pair back in the queue with its true count; `show_front` has seen to the room."""
    pairs, sizes = i64_in(block, PAIRS), i64_in(block, SIZES)
    row = find_pair(pairs, sizes[PAIRS] // 4 - 1, key)
    enqueue(block, pairs[row + COUNT], key, extra)
