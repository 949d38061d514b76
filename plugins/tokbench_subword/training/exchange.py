"""Merges of a shard: its own words are rewritten, and each pair's home is told what becomes of it.

A shard that merges writes messages (pair, change of its count, new run) for each home (see `homes`),
itself among them, and after a barrier each home takes the messages of all, merge by merge.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import i32_in, i64_in, prefetch, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.homes import hang_run, pair_at_home, prefetch_at_home, take_from_home
from tokbench_subword.training.merges import note_merge
from tokbench_subword.training.pairs import RUN_HEAD, find_pair, home_of, new_run, pair_key
from tokbench_subword.training.queue import enqueue
from tokbench_subword.training.rewrite import (
    AFTER,
    BEFORE,
    POSITIONS_AHEAD,
    rewrite,
    spread_events,
    take_positions,
)
from tokbench_subword.training.ties import HF

NOT_TAKEN = -2
MESSAGE = 3
"""Numbers of a message: a pair's key, by how much its count changes, and where a new run begins, if any."""
_NO_RUN = np.int64(-1)
_AHEAD = 16


@inline
def _begin_messages(block, merge):  # type: ignore[no-untyped-def]
    """Make the messages of a batch's merge begin where those of the one before it end."""
    ends, n_shards = i64_in(block, at.OUTBOX_ENDS), i64_in(block, at.STATE)[at.N_SHARDS]
    room = i64_in(block, at.SIZES)[at.OUTBOX] // n_shards
    for home in range(n_shards):
        ends[merge * n_shards + home] = ends[(merge - 1) * n_shards + home] if merge > 0 else home * room


@inline
def _post(block, merge, n_shards, key, change, run):  # type: ignore[no-untyped-def]
    """Write a message to the home of a pair; there must be room."""
    outbox, ends = i64_in(block, at.OUTBOX), i64_in(block, at.OUTBOX_ENDS)
    slot = merge * n_shards + home_of(key, n_shards)
    end = ends[slot]
    outbox[end], outbox[end + 1], outbox[end + 2] = key, change, run
    ends[slot] = end + MESSAGE


@kernel
def post_first_pairs(block):  # type: ignore[no-untyped-def]
    """Tell the homes the counts of the pairs that a shard begins with, as if a merge had made them."""
    pairs, state, sizes = i64_in(block, at.PAIRS), i64_in(block, at.STATE), i64_in(block, at.SIZES)
    _begin_messages(block, 0)
    for row in range(0, sizes[at.PAIRS], 4):
        if pairs[row] >= 0:
            _post(block, 0, state[at.N_SHARDS], pairs[row], pairs[row + at.COUNT], pairs[row + at.RUN])
    state[at.N_BATCH] = 1


@inline
def _apply_side(block, merge, side):  # type: ignore[no-untyped-def]
    """Post what happened to the pairs with the neighbours on one side; write the runs of the new ones."""
    state, sizes, lengths = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.LENGTHS)
    runs, tallies, met = i32_in(block, at.RUNS), i64_in(block, at.TALLIES), i32_in(block, at.MET)
    n_symbols, n_shards = sizes[at.LENGTHS], state[at.N_SHARDS]
    left, right, new = state[at.LEFT], state[at.RIGHT], state[at.NEW]
    tally, first_met = 2 * n_symbols * side, n_symbols * side
    end = first_met + state[at.N_MET + side]
    for index in range(first_met, end):
        symbol = np.int64(met[index])
        slot = tally + 2 * symbol
        weight = tallies[slot]
        old = pair_key(symbol, left) if side == BEFORE else pair_key(right, symbol)
        _post(block, merge, n_shards, old, -weight, _NO_RUN)
        tallies[slot] = -1
        if lengths[symbol] + lengths[new] < state[at.LONGEST]:
            key = pair_key(symbol, new) if side == BEFORE else pair_key(new, symbol)
            run = new_run(runs, state, tallies[slot + 1], _NO_RUN)
            tallies[slot] = run + RUN_HEAD  # now a place to write to
            _post(block, merge, n_shards, key, weight, run)
    spread_events(block, side)


@inline
def _apply(block, merge):  # type: ignore[no-untyped-def]
    """Post what `rewrite` has changed; returns `DONE`, or what may need more room."""
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    n_shards, ends = state[at.N_SHARDS], i64_in(block, at.OUTBOX_ENDS)
    n_met = state[at.N_MET + BEFORE] + state[at.N_MET + AFTER]
    n_events = state[at.N_EVENTS + BEFORE] + state[at.N_EVENTS + AFTER]
    state[at.NEEDED] = MESSAGE * (2 * n_met + 1)
    if state[at.RUNS_USED] + n_events + RUN_HEAD * n_met > sizes[at.RUNS]:
        return at.RUNS_FULL
    _begin_messages(block, merge)
    room = sizes[at.OUTBOX] // n_shards
    for home in range(n_shards):
        if ends[merge * n_shards + home] + state[at.NEEDED] > (home + 1) * room:
            return at.OUTBOX_FULL
    if state[at.RULE] != HF:
        _post(block, merge, n_shards, pair_key(state[at.LEFT], state[at.RIGHT]), -state[at.OWN], _NO_RUN)
    # What stands to the right first: of "aaaa", pairs it makes are undone by what stands to the left.
    _apply_side(block, merge, AFTER)
    _apply_side(block, merge, BEFORE)
    return at.DONE


@inline
def _look_ahead(block, merge):  # type: ignore[no-untyped-def]
    """Ask for the words of the batch's next merge, and for the run of the one after it."""
    batch, runs, cells = i64_in(block, at.BATCH), i32_in(block, at.RUNS), i32_in(block, at.CELLS)
    n_batch = i64_in(block, at.STATE)[at.N_BATCH]
    if merge + 2 < n_batch:
        prefetch(runs, batch[at.B_SIZE * (merge + 2) + at.B_RUN])
    if merge + 1 < n_batch:
        run = batch[at.B_SIZE * (merge + 1) + at.B_RUN]
        if run >= 0:
            first = run + RUN_HEAD
            for index in range(first, first + min(np.int64(runs[run + 1]), POSITIONS_AHEAD)):
                prefetch(cells, 2 * np.int64(runs[index]))


@inline
def merge_batch(team, block):  # type: ignore[no-untyped-def]
    """Merge the pairs of the batch in the words of a shard; returns `DONE`, or what needs more room."""
    state, batch = i64_in(block, at.STATE), i64_in(block, at.BATCH)
    if state[at.CROWDED] == 1 and state[at.AT_MERGE] == 0:
        return at.RUNS_FULL
    while state[at.AT_MERGE] < state[at.N_BATCH]:
        merge = state[at.AT_MERGE]
        if state[at.STAGE] == at.CHOOSING:
            if state[at.TAKEN] == NOT_TAKEN:
                state[at.TAKEN] = take_from_home(team, block, merge)
            reason = take_positions(block, state[at.TAKEN])
            if reason != at.DONE:
                return reason
            state[at.TAKEN] = NOT_TAKEN
            entry = at.B_SIZE * merge
            note_merge(block, batch[entry + at.B_LEFT], batch[entry + at.B_RIGHT], batch[entry + at.B_NEW])
            _look_ahead(block, merge)
            rewrite(block)
            state[at.STAGE] = at.APPLYING
        reason = _apply(block, merge)
        if reason != at.DONE:
            return reason
        state[at.STAGE] = at.CHOOSING
        state[at.AT_MERGE] = merge + 1
    state[at.AT_MERGE] = 0
    return at.DONE


@inline
def take_messages(team, block):  # type: ignore[no-untyped-def]
    """Change the counts of the pairs at home as all shards say, and queue those that gained, merge by merge.

    Returns `DONE`, or what needs more room.
    """
    state, sizes, touched = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.TOUCHED)
    pairs, mask = i64_in(block, at.PAIRS), sizes[at.PAIRS] // 4 - 1
    n_shards, me, n_batch, incoming = state[at.N_SHARDS], state[at.SHARD], state[at.N_BATCH], np.int64(0)
    for shard in range(n_shards):
        incoming += (_end(u64_in(team, shard), n_batch, me) - _end(u64_in(team, shard), 0, me)) // MESSAGE
    state[at.N_TOUCHED] = incoming  # at most
    if state[at.N_PAIRS] + incoming > sizes[at.PAIRS] // 4 * 5 // 8:
        return at.PAIRS_FULL
    if state[at.HEAP_SIZE] + incoming > sizes[at.HEAP_KEYS]:
        return at.HEAP_FULL
    if state[at.WAITING_USED] + 4 * (incoming + state[at.HEAP_SIZE]) > sizes[at.WAITING]:
        return at.WAITING_FULL
    for shard in range(n_shards):
        peer = u64_in(team, shard)
        inbox, low = i64_in(peer, at.OUTBOX), _end(peer, 0, me)
        for message in range(low, min(low + MESSAGE * _AHEAD, _end(peer, n_batch, me)), MESSAGE):
            prefetch_at_home(block, inbox[message])
    for merge in range(n_batch):
        stamp = state[at.N_MERGES] - n_batch + merge + 1
        n_touched = np.int64(0)
        for shard in range(n_shards):
            peer = u64_in(team, shard)
            inbox, last = i64_in(peer, at.OUTBOX), _end(peer, n_batch, me)
            for message in range(_end(peer, merge, me), _end(peer, merge + 1, me), MESSAGE):
                if message + MESSAGE * _AHEAD < last:
                    prefetch_at_home(block, inbox[message + MESSAGE * _AHEAD])
                key, change, run = inbox[message], inbox[message + 1], inbox[message + 2]
                if change < 0:
                    row = find_pair(pairs, mask, key)
                    if pairs[row] == key:
                        pairs[row + at.COUNT] += change
                else:
                    row = pair_at_home(block, key)
                    hang_run(block, peer, shard, row, run)
                    pairs[row + at.COUNT] += change
                    if pairs[row + at.STAMP] != stamp:
                        pairs[row + at.STAMP] = stamp
                        touched[n_touched] = row
                        n_touched += 1
        for index in range(n_touched):
            row = touched[index]
            if pairs[row + at.COUNT] > 0:
                enqueue(block, pairs[row + at.COUNT], pairs[row], stamp)
    state[at.N_BATCH] = 0  # they are taken once, even if what comes next stops for more room
    return at.DONE


@inline
def _end(peer, merges, home):  # type: ignore[no-untyped-def]
    """Where the messages of a shard on so many merges of its batch end that go to some home."""
    n_shards = i64_in(peer, at.STATE)[at.N_SHARDS]
    if merges == 0:
        return home * (i64_in(peer, at.SIZES)[at.OUTBOX] // n_shards)
    return i64_in(peer, at.OUTBOX_ENDS)[(merges - 1) * n_shards + home]
