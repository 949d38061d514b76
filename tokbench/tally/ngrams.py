"""Bigram and trigram counts in bounded memory, the same whatever the order and sharding of the documents.

Text is sampled by document: each has a level, the number of leading zero bits of its 32-bit key, so that half
of all documents have level 0, a quarter level 1, and so on. Kept are the documents of level L and above, for
the lowest L at which they hold no more than `SAMPLE_BYTES` of text. The limit is in bytes of text, not in
n-grams, so that every tokenizer is measured on the same documents. Levels are counted apart, so shards that
had to drop different levels can still be joined. Of one document the part that answers to its first
`DOCUMENT_BYTES` counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.batch import TokenBatch
from tokbench.tally.histogram import Histogram
from tokbench.tally.text import TextBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_BYTES = 1 << 19
DOCUMENT_BYTES = 1 << 16
LEVELS = 33
ID_BITS = 21
"""Ids below 2^21 fit three to a 64-bit key."""
_PENDING = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class NGrams:
    """Counts of bigrams and trigrams by level, and the bytes of text at each level (int64, ``(LEVELS,)``).

    The key of a bigram is ``a << 21 | b``, of a trigram ``a << 42 | b << 21 | c``.
    """

    sampled: NDArray[np.int64]
    bigrams: dict[int, Histogram]
    trigrams: dict[int, Histogram]

    @classmethod
    def empty(cls) -> NGrams:
        """Nothing counted."""
        import numpy as np

        return cls(np.zeros(LEVELS, np.int64), {}, {})

    @property
    def level(self) -> int:
        """The lowest level kept."""
        return _lowest(self.sampled)

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
        lowest = _lowest(sampled)

        def join(tables: list[dict[int, Histogram]]) -> dict[int, Histogram]:
            levels = sorted({level for table in tables for level in table if level >= lowest})
            return {
                level: Histogram.sum(table[level] for table in tables if level in table) for level in levels
            }

        return cls(sampled, join([p.bigrams for p in parts]), join([p.trigrams for p in parts]))

    def bigram_counts(self) -> NDArray[np.int64]:
        """How often each distinct bigram of the sample occurs."""
        return Histogram.sum(self.bigrams.values()).counts

    def trigram_counts(self) -> NDArray[np.int64]:
        """How often each distinct trigram of the sample occurs."""
        return Histogram.sum(self.trigrams.values()).counts


def _lowest(sampled: NDArray[np.int64]) -> int:
    import numpy as np

    above = np.cumsum(sampled[::-1])[::-1]
    return int(np.argmax(above <= SAMPLE_BYTES)) if (above <= SAMPLE_BYTES).any() else LEVELS - 1


class NGramCounter:
    """Counts n-grams batch by batch."""

    __slots__ = ("_bigrams", "_level", "_met", "_pending", "_pending_size", "_sampled", "_trigrams")

    def __init__(self) -> None:
        import numpy as np

        self._sampled: NDArray[np.int64] = np.zeros(LEVELS, np.int64)
        self._bigrams: dict[int, Histogram] = {}
        self._trigrams: dict[int, Histogram] = {}
        self._pending: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []  # by level, and its limits
        self._pending_size = 0
        self._met: NDArray[np.bool_] = np.zeros(LEVELS, np.bool_)
        self._level = 0

    def add(self, batch: TextBatch, tokens: TokenBatch) -> None:
        """Count the n-grams of `tokens` that do not cross documents."""
        import numpy as np

        from tokbench.kernels.pointers import frozen
        from tokbench.tally.ngram_kernels import find_chains, weigh

        ids, offsets, sizes = frozen(tokens.ids), frozen(tokens.offsets), batch.counts["bytes"]
        weigh(batch.keys, sizes, DOCUMENT_BYTES, self._sampled, self._met)
        while self._level < LEVELS - 1 and self._sampled[self._level :].sum() > SAMPLE_BYTES:
            self._level += 1
        limits = np.empty(LEVELS + 1, np.int64)
        chains = find_chains(ids, offsets, batch.keys, sizes, DOCUMENT_BYTES, self._level, limits)
        self._pending.append((chains, limits))
        self._pending_size += len(chains)
        if self._pending_size > _PENDING:
            self._settle()

    def _settle(self) -> None:
        """Count what is pending."""
        chains = self._by_level()
        tables = self._bigrams, self._trigrams
        for table, found in zip(tables, _counted(chains), strict=True):
            for level, new in found.items():
                table[level] = Histogram.sum([table[level], new]) if level in table else new
            for level in [level for level in table if level < self._level]:
                del table[level]
        self._pending, self._pending_size = [], 0

    def _by_level(self) -> dict[int, NDArray[np.uint64]]:
        """The pending chains of each level that documents have, in order."""
        import numpy as np

        found = {}
        for level in (np.flatnonzero(self._met[self._level :]) + self._level).tolist():
            parts = [chains[limits[level] : limits[level + 1]] for chains, limits in self._pending]
            own = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.uint64), *parts])
            own.sort()
            found[level] = own
        return found

    def result(self) -> NGrams:
        """What was counted."""
        self._settle()
        return NGrams.sum([NGrams(self._sampled, self._bigrams, self._trigrams)])


def _counted(ordered: dict[int, NDArray[np.uint64]]) -> tuple[dict[int, Histogram], dict[int, Histogram]]:
    """The pairs and the triples of each level's chains in order."""
    import numpy as np

    from tokbench.tally.ngram_kernels import count_ngrams

    # one array for the keys of all levels, one for their counts: a level more costs next to nothing
    pairs, of_pairs, triples, of_triples = np.empty((4, sum(map(len, ordered.values()))), np.int64)
    ends = [(0, 0)]
    for chains in ordered.values():
        n, m = ends[-1]
        n_pairs, n_triples = count_ngrams(chains, pairs[n:], of_pairs[n:], triples[m:], of_triples[m:])
        ends.append((n + n_pairs, m + n_triples))

    def tables(keys: NDArray[np.int64], counts: NDArray[np.int64], order: int) -> dict[int, Histogram]:
        limits = [end[order] for end in ends]
        keys, counts = keys[: limits[-1]].copy(), counts[: limits[-1]].copy()
        return {
            level: Histogram(keys[first:last], counts[first:last])
            for level, first, last in zip(ordered, limits, limits[1:], strict=False)
        }

    return tables(pairs, of_pairs, 0), tables(triples, of_triples, 1)
