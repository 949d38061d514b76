"""A fixed sample of a text's distinct words, for metrics that encode words on their own.

Kept are the `WORDS` distinct words whose 64-bit hash is smallest, so the sample is the same for any order and
any sharding of the text and for every tokenizer, and two samples join exactly. The hash is that of
`tokbench.kernels.hashing`, of the word's UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ids, Words
    from tokbench.tally.text import TextBatch

WORDS = 256
LARGEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class WordSample:
    """Hashes of the sampled words (uint64, ascending) and the tokens each takes on its own (int32)."""

    hashes: Words
    tokens: Ids

    @classmethod
    def sum(cls, parts: Iterable[WordSample]) -> WordSample:
        """The sample of all texts together."""
        import numpy as np

        parts = list(parts)
        hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)])
        tokens = np.concatenate([np.zeros(0, np.int32), *(part.tokens for part in parts)])
        hashes, first = np.unique(hashes, return_index=True)
        return cls(hashes[:WORDS], tokens[first][:WORDS])


class WordSampler:
    """Picks the words, batch by batch; does not depend on the tokenizer.

    `words` are those of the sample by hash, ascending.
    """

    def __init__(self) -> None:
        self.words: dict[int, str] = {}
        self._limit = LARGEST

    def add(self, batch: TextBatch) -> None:
        """Consider the words of a batch."""
        low = lowest_words(batch, self._limit)
        new = {key: _word(batch, index) for key, index in low.items() if key not in self.words}
        if new:
            both = self.words | new
            self.words = {key: both[key] for key in sorted(both)[:WORDS]}
            if len(self.words) == WORDS:
                self._limit = next(reversed(self.words))


def lowest_words(batch: TextBatch, limit: int) -> dict[int, int]:
    """The `WORDS` lowest hashes of a batch's words, `limit` at most, each with the number of such a word."""
    import numpy as np

    from tokbench.kernels.hashing import hash_spans

    hashes = np.empty(len(batch.words.start), np.uint64)
    hash_spans(batch.data, batch.words.start, batch.words.end, hashes)
    found = np.flatnonzero(hashes <= np.uint64(limit))
    low, first = np.unique(hashes[found], return_index=True)
    return dict(zip(low[:WORDS].tolist(), found[first[:WORDS]].tolist(), strict=True))


def _word(batch: TextBatch, index: int) -> str:
    start, end = int(batch.words.start[index]), int(batch.words.end[index])
    return batch.data[start:end].tobytes().decode("utf-8", "surrogatepass")
