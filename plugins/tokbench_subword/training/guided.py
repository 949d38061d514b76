"""Trainings that share their merges, and are told which comes next.

Each has words, pairs and a queue of its own. What tokens are is the same for all, and so is the room for the
merge at hand, as they merge one after another: those arrays are held once.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import (
    Block,
    Int,
    i64_in,
)
from tokbench.kernels.pointers import (
    block as block_of,
)
from tokbench_subword.training import layout as at
from tokbench_subword.training.merges import fill_queue, no_room_to_spell, note_merge, queue_touched, spell
from tokbench_subword.training.pairs import find_pair, pair_key, sides, take_runs
from tokbench_subword.training.queue import call_waiting, drop_top, queue_again
from tokbench_subword.training.rewrite import apply, rewrite, take_positions
from tokbench_subword.training.session import Training
from tokbench_subword.training.spelling import enter_token

SHARED = (
    *(at.LENGTHS, at.TOKEN_HASHES, at.SPELLED, at.SPELLED_IDS, at.STARTS, at.SPELLING, at.MERGES),
    *(at.POSITIONS, at.EVENTS, at.TALLIES, at.MET, at.TOUCHED),
)
"""The arrays that are held once."""


@inline
def _queued(block: Block) -> Int:
    """See to it that the pairs of the corpus are queued; what has no room, or `DONE`."""
    state = i64_in(block, at.STATE)
    if state[at.STAGE] == at.QUEUING:
        reason = fill_queue(block)
        if reason != at.DONE:
            return reason
        state[at.STAGE] = at.CHOOSING
    return at.DONE


@inline
def first_pair(block: Block) -> Int:
    """Find the pair that comes first: `LEFT`, `RIGHT`, and its count in `OWN` (0: there is none)."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    counts, keys, mask = i64_in(block, at.HEAP_COUNTS), i64_in(block, at.HEAP_KEYS), sizes[at.PAIRS] // 4 - 1
    reason = _queued(block)
    if reason != at.DONE:
        return reason
    while True:
        if not call_waiting(block):
            return at.HEAP_FULL
        if state[at.HEAP_SIZE] == 0:
            state[at.OWN] = 0
            return at.DONE
        key = keys[0]
        row = find_pair(pairs, mask, key)
        count = pairs[row + at.COUNT] if pairs[row] == key else 0
        if count == counts[0]:
            state[at.LEFT], state[at.RIGHT] = sides(key)
            state[at.OWN] = count
            return at.DONE
        if count > 0:
            queue_again(block, count, key, 0)
        else:
            drop_top(block)


@inline
def note_token(block: Block, left: Int, right: Int) -> Int:
    """Make the token of a pair, and write the merge down, for all trainings; `NEW` is the token."""
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    if state[at.N_MERGES] >= sizes[at.MERGES] // 3:
        return at.MERGES_FULL
    if no_room_to_spell(block, left, right):
        return at.SPELLING_FULL
    n_tokens = state[at.N_TOKENS]
    new = enter_token(block, left, right)
    if new == n_tokens:
        spell(block, left, right, new)
    note_merge(block, left, right, new)
    return at.DONE


@inline
def merge_given(block: Block, left: Int, right: Int, new: Int, n_merges: Int) -> Int:
    """Make a pair a token wherever it stands, if anywhere; `OWN` is how often. Returns why it stopped."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    reason = _queued(block)
    if reason != at.DONE:
        return reason
    if state[at.STAGE] == at.CHOOSING:
        key = pair_key(left, right)
        row = find_pair(pairs, sizes[at.PAIRS] // 4 - 1, key)
        state[at.OWN] = 0
        if pairs[row] != key or pairs[row + at.RUN] < 0:
            return at.DONE
        reason = take_positions(block, pairs[row + at.RUN])
        if reason != at.DONE:
            return reason
        take_runs(pairs, row)
        state[at.LEFT], state[at.RIGHT], state[at.NEW], state[at.N_MERGES] = left, right, new, n_merges
        rewrite(block)
        pairs[row + at.COUNT] -= state[at.OWN]
        state[at.STAGE] = at.APPLYING
    if state[at.STAGE] == at.APPLYING:
        reason = apply(block)
        if reason != at.DONE:
            return reason
        state[at.STAGE] = at.DRAINING
    reason = queue_touched(block)
    if reason == at.DONE:
        state[at.STAGE] = at.CHOOSING
    return reason


class Trainings:
    """Several trainings from the same first tokens, and the `blocks` of all of them for a kernel."""

    def __init__(self, sessions: Sequence[Training]) -> None:
        self._sessions = list(sessions)
        self.leader = self._sessions[0]
        self._share(self.leader)
        self.blocks = block_of([session.work.block for session in sessions])

    def grow(self, number: int, reason: int) -> None:
        """Make room in a training for what its kernel stopped for."""
        session = self._sessions[number]
        session.growers()[reason]()
        self._share(session)

    def _share(self, source: Training) -> None:
        for session in self._sessions:
            for number in SHARED:
                if session.work[number] is not source.work[number]:
                    session.work[number] = source.work[number]
