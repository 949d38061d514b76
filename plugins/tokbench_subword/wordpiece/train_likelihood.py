"""Merging by likelihood: the pair with the highest count(ab) / (count(a) · count(b)) first.

The score measures how much a merge adds to the corpus likelihood under independent tokens, per occurrence of
the pair (Schuster and Nakajima 2012, and textbooks on WordPiece). Unlike a count, a score can rise: when `a` is
merged with another symbol, count(a) falls, and every other pair with `a` gains. So each symbol keeps a list of
its partners, and their pairs are queued again after each merge. Everything else is done by the BPE trainer.

Scores are float64, one division of exact integers converted to float64. Among equal scores the more frequent
pair goes first, then the smaller one. Hence the result is the same on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Int, i32_in, i64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.merges import merge_first
from tokbench_subword.training.pairs import count_of, find_pair, pair_key, sides
from tokbench_subword.training.queue import before, drop_top, heap_of, push, replace_top
from tokbench_subword.training.rewrite import apply, rewrite
from tokbench_subword.training.session import Growers, MergeSession
from tokbench_subword.training.spelling import NOT_A_TOKEN
from tokbench_subword.training.ties import BY_SCORE


@inline
def _score(block: Block, count: Int, key: Int) -> np.int64:
    """The score of a pair, as an integer for the queue."""
    symbol_counts = i64_in(block, at.SYMBOL_COUNTS)
    left, right = sides(key)
    score = np.float64(count) / (np.float64(symbol_counts[left]) * np.float64(symbol_counts[right]))
    return np.float64(score).view(np.int64)


@inline
def _push_scored(block: Block, row: Int) -> None:
    """Queue a pair if it is frequent enough to be merged."""
    pairs = i64_in(block, at.PAIRS)
    count, key = pairs[row + at.COUNT], pairs[row + at.KEY]
    if count >= max(i64_in(block, at.STATE)[at.MINIMUM], 1):
        push(block, count, key, _score(block, count, key))


@inline
def _add_partners(block: Block, key: Int) -> None:
    """Add each symbol to the other's list of partners; takes at most two cells of (partner, next + 1)."""
    partners, firsts, state = i32_in(block, at.PARTNERS), i32_in(block, at.FIRSTS), i64_in(block, at.STATE)
    left, right = sides(key)
    for symbol, other, is_left in ((left, right, 1), (right, left, 0)):
        if is_left == 1 or left != right:
            cell = state[at.N_PARTNERS]
            state[at.N_PARTNERS] += 1
            partners[2 * cell] = np.int32((other << 1) | is_left)
            partners[2 * cell + 1] = np.int32(firsts[symbol])
            firsts[symbol] = np.int32(cell + 1)


@inline
def _first_pair(block: Block) -> None:
    """Bring the best pair to the front of the queue, with its current count and score."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    counts, keys, scores = heap_of(block)
    mask, least = sizes[at.PAIRS] // 4 - 1, max(state[at.MINIMUM], 1)
    while state[at.HEAP_SIZE] > 0:
        key = keys[0]
        count = count_of(pairs, mask, key)
        score = np.int64(0)
        if count >= least:
            score = _score(block, count, key)
        if score == scores[0] and count == counts[0]:
            return
        if score > 0 and not before(block, BY_SCORE, (count, key, score), (counts[0], key, scores[0])):
            replace_top(block, count, key, score)
        else:  # no longer a pair, or queued again with a better score
            drop_top(block)


@inline
def _choose(block: Block) -> Int:
    """Take the next merge from the queue and make it the current one; returns -1, or the reason to stop."""
    while True:
        _first_pair(block)
        reason = merge_first(block)
        if reason != NOT_A_TOKEN:
            return reason


@inline
def _rescore(block: Block) -> bool:
    """Queue all pairs of the two merged symbols again; returns False if room runs out before the end."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    partners, firsts, mask = i32_in(block, at.PARTNERS), i32_in(block, at.FIRSTS), sizes[at.PAIRS] // 4 - 1
    left, right = state[at.LEFT], state[at.RIGHT]
    while state[at.SIDE] < 2:
        symbol = left if state[at.SIDE] == 0 else right
        cell = state[at.RESCORED] - 1
        while cell >= 0:
            if state[at.HEAP_SIZE] >= sizes[at.HEAP_KEYS]:
                state[at.RESCORED] = cell + 1
                return False
            other = np.int64(partners[2 * cell]) >> 1
            key = pair_key(symbol, other) if partners[2 * cell] & 1 else pair_key(other, symbol)
            row = find_pair(pairs, mask, key)
            if pairs[row] == key:
                _push_scored(block, row)
            cell = np.int64(partners[2 * cell + 1]) - 1
        state[at.SIDE] += 2 if left == right else 1
        state[at.RESCORED] = firsts[right]
    return True


@kernel
def learn_by_likelihood(block: Block) -> Int:
    """Learn merges as `training.merges.learn_merges` does, by likelihood; returns why it stopped.

    In addition to that kernel's arrays: ``SYMBOL_COUNTS[t]`` (int64), how often token t occurs in the corpus;
    `PARTNERS` (int32 ``(n, 2)``) and ``FIRSTS[t]``, the lists of each token's partners. A pair that occurs less
    than `MINIMUM` times is not queued.
    """
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    symbol_counts, touched = i64_in(block, at.SYMBOL_COUNTS), i64_in(block, at.TOUCHED)
    most_partners = sizes[at.PARTNERS] // 2

    if state[at.STAGE] == at.QUEUING:
        if state[at.N_PAIRS] > sizes[at.HEAP_KEYS]:
            return at.HEAP_FULL
        if 2 * state[at.N_PAIRS] > most_partners:
            return at.PARTNERS_FULL
        for row in range(0, sizes[at.PAIRS], 4):
            if pairs[row] >= 0 and pairs[row + at.COUNT] > 0:
                _add_partners(block, pairs[row])
                _push_scored(block, row)
        state[at.STAGE] = at.CHOOSING

    while True:
        if state[at.STAGE] == at.CHOOSING:
            reason = _choose(block)
            if reason >= 0:
                return reason
            rewrite(block)
            left, right, own = state[at.LEFT], state[at.RIGHT], state[at.OWN]
            symbol_counts[left] -= own
            symbol_counts[right] -= own
            symbol_counts[state[at.NEW]] += own
            state[at.STAGE] = at.APPLYING

        if state[at.STAGE] == at.APPLYING:
            reason = apply(block)
            if reason != at.DONE:
                return reason
            state[at.RESCORED], state[at.SIDE] = i32_in(block, at.FIRSTS)[state[at.LEFT]], 0
            state[at.STAGE] = at.RESCORING

        if state[at.STAGE] == at.RESCORING:
            if not _rescore(block):
                return at.HEAP_FULL
            state[at.STAGE] = at.DRAINING

        if state[at.HEAP_SIZE] + state[at.N_TOUCHED] > sizes[at.HEAP_KEYS]:
            return at.HEAP_FULL
        if state[at.N_PARTNERS] + 2 * state[at.N_TOUCHED] > most_partners:
            return at.PARTNERS_FULL
        for index in range(state[at.N_TOUCHED]):
            if pairs[touched[index] + at.COUNT] > 0:
                _add_partners(block, pairs[touched[index]])
                _push_scored(block, touched[index])
        state[at.STAGE] = at.CHOOSING


class LikelihoodSession(MergeSession):
    """Learns merges by count(ab) / (count(a) · count(b)), without a limit on token length."""

    kernel = staticmethod(learn_by_likelihood)

    def __init__(
        self, symbols: NDArray[np.int32], starts: NDArray[np.int64], counts: NDArray[np.int64], **options: Any
    ) -> None:
        super().__init__(symbols, starts, counts, **{**options, "rule": BY_SCORE})
        work = self.work
        work[at.SYMBOL_COUNTS] = np.zeros(self.n_wanted, np.int64)
        np.add.at(work[at.SYMBOL_COUNTS], symbols, np.repeat(counts, np.diff(starts)))
        work[at.PARTNERS] = np.empty(2 * 4096, np.int32)
        work[at.FIRSTS] = np.zeros(self.n_wanted, np.int32)

    def growers(self) -> Growers:
        """The method that makes room, for each reason to stop."""
        return {**super().growers(), at.PARTNERS_FULL: self._grow_partners}

    def _grow_partners(self) -> None:
        self.work.grow(at.PARTNERS, unit=2, more=4 * int(self.work[at.STATE][at.N_TOUCHED]))

    def _grow_heap(self) -> None:
        """Rebuild the queue if most entries are outdated; else make it larger."""
        work, state = self.work, self.work[at.STATE]
        rows = work[at.PAIRS].reshape(-1, 4)
        least = max(int(state[at.MINIMUM]), 1)
        alive = rows[(rows[:, at.KEY] >= 0) & (rows[:, at.COUNT] >= least)]
        if state[at.STAGE] == at.QUEUING or 2 * (len(alive) + state[at.N_TOUCHED]) >= state[at.HEAP_SIZE]:
            super()._grow_heap()
            return
        keys, counts = alive[:, at.KEY], alive[:, at.COUNT]
        singles = work[at.SYMBOL_COUNTS].astype(np.float64)
        scores = counts.astype(np.float64) / (singles[keys >> 32] * singles[keys & 0xFFFFFFFF])
        order = np.lexsort((keys, -counts, -scores))  # a list sorted in this order is a valid heap
        state[at.HEAP_SIZE] = n = len(order)
        queued = {at.HEAP_COUNTS: counts, at.HEAP_KEYS: keys, at.HEAP_EXTRAS: scores.view(np.int64)}
        for number, values in queued.items():
            work[number][:n] = values[order]
