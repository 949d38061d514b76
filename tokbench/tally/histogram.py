"""Counts by key that add up: sorted keys and how often each was seen; n-grams as such counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.kernels.pointers import Ints

SAMPLE_BYTES = 1 << 19
LEVELS = 33
"""Of n-grams: the most text they are counted in, and the levels of documents (see `tokbench.tally.ngrams`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Distinct `keys` in ascending order (int64) and the `counts` of each (int64, all above zero).

    Example:
        >>> import numpy as np
        >>> both = Histogram.of(np.array([3, 1, 3])) + Histogram.of(np.array([1]))
        >>> both.keys.tolist(), both.counts.tolist(), both.total
        ([1, 3], [2, 2], 4)
    """

    keys: Ints
    counts: Ints

    @classmethod
    def empty(cls) -> Histogram:
        """Nothing seen."""
        import numpy as np

        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def of(cls, values: NDArray[np.integer]) -> Histogram:
        """The histogram of some whole numbers."""
        import numpy as np

        keys, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
        return cls(keys, counts.astype(np.int64))

    @classmethod
    def of_dense(cls, dense: Ints) -> Histogram:
        """The histogram whose count of key i is ``dense[i]``."""
        import numpy as np

        keys = np.flatnonzero(dense).astype(np.int64)
        return cls(keys, np.asarray(dense[keys], np.int64))

    @classmethod
    def sum(cls, parts: Iterable[Histogram]) -> Histogram:
        """All of `parts` together."""
        import numpy as np

        some = [part for part in parts if len(part.keys)]
        if not some:
            return cls.empty()
        if len(some) == 1:
            return some[0]
        keys = np.concatenate([part.keys for part in some])
        counts = np.concatenate([part.counts for part in some])
        return cls(*sum_by_key(keys, counts))

    def __add__(self, other: Histogram) -> Histogram:
        return Histogram.sum([self, other])

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def total(self) -> int:
        """How many were counted."""
        return int(self.counts.sum())

    def mean(self) -> float:
        """The mean key; NaN when nothing was counted."""
        return float(self.keys @ self.counts / self.total) if len(self.keys) else float("nan")

    def quantile(self, share: float) -> float:
        """The smallest key that at least `share` of what was counted does not exceed; NaN when empty.

        Example:
            >>> import numpy as np
            >>> Histogram.of(np.array([1, 2, 3, 9])).quantile(0.5)
            2.0
        """
        import numpy as np

        if not len(self.keys):
            return float("nan")
        running = np.cumsum(self.counts)
        return float(self.keys[np.searchsorted(running, share * running[-1], side="left")])


def sum_by_key(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys and the summed counts of each."""
    import numpy as np

    if not len(keys):
        return keys, counts
    order = np.argsort(keys)  # in any order among equals: their counts are summed
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(counts, first)


@dataclass(frozen=True, slots=True, eq=False)
class NGrams:
    """Counts of bigrams and trigrams by level, and the bytes of text at each level (int64, ``(LEVELS,)``).

    The key of a bigram is ``a << 21 | b``, of a trigram ``a << 42 | b << 21 | c``.
    """

    sampled: Ints
    bigrams: dict[int, Histogram]
    trigrams: dict[int, Histogram]

    @property
    def level(self) -> int:
        """The lowest level kept."""
        return lowest_level(self.sampled)

    @property
    def n_bytes(self) -> int:
        """Bytes of text in the sample."""
        return int(self.sampled[self.level :].sum())

    @classmethod
    def sum(cls, parts: Iterable[NGrams]) -> NGrams:
        """All of `parts` together, at the level their sum allows."""
        import numpy as np

        parts = list(parts)
        sampled = np.sum([part.sampled for part in parts], axis=0, dtype=np.int64) + np.zeros(LEVELS, np.int64)
        lowest = lowest_level(sampled)

        def join(tables: list[dict[int, Histogram]]) -> dict[int, Histogram]:
            levels = sorted({level for table in tables for level in table if level >= lowest})
            return {
                level: Histogram.sum(table[level] for table in tables if level in table) for level in levels
            }

        return cls(sampled, join([p.bigrams for p in parts]), join([p.trigrams for p in parts]))


def lowest_level(sampled: Ints) -> int:
    """The lowest level from which on the text of a sample is no more than `SAMPLE_BYTES`."""
    import numpy as np

    above = np.cumsum(sampled[::-1])[::-1]
    return int(np.argmax(above <= SAMPLE_BYTES)) if (above <= SAMPLE_BYTES).any() else LEVELS - 1
