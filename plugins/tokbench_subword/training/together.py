"""The merge loop of a thread among several: it takes its shards through four stages, and meets the others.

- *Taking*: each home takes the messages that are for it (`exchange`),
- *showing*: and shows the pairs that come first in its queue (`batch`). All meet at a barrier.
- *Choosing*: each shard chooses the next merges from what all homes show: the same ones (`batch`),
- *merging*: it merges them in its own words, and posts what that changes (`exchange`). All meet again.

What is written for others to read is written before one barrier and read behind it, so nothing is read while it
is written. A thread whose shard needs more room leaves its kernel for it, and comes back; the others wait.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.barrier import all_there, arrive, is_last
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Int, Ints, i32_in, i64_in, pointer, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.batch import choose_batch, show_front
from tokbench_subword.training.exchange import post_changes, take_messages
from tokbench_subword.training.merges import note_merge
from tokbench_subword.training.pairs import find_pair, pair_key, runs_of_merge, take_runs
from tokbench_subword.training.rewrite import apply, rewrite, take_positions
from tokbench_subword.training.ties import HF

# `turn`, int64, of one thread: its number, how many threads there are, its first shard and the one after its
# last; and how far it is: stage, shard, barriers it has come to.
THREAD, THREADS, FIRST, END, TURN_STAGE, AT_SHARD, BARRIERS = range(7)
TURN_SIZE = 7
TAKING, SHOWING, MEETING_TO_CHOOSE, CHOOSING_BATCH, MERGING, MEETING_TO_TAKE = range(6)
N_STAGES = 6
NOT_TAKEN = -2


@inline
def _take_runs(block: Block, left: Int, right: Int, extra: Int) -> np.int64:
    """Take the runs of a pair: by the rule `hf` those that the merge `extra` made (see `ties`), else all."""
    pairs, key = i64_in(block, at.PAIRS), pair_key(left, right)
    row = find_pair(pairs, i64_in(block, at.SIZES)[at.PAIRS] // 4 - 1, key)
    if pairs[row] != key:
        return np.int64(-1)
    taken = take_runs(pairs, row)
    if i64_in(block, at.STATE)[at.RULE] == HF:
        taken, kept = runs_of_merge(i32_in(block, at.RUNS), taken, extra)
        pairs[row + at.RUN] = kept
    return taken


@inline
def _merge_batch(block: Block) -> Int:
    """Merge the pairs of the batch in the words of a shard; returns `DONE`, or what needs more room."""
    state, batch = i64_in(block, at.STATE), i64_in(block, at.BATCH)
    while state[at.AT_MERGE] < state[at.N_BATCH]:
        if state[at.STAGE] == at.CHOOSING:
            entry = at.B_SIZE * state[at.AT_MERGE]
            left, right = batch[entry + at.B_LEFT], batch[entry + at.B_RIGHT]
            if state[at.TAKEN] == NOT_TAKEN:
                state[at.TAKEN] = _take_runs(block, left, right, batch[entry + at.B_EXTRA])
            reason = take_positions(block, state[at.TAKEN])
            if reason != at.DONE:
                return reason
            state[at.TAKEN] = NOT_TAKEN
            note_merge(block, left, right, batch[entry + at.B_NEW])
            rewrite(block)
            state[at.STAGE] = at.APPLYING
        reason = post_changes(block, state[at.AT_MERGE])
        if reason == at.DONE:
            reason = apply(block)
        if reason != at.DONE:
            return reason
        state[at.STAGE] = at.CHOOSING
        state[at.AT_MERGE] += 1
    return at.DONE


@inline
def _take_stage(team: Block, shard: Int, stage: Int) -> Int:
    """Take a shard, or its home, through one stage; returns `DONE`, or what needs more room."""
    block = u64_in(team, shard)
    if stage == CHOOSING_BATCH:
        return choose_batch(team, block)
    if stage == MERGING:
        return _merge_batch(block)
    home = u64_in(team, i64_in(block, at.STATE)[at.N_SHARDS] + shard)
    if stage == TAKING:
        return take_messages(team, home)
    return show_front(team, home)


@kernel
def learn_in_shards(team: Block, turn: Ints, arrivals_: Ints) -> Int:
    """Learn merges in some shards until there are enough, or none is left; returns why it stopped.

    `team` is a block of the blocks of all shards, and behind them those of all homes; `arrivals_` the counters
    of a barrier. Where a shard or its home needs more room it is ``turn[AT_SHARD]``. Called again, it goes on
    where it stopped.
    """
    arrivals = pointer(arrivals_)
    while True:
        stage = turn[TURN_STAGE]
        if stage in (MEETING_TO_CHOOSE, MEETING_TO_TAKE):
            if not all_there(arrivals, turn[THREADS], turn[BARRIERS]):
                return at.AWAITING
            turn[TURN_STAGE] = (stage + 1) % N_STAGES
            if is_last(arrivals, turn[THREADS], turn[BARRIERS]):
                return at.DISBANDED
            state = i64_in(u64_in(team, turn[FIRST]), at.STATE)
            if stage == MEETING_TO_CHOOSE and state[at.N_MERGES] >= state[at.PAUSE_AT]:
                return at.PAUSED
            continue
        while turn[AT_SHARD] < turn[END]:
            reason = _take_stage(team, turn[AT_SHARD], stage)
            if reason != at.DONE:
                return reason
            turn[AT_SHARD] += 1
        turn[AT_SHARD] = turn[FIRST]
        if stage == CHOOSING_BATCH and i64_in(u64_in(team, turn[FIRST]), at.STATE)[at.N_BATCH] < 0:
            return at.DONE
        turn[TURN_STAGE] = stage + 1
        if stage in (SHOWING, MERGING):
            turn[BARRIERS] += 1
            arrive(arrivals, turn[THREAD], turn[BARRIERS])
