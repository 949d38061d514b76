"""Which merges come next: each home shows the first pairs of its queue, and all shards choose the same ones.

A *batch* is a run of merges that come next whatever the earlier ones among them change, so that threads meet
twice a batch, not twice a merge. Its pairs have one count and follow one another in the queue, and none begins
with a token that another ends with. Such pairs do not change each other's counts: merging (a, b) takes only
from pairs (x, a) and (b, y). And no pair that one of these merges makes, which is at most as frequent as
(a, b), comes before the next pair of the batch. A new token has the greatest id, so of equally frequent pairs

- (new, y) comes after all others;
- (x, new) comes after all others with x on the left. It is as frequent as (a, b) only if x stands before every
  (a, b): then (x, a) is as frequent too. If x is less than the left token of the next pair, (x, a) precedes
  that pair in the queue, and ends the batch there, since it ends with what (a, b) begins with.

A merge that makes a known token in a second way may make a pair more frequent than any: it ends its batch.
Once a pair was refused, since it spells a special token, (x, a) may be missing in the queue: from then on each
merge is a batch.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Int, Ints, i64_in, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.pairs import count_of, sides
from tokbench_subword.training.queue import (
    before,
    call_waiting,
    drop_top,
    enqueue,
    heap_of,
    queue_again,
    room_to_queue,
)
from tokbench_subword.training.spelling import NOT_A_TOKEN, enter_token

MOST_SHOWN = 32
"""The most pairs that a home shows."""
MOST_TOGETHER = 64
"""The most merges in a batch."""
# `FRONT`: how many pairs are shown; whether pairs not shown are as frequent as the first; and an entry of each
# shown pair, in the order of the queue: count, key and extra as queued, and the true count.
N_SHOWN, MORE, ENTRIES = range(3)
ENTRY = 4
NOBODY = np.int64(-1)


@inline
def show_front(team: Block, home: Block) -> Int:
    """Move the first pairs of a home's queue to its front; returns `DONE`, or what needs more room.

    Pairs that were shown before and not taken stay, if they are as frequent as they were. A pair whose count
    has risen without a new entry (rule `hf`: see `ties`) is shown where it stood: when its turn has come it
    goes back to the queue with its true count.
    """
    state, sizes, front = i64_in(home, at.STATE), i64_in(home, at.SIZES), i64_in(home, at.FRONT)
    counts, keys, extras = heap_of(home)
    pairs, mask = i64_in(home, at.PAIRS), sizes[at.PAIRS] // 4 - 1
    heads = i64_in(u64_in(team, state[at.SHARD]), at.HEADS)
    n_taken, n_shown = heads[state[at.SHARD]], np.int64(0)
    state[at.N_TOUCHED] = MOST_SHOWN + 1
    reason = room_to_queue(state, sizes)
    if reason != at.DONE:
        return reason
    for index in range(front[N_SHOWN]):
        count, key, extra, true = _entry(front, index)
        if index >= n_taken:
            true = count_of(pairs, mask, key)
        if index >= n_taken and true >= count:
            _put(front, n_shown, count, key, extra, true)
            n_shown += 1
        elif (index >= n_taken and true > 0) or true > count:
            enqueue(home, true, key, extra)
    heads[state[at.SHARD]] = 0  # or, called again after `HEAP_FULL`, it would take what is shown now for taken
    while True:
        front[N_SHOWN] = n_shown
        if not call_waiting(home):
            return at.HEAP_FULL
        count, key, extra = counts[0], keys[0], extras[0]
        if state[at.HEAP_SIZE] == 0 or (n_shown > 0 and count < front[ENTRIES]):
            front[MORE] = 0
            return at.DONE
        if n_shown == MOST_SHOWN and not _before_shown(home, front, n_shown - 1, count, key, extra):
            front[MORE] = 1
            return at.DONE
        true = count_of(pairs, mask, key)
        if true < count:
            queue_again(home, true, key, extra)
            continue
        drop_top(home)
        if n_shown == MOST_SHOWN:
            n_shown -= 1
            last = _entry(front, n_shown)
            enqueue(home, last[0], last[1], last[2])
        place = n_shown
        while place > 0 and _before_shown(home, front, place - 1, count, key, extra):
            _put(front, place, *_entry(front, place - 1))
            place -= 1
        _put(front, place, count, key, extra, true)
        n_shown += 1


@inline
def _entry(front: Ints, index: Int) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """An entry of a front: count, key, extra, true count."""
    place = ENTRIES + ENTRY * index
    return front[place], front[place + 1], front[place + 2], front[place + 3]


@inline
def _put(front: Ints, index: Int, count: Int, key: Int, extra: Int, true: Int) -> None:
    """Set an entry of a front."""
    place = ENTRIES + ENTRY * index
    front[place], front[place + 1], front[place + 2], front[place + 3] = count, key, extra, true


@inline
def _before_shown(block: Block, front: Ints, index: Int, count: Int, key: Int, extra: Int) -> bool | np.bool_:
    """Whether an entry of the queue comes before one of a front."""
    shown = _entry(front, index)
    return before(block, i64_in(block, at.STATE)[at.RULE], count, key, extra, shown[0], shown[1], shown[2])


@inline
def _first_shown(team: Block, block: Block, most: Int) -> np.int64:
    """The shard whose home shows the next pair; `NOBODY`, if none does or another pair may come sooner."""
    heads, n_shards, first = i64_in(block, at.HEADS), i64_in(block, at.STATE)[at.N_SHARDS], NOBODY
    best = (NOBODY, NOBODY, NOBODY, NOBODY)
    for shard in range(n_shards):
        front = i64_in(u64_in(team, n_shards + shard), at.FRONT)
        if heads[shard] == front[N_SHOWN]:
            if front[N_SHOWN] > 0 and front[MORE] == 1 and front[ENTRIES] == most:
                return NOBODY
            continue
        shown = _entry(front, heads[shard])
        if first < 0 or not _before_shown(block, front, heads[shard], best[0], best[1], best[2]):
            first, best = np.int64(shard), shown
    return first


@inline
def choose_batch(team: Block, block: Block) -> Int:
    """Write the next merges to `BATCH`; -1 of them if there are none. Returns `DONE`, or what needs more room.

    Each shard does so for itself, from what all homes show, with the same result.
    """
    state, sizes, batch = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.BATCH)
    heads, n_shards = i64_in(block, at.HEADS), state[at.N_SHARDS]
    if state[at.N_MERGES] + MOST_TOGETHER > sizes[at.MERGES] // 3:
        return at.MERGES_FULL
    for each in range(n_shards):
        heads[each] = 0
    n_batch, n_taken, most, last = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    while n_batch < MOST_TOGETHER and state[at.N_TOKENS] < state[at.N_WANTED]:
        shard = _first_shown(team, block, most)
        if shard < 0:
            break
        count, key, extra, true = _entry(i64_in(u64_in(team, n_shards + shard), at.FRONT), heads[shard])
        left, right = sides(key)
        if n_taken == 0:
            if count < state[at.MINIMUM]:
                break
            most = count
        elif count != most or key == last or true > count or _touched(batch, n_batch, left, right):
            break
        heads[shard] += 1
        n_taken += 1
        if true > count:
            break
        n_tokens = state[at.N_TOKENS]
        new = enter_token(block, left, right)
        if new == NOT_A_TOKEN:
            state[at.ALONE] = 1
            if n_batch > 0:
                break
            continue
        entry = at.B_SIZE * n_batch
        batch[entry + at.B_LEFT], batch[entry + at.B_RIGHT] = left, right
        batch[entry + at.B_NEW], batch[entry + at.B_EXTRA] = new, extra
        n_batch, last = n_batch + 1, key
        if new < n_tokens or state[at.ALONE] == 1:
            break
    state[at.N_BATCH], state[at.AT_MERGE] = n_batch if n_taken > 0 else np.int64(-1), 0
    return at.DONE


@inline
def _touched(batch: Ints, n_batch: Int, left: Int, right: Int) -> bool:
    """Whether a merge of a batch begins with what a pair ends with, or ends with what it begins with."""
    for entry in range(0, at.B_SIZE * n_batch, at.B_SIZE):
        if batch[entry + at.B_LEFT] == right or batch[entry + at.B_RIGHT] == left:
            return True
    return False
