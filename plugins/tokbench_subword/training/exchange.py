"""Training in shards: the messages by which shards tell the homes of pairs how counts change.

A *shard* is the words of one thread, with the pairs in them and where those stand, as in a training in one
thread. How often a pair stands in the words of all shards is known at its *home*. There are as many homes as
shards, each with a table and a queue of its own; a hash of the pair says which is its home. So a shard that
merges posts messages (a pair, and by how much its count changes), and after a barrier each home takes the
messages that all shards have for it.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Int, Ints, i32_in, i64_in, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.pairs import find_or_add_pair, find_pair, home_of, pair_key, prefetch_pair
from tokbench_subword.training.queue import enqueue, room_to_queue
from tokbench_subword.training.rewrite import AFTER, BEFORE, pairs_beside
from tokbench_subword.training.ties import HF

MESSAGE = 2
"""Numbers of a message: a pair's key, and by how much its count changes."""


@inline
def _post(outbox: Ints, ends: Ints, n_shards: Int, merge: Int, key: Int, change: Int) -> None:
    """Write a message to the home of a pair, about merge number `merge` of the batch; there must be room."""
    slot = (merge + 1) * n_shards + home_of(key, n_shards)
    end = ends[slot]
    outbox[end], outbox[end + 1] = key, change
    ends[slot] = end + MESSAGE


@kernel
def post_first_pairs(block: Block) -> None:
    """Post the pairs that a shard begins with, as if a batch of one merge had made them."""
    pairs, state, sizes = i64_in(block, at.PAIRS), i64_in(block, at.STATE), i64_in(block, at.SIZES)
    outbox, ends, n_shards = i64_in(block, at.OUTBOX), i64_in(block, at.OUTBOX_ENDS), state[at.N_SHARDS]
    for home in range(n_shards):
        ends[home] = ends[n_shards + home] = home * (sizes[at.OUTBOX] // n_shards)
    for row in range(0, sizes[at.PAIRS], 4):
        if pairs[row] >= 0:
            _post(outbox, ends, n_shards, 0, pairs[row], pairs[row + at.COUNT])
    state[at.N_BATCH] = 1


@inline
def post_changes(block: Block, merge: Int) -> Int:
    """Post what `rewrite` has changed for merge number `merge` of the batch; `DONE`, or `OUTBOX_FULL`."""
    state, sizes, lengths = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.LENGTHS)
    outbox, ends, n_shards = i64_in(block, at.OUTBOX), i64_in(block, at.OUTBOX_ENDS), state[at.N_SHARDS]
    tallies, met, n_symbols = i64_in(block, at.TALLIES), i32_in(block, at.MET), sizes[at.LENGTHS]
    left, right, new = state[at.LEFT], state[at.RIGHT], state[at.NEW]
    needed = MESSAGE * (1 + 2 * (state[at.N_MET + BEFORE] + state[at.N_MET + AFTER]))
    room = sizes[at.OUTBOX] // n_shards
    for home in range(n_shards):
        end = ends[merge * n_shards + home]
        if end + needed > (home + 1) * room:
            return at.OUTBOX_FULL
        ends[(merge + 1) * n_shards + home] = end
    if state[at.RULE] != HF:
        _post(outbox, ends, n_shards, merge, pair_key(left, right), -state[at.OWN])
    for side in (AFTER, BEFORE):  # in the order of `apply`
        first_met = n_symbols * side
        for index in range(first_met, first_met + state[at.N_MET + side]):
            symbol = np.int64(met[index])
            weight = tallies[2 * (n_symbols * side + symbol)]
            old, gained = pairs_beside(side, symbol, left, right, new)
            _post(outbox, ends, n_shards, merge, old, -weight)
            if lengths[symbol] + lengths[new] < state[at.LONGEST]:
                _post(outbox, ends, n_shards, merge, gained, weight)
    return at.DONE


@inline
def take_messages(team: Block, home: Block) -> Int:
    """Change the counts of the pairs at a home as all shards say, and queue those that gained, merge by merge.

    Returns `DONE`, or what needs more room.
    """
    state, sizes, touched = i64_in(home, at.STATE), i64_in(home, at.SIZES), i64_in(home, at.TOUCHED)
    pairs, mask = i64_in(home, at.PAIRS), sizes[at.PAIRS] // 4 - 1
    n_shards, me = state[at.N_SHARDS], state[at.SHARD]
    n_batch = i64_in(u64_in(team, me), at.STATE)[at.N_BATCH]
    incoming = np.int64(0)
    for shard in range(n_shards):
        outbox, ends = i64_in(u64_in(team, shard), at.OUTBOX), i64_in(u64_in(team, shard), at.OUTBOX_ENDS)
        incoming += (ends[n_batch * n_shards + me] - ends[me]) // MESSAGE
        for message in range(ends[me], ends[n_batch * n_shards + me], MESSAGE):
            prefetch_pair(pairs, mask, outbox[message])
    state[at.N_TOUCHED] = incoming  # at most
    if state[at.N_PAIRS] + incoming > sizes[at.PAIRS] // 4 * 5 // 8:
        return at.PAIRS_FULL
    reason = room_to_queue(state, sizes)
    if reason != at.DONE:
        return reason
    for merge in range(n_batch):
        state[at.N_MERGES] += 1
        stamp, n_touched = state[at.N_MERGES], np.int64(0)
        for shard in range(n_shards):
            outbox, ends = i64_in(u64_in(team, shard), at.OUTBOX), i64_in(u64_in(team, shard), at.OUTBOX_ENDS)
            for message in range(ends[merge * n_shards + me], ends[(merge + 1) * n_shards + me], MESSAGE):
                key, change = outbox[message], outbox[message + 1]
                if change < 0:
                    row = find_pair(pairs, mask, key)
                    if pairs[row] == key:
                        pairs[row + at.COUNT] += change
                else:
                    row = find_or_add_pair(pairs, mask, key, state)
                    pairs[row + at.COUNT] += change
                    if pairs[row + at.STAMP] != stamp:
                        pairs[row + at.STAMP] = stamp
                        touched[n_touched] = row
                        n_touched += 1
        for index in range(n_touched):
            row = touched[index]
            if pairs[row + at.COUNT] > 0:
                enqueue(home, pairs[row + at.COUNT], pairs[row], stamp)
    return at.DONE
