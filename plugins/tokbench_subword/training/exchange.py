"""Merges of a shard: its own words are rewritten, and each pair's home is told what becomes of it.

A shard that merges writes messages (pair, change of its count, new run) for each home (see `homes`),
itself among them, and after a barrier each home takes the messages of all, merge by merge.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import i32_in, i64_in, prefetch, u64_in
from tokbench_subword.training.homes import hang_run, pair_at_home, prefetch_at_home, take_from_home
from tokbench_subword.training.layout import (
    APPLYING,
    AT_MERGE,
    B_LEFT,
    B_NEW,
    B_RIGHT,
    B_RUN,
    B_SIZE,
    BATCH,
    CELLS,
    CHOOSING,
    COUNT,
    CROWDED,
    DONE,
    HEAP_FULL,
    HEAP_KEYS,
    HEAP_SIZE,
    LEFT,
    LENGTHS,
    LONGEST,
    MET,
    N_BATCH,
    N_EVENTS,
    N_MERGES,
    N_MET,
    N_PAIRS,
    N_SHARDS,
    N_TOUCHED,
    NEEDED,
    NEW,
    OUTBOX,
    OUTBOX_ENDS,
    OUTBOX_FULL,
    OWN,
    PAIRS,
    PAIRS_FULL,
    RIGHT,
    RULE,
    RUN,
    RUNS,
    RUNS_FULL,
    RUNS_USED,
    SHARD,
    SIZES,
    STAGE,
    STAMP,
    STATE,
    TAKEN,
    TALLIES,
    TOUCHED,
    WAITING,
    WAITING_FULL,
    WAITING_USED,
)
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
    ends, n_shards = i64_in(block, OUTBOX_ENDS), i64_in(block, STATE)[N_SHARDS]
    room = i64_in(block, SIZES)[OUTBOX] // n_shards
    for home in range(n_shards):
        ends[merge * n_shards + home] = ends[(merge - 1) * n_shards + home] if merge > 0 else home * room


@inline
def _post(block, merge, n_shards, key, change, run):  # type: ignore[no-untyped-def]
    """Write a message to the home of a pair; there must be room."""
    outbox, ends = i64_in(block, OUTBOX), i64_in(block, OUTBOX_ENDS)
    slot = merge * n_shards + home_of(key, n_shards)
    end = ends[slot]
    outbox[end], outbox[end + 1], outbox[end + 2] = key, change, run
    ends[slot] = end + MESSAGE


@kernel
def post_first_pairs(block):  # type: ignore[no-untyped-def]
    """Tell the homes the counts of the pairs that a shard begins with, as if a merge had made them."""
    pairs, state, sizes = i64_in(block, PAIRS), i64_in(block, STATE), i64_in(block, SIZES)
    _begin_messages(block, 0)
    for row in range(0, sizes[PAIRS], 4):
        if pairs[row] >= 0:
            _post(block, 0, state[N_SHARDS], pairs[row], pairs[row + COUNT], pairs[row + RUN])
    state[N_BATCH] = 1


@inline
def _apply_side(block, merge, side):  # type: ignore[no-untyped-def]
    """Post what happened to the pairs with the neighbours on one side; write the runs of the new ones."""
    state, sizes, lengths = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, LENGTHS)
    runs, tallies, met = i32_in(block, RUNS), i64_in(block, TALLIES), i32_in(block, MET)
    n_symbols, n_shards = sizes[LENGTHS], state[N_SHARDS]
    left, right, new = state[LEFT], state[RIGHT], state[NEW]
    tally, first_met = 2 * n_symbols * side, n_symbols * side
    end = first_met + state[N_MET + side]
    for index in range(first_met, end):
        symbol = np.int64(met[index])
        slot = tally + 2 * symbol
        weight = tallies[slot]
        old = pair_key(symbol, left) if side == BEFORE else pair_key(right, symbol)
        _post(block, merge, n_shards, old, -weight, _NO_RUN)
        tallies[slot] = -1
        if lengths[symbol] + lengths[new] < state[LONGEST]:
            key = pair_key(symbol, new) if side == BEFORE else pair_key(new, symbol)
            run = new_run(runs, state, tallies[slot + 1], _NO_RUN)
            tallies[slot] = run + RUN_HEAD  # now a place to write to
            _post(block, merge, n_shards, key, weight, run)
    spread_events(block, side)


@inline
def _apply(block, merge):  # type: ignore[no-untyped-def]
    """Post what `rewrite` has changed; returns `DONE`, or what may need more room."""
    state, sizes = i64_in(block, STATE), i64_in(block, SIZES)
    n_shards, ends = state[N_SHARDS], i64_in(block, OUTBOX_ENDS)
    n_met = state[N_MET + BEFORE] + state[N_MET + AFTER]
    n_events = state[N_EVENTS + BEFORE] + state[N_EVENTS + AFTER]
    state[NEEDED] = MESSAGE * (2 * n_met + 1)
    if state[RUNS_USED] + n_events + RUN_HEAD * n_met > sizes[RUNS]:
        return RUNS_FULL
    _begin_messages(block, merge)
    room = sizes[OUTBOX] // n_shards
    for home in range(n_shards):
        if ends[merge * n_shards + home] + state[NEEDED] > (home + 1) * room:
            return OUTBOX_FULL
    if state[RULE] != HF:
        _post(block, merge, n_shards, pair_key(state[LEFT], state[RIGHT]), -state[OWN], _NO_RUN)
    # What stands to the right first: of "aaaa", pairs it makes are undone by what stands to the left.
    _apply_side(block, merge, AFTER)
    _apply_side(block, merge, BEFORE)
    return DONE


@inline
def _look_ahead(block, merge):  # type: ignore[no-untyped-def]
    """Ask for the words of the batch's next merge, and for the run of the one after it."""
    batch, runs, cells = i64_in(block, BATCH), i32_in(block, RUNS), i32_in(block, CELLS)
    n_batch = i64_in(block, STATE)[N_BATCH]
    if merge + 2 < n_batch:
        prefetch(runs, batch[B_SIZE * (merge + 2) + B_RUN])
    if merge + 1 < n_batch:
        run = batch[B_SIZE * (merge + 1) + B_RUN]
        if run >= 0:
            first = run + RUN_HEAD
            for index in range(first, first + min(np.int64(runs[run + 1]), POSITIONS_AHEAD)):
                prefetch(cells, 2 * np.int64(runs[index]))


@inline
def merge_batch(team, block):  # type: ignore[no-untyped-def]
    """Merge the pairs of the batch in the words of a shard; returns `DONE`, or what needs more room."""
    state, batch = i64_in(block, STATE), i64_in(block, BATCH)
    if state[CROWDED] == 1 and state[AT_MERGE] == 0:
        return RUNS_FULL
    while state[AT_MERGE] < state[N_BATCH]:
        merge = state[AT_MERGE]
        if state[STAGE] == CHOOSING:
            if state[TAKEN] == NOT_TAKEN:
                state[TAKEN] = take_from_home(team, block, merge)
            reason = take_positions(block, state[TAKEN])
            if reason != DONE:
                return reason
            state[TAKEN] = NOT_TAKEN
            entry = B_SIZE * merge
            note_merge(block, batch[entry + B_LEFT], batch[entry + B_RIGHT], batch[entry + B_NEW])
            _look_ahead(block, merge)
            rewrite(block)
            state[STAGE] = APPLYING
        reason = _apply(block, merge)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING
        state[AT_MERGE] = merge + 1
    state[AT_MERGE] = 0
    return DONE


@inline
def take_messages(team, block):  # type: ignore[no-untyped-def]
    """Change the counts of the pairs at home as all shards say, and queue those that gained, merge by merge.

    Returns `DONE`, or what needs more room.
    """
    state, sizes, touched = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, TOUCHED)
    pairs, mask, n_shards, me = i64_in(block, PAIRS), sizes[PAIRS] // 4 - 1, state[N_SHARDS], state[SHARD]
    n_batch, incoming = state[N_BATCH], np.int64(0)
    for shard in range(n_shards):
        incoming += (_end(u64_in(team, shard), n_batch, me) - _end(u64_in(team, shard), 0, me)) // MESSAGE
    state[N_TOUCHED] = incoming  # at most
    if state[N_PAIRS] + incoming > sizes[PAIRS] // 4 * 5 // 8:
        return PAIRS_FULL
    if state[HEAP_SIZE] + incoming > sizes[HEAP_KEYS]:
        return HEAP_FULL
    if state[WAITING_USED] + 4 * (incoming + state[HEAP_SIZE]) > sizes[WAITING]:
        return WAITING_FULL
    for shard in range(n_shards):
        peer = u64_in(team, shard)
        inbox, low = i64_in(peer, OUTBOX), _end(peer, 0, me)
        for at in range(low, min(low + MESSAGE * _AHEAD, _end(peer, n_batch, me)), MESSAGE):
            prefetch_at_home(block, inbox[at])
    for merge in range(n_batch):
        stamp = state[N_MERGES] - n_batch + merge + 1
        n_touched = np.int64(0)
        for shard in range(n_shards):
            peer = u64_in(team, shard)
            inbox, last = i64_in(peer, OUTBOX), _end(peer, n_batch, me)
            for at in range(_end(peer, merge, me), _end(peer, merge + 1, me), MESSAGE):
                if at + MESSAGE * _AHEAD < last:
                    prefetch_at_home(block, inbox[at + MESSAGE * _AHEAD])
                key, change, run = inbox[at], inbox[at + 1], inbox[at + 2]
                if change < 0:
                    row = find_pair(pairs, mask, key)
                    if pairs[row] == key:
                        pairs[row + COUNT] += change
                else:
                    row = pair_at_home(block, key)
                    hang_run(block, peer, shard, row, run)
                    pairs[row + COUNT] += change
                    if pairs[row + STAMP] != stamp:
                        pairs[row + STAMP] = stamp
                        touched[n_touched] = row
                        n_touched += 1
        for index in range(n_touched):
            row = touched[index]
            if pairs[row + COUNT] > 0:
                enqueue(block, pairs[row + COUNT], pairs[row], stamp)
    state[N_BATCH] = 0  # they are taken once, even if what comes next stops for more room
    return DONE


@inline
def _end(peer, merges, home):  # type: ignore[no-untyped-def]
    """Where the messages of a shard on so many merges of its batch end that go to some home."""
    n_shards = i64_in(peer, STATE)[N_SHARDS]
    if merges == 0:
        return home * (i64_in(peer, SIZES)[OUTBOX] // n_shards)
    return i64_in(peer, OUTBOX_ENDS)[(merges - 1) * n_shards + home]
