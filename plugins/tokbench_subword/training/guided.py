"""Trainings that share their merges, and are told which comes next.

Each has words, pairs and a queue of its own. What tokens are is the same for all, and so is the room for the
merge at hand, as they merge one after another: those arrays are held once.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import block as block_of
from tokbench.kernels.pointers import i64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.layout import (
    APPLYING,
    CHOOSING,
    COUNT,
    DONE,
    DRAINING,
    HEAP_COUNTS,
    HEAP_FULL,
    HEAP_KEYS,
    HEAP_SIZE,
    LEFT,
    MERGES,
    MERGES_FULL,
    N_MERGES,
    N_TOKENS,
    NEW,
    OWN,
    PAIRS,
    QUEUING,
    RIGHT,
    RUN,
    SIZES,
    SPELLING_FULL,
    STAGE,
    STATE,
)
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
def _queued(block):  # type: ignore[no-untyped-def]
    """See to it that the pairs of the corpus are queued; what has no room, or `DONE`."""
    state = i64_in(block, STATE)
    if state[STAGE] == QUEUING:
        reason = fill_queue(block)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING
    return DONE


@inline
def first_pair(block):  # type: ignore[no-untyped-def]
    """Find the pair that comes first: `LEFT`, `RIGHT`, and its count in `OWN` (0: there is none)."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    counts, keys, mask = i64_in(block, HEAP_COUNTS), i64_in(block, HEAP_KEYS), sizes[PAIRS] // 4 - 1
    reason = _queued(block)
    if reason != DONE:
        return reason
    while True:
        if not call_waiting(block):
            return HEAP_FULL
        if state[HEAP_SIZE] == 0:
            state[OWN] = 0
            return DONE
        key = keys[0]
        row = find_pair(pairs, mask, key)
        count = pairs[row + COUNT] if pairs[row] == key else 0
        if count == counts[0]:
            state[LEFT], state[RIGHT] = sides(key)
            state[OWN] = count
            return DONE
        if count > 0:
            queue_again(block, count, key, 0)
        else:
            drop_top(block)


@inline
def note_token(block, left, right):  # type: ignore[no-untyped-def]
    """Make the token of a pair, and write the merge down, for all trainings; `NEW` is the token."""
    state, sizes = i64_in(block, STATE), i64_in(block, SIZES)
    if state[N_MERGES] >= sizes[MERGES] // 3:
        return MERGES_FULL
    if no_room_to_spell(block, left, right):
        return SPELLING_FULL
    n_tokens = state[N_TOKENS]
    new = enter_token(block, left, right)
    if new == n_tokens:
        spell(block, left, right, new)
    note_merge(block, left, right, new)
    return DONE


@inline
def merge_given(block, left, right, new, n_merges):  # type: ignore[no-untyped-def]
    """Make a pair a token wherever it stands, if anywhere; `OWN` is how often. Returns why it stopped."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    reason = _queued(block)
    if reason != DONE:
        return reason
    if state[STAGE] == CHOOSING:
        key = pair_key(left, right)
        row = find_pair(pairs, sizes[PAIRS] // 4 - 1, key)
        state[OWN] = 0
        if pairs[row] != key or pairs[row + RUN] < 0:
            return DONE
        reason = take_positions(block, pairs[row + RUN])
        if reason != DONE:
            return reason
        take_runs(pairs, row)
        state[LEFT], state[RIGHT], state[NEW], state[N_MERGES] = left, right, new, n_merges
        rewrite(block)
        pairs[row + COUNT] -= state[OWN]
        state[STAGE] = APPLYING
    if state[STAGE] == APPLYING:
        reason = apply(block)
        if reason != DONE:
            return reason
        state[STAGE] = DRAINING
    reason = queue_touched(block)
    if reason == DONE:
        state[STAGE] = CHOOSING
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
