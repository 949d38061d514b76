"""Merging that is told which pair comes next: what several trainings that share their merges need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.pointers import block as block_of
from tokbench.kernels.pointers import i64_in, u64_in
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
from tokbench_subword.training.queue import GREATEST, call_waiting, drop_top, queue_again
from tokbench_subword.training.rewrite import apply, rewrite, take_positions
from tokbench_subword.training.session import Training
from tokbench_subword.training.spelling import enter_token


@kernel
def first_pair(block):  # type: ignore[no-untyped-def]
    """Find the pair that comes first: `LEFT` (-1: there is none), `RIGHT`, and its count in `OWN`."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    counts, keys, mask = i64_in(block, HEAP_COUNTS), i64_in(block, HEAP_KEYS), sizes[PAIRS] // 4 - 1
    if state[STAGE] == QUEUING:
        reason = fill_queue(block)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING
    while True:
        if not call_waiting(block):
            return HEAP_FULL
        if state[HEAP_SIZE] == 0:
            state[LEFT] = -1
            return DONE
        key = keys[0]
        row = find_pair(pairs, mask, key)
        count = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
        if count == counts[0]:
            state[LEFT], state[RIGHT] = sides(key)
            state[OWN] = count
            return DONE
        if count > 0:
            queue_again(block, count, key, np.int64(0))
        else:
            drop_top(block)


@kernel
def merge_given(block):  # type: ignore[no-untyped-def]
    """Merge `LEFT` and `RIGHT` wherever they stand, if anywhere; `OWN` is how often. Returns why it stopped."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    mask = sizes[PAIRS] // 4 - 1
    if state[STAGE] == QUEUING:
        reason = fill_queue(block)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING
    if state[STAGE] == CHOOSING:
        left, right = state[LEFT], state[RIGHT]
        if state[N_MERGES] >= sizes[MERGES] // 3:
            return MERGES_FULL
        if no_room_to_spell(block, left, right):
            return SPELLING_FULL
        key = pair_key(left, right)
        row = find_pair(pairs, mask, key)
        known = pairs[row] == key
        reason = take_positions(block, pairs[row + RUN] if known else np.int64(-1))
        if reason != DONE:
            return reason
        if known:
            take_runs(pairs, row)
        n_tokens = state[N_TOKENS]
        new = enter_token(block, left, right)
        if new == n_tokens:
            spell(block, left, right, new)
        note_merge(block, left, right, new)
        rewrite(block)
        if known:
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


@kernel
def merge_in_each(blocks, first, left, right, saved):  # type: ignore[no-untyped-def]
    """Merge a pair in the trainings from number `first` on; `saved` is how many tokens fewer each has.

    Returns the number of the training that stopped, and why; as many as there are, where none did.
    """
    for number in range(first, len(saved)):
        block = u64_in(blocks, number)
        state = i64_in(block, STATE)
        state[LEFT], state[RIGHT] = left, right
        reason = merge_given(block)
        if reason != DONE:
            return number, reason
        saved[number] = state[OWN]
    return len(saved), DONE


class GuidedSession(Training):
    """A training whose merges are given to it; the arguments are those of `Training`, less the rule.

    Of equally frequent pairs the one that is spelled greatest comes first, as in `tokenizers`' parity trainer.
    """

    def __init__(self, *words: Any, **options: Any) -> None:
        announce(merge_given)
        super().__init__(*words, rule=GREATEST, **options)

    def first(self) -> tuple[int, int, int]:
        """The pair that comes first and its count; a count of 0 where there is none."""
        self._until_done(first_pair)
        state = self.work[at.STATE]
        left, right = int(state[at.LEFT]), int(state[at.RIGHT])
        return (left, right, int(state[at.OWN])) if left >= 0 else (-1, -1, 0)

    def merge(self, left: int, right: int) -> int:
        """Merge a pair wherever it stands; how many tokens fewer that makes, words as often as counted."""
        state = self.work[at.STATE]
        state[at.LEFT], state[at.RIGHT] = left, right
        self._until_done(merge_given)
        return int(state[at.OWN])

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return int(self.work[at.STATE][at.N_TOKENS])

    def _until_done(self, step: Callable[..., int]) -> None:
        while (reason := int(step(self.work.block))) != at.DONE:
            self.growers()[reason]()


class Trainings:
    """Several trainings that make the same merges, by one call: to call each takes longer than most merges."""

    def __init__(self, sessions: Sequence[GuidedSession]) -> None:
        announce(merge_in_each)
        self._sessions = list(sessions)
        self._blocks = block_of([session.work.block for session in sessions])
        self._saved = np.zeros(len(sessions), np.int64)

    def merge(self, left: int, right: int) -> list[int]:
        """Merge a pair everywhere; how many tokens fewer that makes in each."""
        first = 0
        while True:
            first, reason = merge_in_each(self._blocks, first, left, right, self._saved)
            if reason == at.DONE:
                return self._saved.tolist()
            self._sessions[first].growers()[reason]()
