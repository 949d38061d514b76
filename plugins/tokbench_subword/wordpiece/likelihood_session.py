"""`LikelihoodSession`: the arrays of a training by likelihood, grown as its kernel asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tokbench_subword.bpe import train_merges as loop
from tokbench_subword.bpe.train_pairs import COUNT, KEY
from tokbench_subword.bpe.train_session import MergeSession, grown
from tokbench_subword.kernels.compiling import announce
from tokbench_subword.wordpiece.train_likelihood import (
    LIKELIHOOD_STATE_SIZE,
    PARTNERS_FULL,
    learn_by_likelihood,
)


class LikelihoodSession(MergeSession):
    """Learns merges by count(ab) / (count(a) · count(b)); `rule` and `longest` are of no account here."""

    def __init__(self, *words: Any, **options: Any) -> None:
        announce(learn_by_likelihood)
        super().__init__(*words, **options)
        state = np.zeros(LIKELIHOOD_STATE_SIZE, np.int64)
        state[: len(self.state)] = self.state
        self.state = state
        self.heap_scores = np.empty(len(self.heap_keys), np.float64)
        self.symbol_counts = np.zeros(self.n_wanted, np.int64)
        self.partners = np.empty(2 * 4096, np.int32)
        self.firsts = np.zeros(self.n_wanted, np.int32)

    def _step(self, pause_at: int) -> int:
        reason: int = learn_by_likelihood(
            self.records,
            self.heavy,
            self.pairs,
            self.chunks,
            self.heap_scores,
            self.heap_counts,
            self.heap_keys,
            self.positions,
            self.touched,
            self.lengths,
            self.token_hashes.reshape(-1),
            self.spelled,
            self.spelled_ids,
            self.symbol_counts,
            self.partners,
            self.firsts,
            self.merges,
            self.state,
            self.minimum,
            self.n_wanted,
            pause_at,
        )
        return reason

    def _growers(self) -> dict[int, Callable[[], None]]:
        return {**super()._growers(), PARTNERS_FULL: self._grow_partners}

    def _grow_partners(self) -> None:
        self.partners = grown(self.partners, unit=2)

    def _grow_heap(self) -> None:
        """Queue everything anew if most entries are outdated; else make room for more."""
        size = int(self.state[loop.HEAP_SIZE])
        rows = self.pairs.reshape(-1, 4)
        alive = rows[(rows[:, KEY] >= 0) & (rows[:, COUNT] >= max(self.minimum, 1))]
        if self.state[loop.STAGE] != loop.QUEUING and 2 * len(alive) < size:
            left, right = alive[:, KEY] >> 32, alive[:, KEY] & 0xFFFFFFFF
            counts = self.symbol_counts.astype(np.float64)
            scores = alive[:, COUNT].astype(np.float64) / (counts[left] * counts[right])
            # A list in the heap's order is a heap.
            order = np.lexsort((alive[:, KEY], -alive[:, COUNT], -scores))
            self.heap_scores[: len(order)] = scores[order]
            self.heap_counts[: len(order)] = alive[order, COUNT]
            self.heap_keys[: len(order)] = alive[order, KEY]
            self.state[loop.HEAP_SIZE] = len(order)
            return
        self.heap_scores = grown(self.heap_scores)
        self.heap_counts = grown(self.heap_counts)
        self.heap_keys = grown(self.heap_keys)
