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
from tokbench.kernels.bits import ONE, ZERO, highest_bit
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Int, Ints, Keys, Words, frozen
from tokbench.tally.histogram import LEVELS, Histogram, NGrams, lowest_level
from tokbench.tally.text import Flags, Offsets, TextBatch

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
        self._pending: list[tuple[Words, Ints]] = []  # chains by level, and where each begins
        self._pending_size = 0
        self._met: Flags = np.zeros(LEVELS, np.bool_)
        self._level = 0

    def add(self, batch: TextBatch, tokens: TokenBatch) -> None:
        """Count the n-grams of `tokens` that do not cross documents."""
        ids, offsets, sizes = frozen(tokens.ids), frozen(tokens.offsets), batch.counts["bytes"]
        weigh(batch.keys, sizes, DOCUMENT_BYTES, self._sampled, self._met)
        self._level = lowest_level(self._sampled)
        limits = np.empty(LEVELS + 1, np.int64)
        chains = find_chains(ids, offsets, batch.keys, sizes, DOCUMENT_BYTES, self._level, limits)
        self._pending.append((chains, limits))
        self._pending_size += len(chains)
        if self._pending_size > _PENDING:
            self._settle()

    def _settle(self) -> None:
        """Count what is pending, level by level."""
        tables = self._bigrams, self._trigrams
        for level in (np.flatnonzero(self._met[self._level :]) + self._level).tolist():
            parts = [chains[limits[level] : limits[level + 1]] for chains, limits in self._pending]
            chains = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
            for table, new in zip(tables, _counted(chains), strict=True):
                table[level] = table.get(level, Histogram.empty()) + new
        for table in tables:
            for level in [level for level in table if level < self._level]:
                del table[level]
        self._pending, self._pending_size = [], 0

    def result(self) -> NGrams:
        """What was counted."""
        self._settle()
        return NGrams.sum([NGrams(self._sampled, self._bigrams, self._trigrams)])


def _counted(chains: Words) -> tuple[Histogram, Histogram]:
    """The pairs and the triples of chains in order."""
    room = np.empty((4, len(chains)), np.int64)
    n_pairs, n_triples = count_ngrams(chains, *room)
    return Histogram(*room[:2, :n_pairs].copy()), Histogram(*room[2:, :n_triples].copy())


# --- kernels -----------------------------------------------------------------------------------------------


@kernel
def level_of(key: np.uint32) -> Int:
    """The number of leading zero bits of a 32-bit key."""
    return 31 - highest_bit(np.uint64(key)) if key != 0 else 32


@kernel
def weigh(keys: Keys, sizes: Ints, most: int, sampled: Ints, met: Flags) -> None:
    """Add the bytes of each document, `most` at most, to `sampled` at its level; mark the level as `met`."""
    for document in range(len(keys)):
        level = level_of(keys[document])
        sampled[level] += min(sizes[document], most)
        met[level] = True


@kernel
def find_chains(
    ids: Offsets, offsets: Offsets, keys: Keys, sizes: Ints, most: int, lowest: int, limits: Ints
) -> Words:
    """The chains of the documents of the `lowest` level or a higher one: uint64, one level after the other.

    Those of level i are from ``limits[i]`` to ``limits[i + 1]``. Of a document of more bytes than `most`, only
    its first tokens count: see `kept`.
    """
    limits[:] = 0
    for document in range(len(keys)):
        level = level_of(keys[document])
        if level >= lowest:
            limits[level + 1] += max(kept(offsets, sizes, document, most) - 1, 0)
    for level in range(len(limits) - 1):
        limits[level + 1] += limits[level]
    places = limits.copy()
    chains = np.empty(limits[-1], np.uint64)
    for document in range(len(keys)):
        level = level_of(keys[document])
        if level >= lowest:
            n, first = places[level], offsets[document]
            end = first + kept(offsets, sizes, document, most)
            for index in range(first + 1, end):
                third = np.uint64(ids[index + 1]) + ONE if index + 1 < end else ZERO
                pair = np.uint64(ids[index - 1]) << _ID | np.uint64(ids[index])
                chains[n] = pair << _THIRD | third
                n += 1
            places[level] = n
    return chains


@kernel
def kept(offsets: Offsets, sizes: Ints, document: int, most: int) -> Int:
    """How many of a document's tokens count."""
    n, size = offsets[document + 1] - offsets[document], sizes[document]
    return n if size <= most else np.int64(n * (most / size))


@kernel
def count_ngrams(
    ordered: Words, pairs: Ints, of_pairs: Ints, triples: Ints, of_triples: Ints
) -> tuple[int, int]:
    """Fill in the distinct pairs and triples of `ordered` chains, how often each occurs; say how many of each.

    They are keys as `NGrams` has them.
    """
    n_pairs = n_triples = 0
    pair_from = chain_from = 0
    for index in range(len(ordered)):
        chain = ordered[index]
        following = ordered[index + 1] if index + 1 < len(ordered) else ~chain
        pair, third = chain >> _THIRD, chain & _THIRDS
        # written every time, kept where a run ends: the processor could not predict a branch on that
        whole = third != ZERO
        triples[n_triples] = pair << _ID | (third - np.uint64(whole))
        of_triples[n_triples] = index + 1 - chain_from
        ends = following != chain
        n_triples += ends and whole
        chain_from = index + 1 if ends else chain_from
        pairs[n_pairs] = pair
        of_pairs[n_pairs] = index + 1 - pair_from
        ends = following >> _THIRD != pair
        n_pairs += ends
        pair_from = index + 1 if ends else pair_from
    return n_pairs, n_triples
