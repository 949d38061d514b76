"""Bigrams and trigrams counted in bounded memory, the same whatever the order and sharding of the documents.

Text is sampled by document: each has a level, the number of leading zero bits of its 32-bit key, so that half
of all documents have level 0, a quarter level 1, and so on. Kept are the documents of level L and above, for
the lowest L at which they hold no more than `SAMPLE_BYTES` of text. The limit is in bytes of text, not in
n-grams, so that every tokenizer is measured on the same documents. Levels are counted apart, so shards that
had to drop different levels can still be joined. Of a document of more than `DOCUMENT_BYTES`, only the first
tokens count, in proportion.

Pairs and triples are found by one sort, of chains. A chain is a pair with the id after it, in uint64
``first << 43 | second << 22 | third + 1``; its last 22 bits are 0 where the text ends. Once chains are sorted,
equal triples stand together, and so do equal pairs.
"""

from __future__ import annotations

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.kernels.pointers import Ints, Words
from tokbench.tally.histogram import LEVELS, Histogram, NGrams, lowest_level
from tokbench.tally.text import Flags, TextBatch

DOCUMENT_BYTES = 1 << 16
ID_BITS = 21
"""Ids below 2^21 fit three to a 64-bit key."""
_PENDING = 1 << 19
_ID, _THIRD = np.uint64(21), np.uint64(22)
_THIRDS = np.uint64((1 << 22) - 1)


class NGramCounter:
    """Counts n-grams batch by batch."""

    def __init__(self) -> None:
        self._sampled: Ints = np.zeros(LEVELS, np.int64)
        self._bigrams: dict[int, Histogram] = {}
        self._trigrams: dict[int, Histogram] = {}
        self._pending: list[tuple[Words, Ints]] = []  # chains, and the level of each
        self._pending_size = 0
        self._met: Flags = np.zeros(LEVELS, np.bool_)
        self._level = 0

    def add(self, batch: TextBatch, tokens: TokenBatch) -> None:
        """Count the n-grams of `tokens` that do not cross documents."""
        levels = 32 - np.frexp(batch.keys.astype(np.float64))[1].astype(np.int64)  # less the bits a key takes
        sizes = batch.counts["bytes"]
        np.add.at(self._sampled, levels, np.minimum(sizes, DOCUMENT_BYTES))
        self._met[levels] = True
        self._level = lowest_level(self._sampled)
        chosen = levels >= self._level
        some, levels, sizes = tokens.some(chosen), levels[chosen], sizes[chosen]
        lengths = some.lengths()
        kept = np.where(sizes <= DOCUMENT_BYTES, lengths, lengths * (DOCUMENT_BYTES / np.maximum(sizes, 1)))
        chains, document = chains_of(some, kept.astype(np.int64))
        self._pending.append((chains, levels[document]))
        self._pending_size += len(chains)
        if self._pending_size > _PENDING:
            self._settle()

    def _settle(self) -> None:
        """Count what is pending, level by level."""
        tables = self._bigrams, self._trigrams
        for level in (np.flatnonzero(self._met[self._level :]) + self._level).tolist():
            parts = [chains[levels == level] for chains, levels in self._pending]
            chains = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
            whole = chains[chains & _THIRDS != 0]
            triples = whole >> _THIRD << _ID | (whole & _THIRDS) - np.uint64(1)
            for table, ordered in zip(tables, (chains >> _THIRD, triples), strict=True):
                table[level] = table.get(level, Histogram.empty()) + _counted(ordered)
        for table in tables:
            for level in [level for level in table if level < self._level]:
                del table[level]
        self._pending, self._pending_size = [], 0

    def result(self) -> NGrams:
        """What was counted."""
        self._settle()
        return NGrams.sum([NGrams(self._sampled, self._bigrams, self._trigrams)])


def chains_of(tokens: TokenBatch, kept: Ints) -> tuple[Words, Ints]:
    """The chains of the first tokens of each document, so many as are `kept`: uint64; and their documents."""
    lengths = tokens.lengths()
    document = np.repeat(np.arange(len(tokens)), lengths)
    left = (tokens.offsets[:-1] + kept)[document] - np.arange(len(tokens.ids))  # kept ones from each token on
    at = np.flatnonzero(left > 1)
    ids = np.append(tokens.ids, 0).astype(np.uint64)
    third = np.where(left[at] > 2, ids[at + 2] + np.uint64(1), np.uint64(0))
    return (ids[at] << _ID | ids[at + 1]) << _THIRD | third, document[at]


def _counted(ordered: Words) -> Histogram:
    """The histogram of keys in ascending order."""
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return Histogram(ordered[first].astype(np.int64), np.diff(np.append(first, len(ordered))))
