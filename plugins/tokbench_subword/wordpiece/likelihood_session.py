"""`LikelihoodSession`: the arrays of a training by likelihood, grown as its kernel asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce
from tokbench_subword.training import layout as at
from tokbench_subword.training.queue import BY_SCORE
from tokbench_subword.training.session import MergeSession
from tokbench_subword.wordpiece.train_likelihood import learn_by_likelihood


class LikelihoodSession(MergeSession):
    """Learns merges by count(ab) / (count(a) · count(b)); there is no limit on length here."""

    def __init__(
        self, symbols: NDArray[np.int32], starts: NDArray[np.int64], counts: NDArray[np.int64], **options: Any
    ) -> None:
        announce(learn_by_likelihood)
        super().__init__(symbols, starts, counts, **{**options, "rule": BY_SCORE})
        work = self.work
        work[at.SYMBOL_COUNTS] = np.zeros(self.n_wanted, np.int64)
        np.add.at(work[at.SYMBOL_COUNTS], symbols, np.repeat(counts, np.diff(starts)))
        work[at.PARTNERS] = np.empty(2 * 4096, np.int32)
        work[at.FIRSTS] = np.zeros(self.n_wanted, np.int32)

    def _step(self) -> int:
        return int(learn_by_likelihood(self.work.block))

    def growers(self) -> dict[int, Callable[[], None]]:
        """What makes room, by what the kernel stopped for."""
        return {**super().growers(), at.PARTNERS_FULL: self._grow_partners}

    def _grow_partners(self) -> None:
        self.work.grow(at.PARTNERS, unit=2, more=4 * int(self.work[at.STATE][at.N_TOUCHED]))

    def _grow_heap(self) -> None:
        """Queue everything anew if most entries are outdated; else make room for more."""
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
        order = np.lexsort((keys, -counts, -scores))  # a list in the heap's order is a heap
        state[at.HEAP_SIZE] = n = len(order)
        for number, values in (
            (at.HEAP_COUNTS, counts),
            (at.HEAP_KEYS, keys),
            (at.HEAP_EXTRAS, scores.view(np.int64)),
        ):
            work[number][:n] = values[order]
