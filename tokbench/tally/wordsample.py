"""A fixed sample of a text's distinct words, for what is asked of words on their own.

Kept are the `WORDS` distinct words whose 64-bit hash is smallest, so the sample is the same for any order and
any sharding of the text and for every tokenizer, and two samples join exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.tally.text import TextBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS = 256


@dataclass(frozen=True, slots=True, eq=False)
class WordSample:
    """Hashes of the sampled words (uint64, ascending) and the tokens each takes on its own (int32)."""

    hashes: NDArray[np.uint64]
    tokens: NDArray[np.int32]

    @classmethod
    def empty(cls) -> WordSample:
        """No words."""
        import numpy as np

        return cls(np.zeros(0, np.uint64), np.zeros(0, np.int32))

    @classmethod
    def sum(cls, parts: Iterable[WordSample]) -> WordSample:
        """The sample of all texts together."""
        import numpy as np

        parts = list(parts)
        if not parts:
            return cls.empty()
        hashes, first = np.unique(np.concatenate([part.hashes for part in parts]), return_index=True)
        tokens = np.concatenate([part.tokens for part in parts])[first]
        return cls(hashes[:WORDS], tokens[:WORDS])


class WordSampler:
    """Picks the words, batch by batch; does not depend on the tokenizer."""

    __slots__ = ("_hashes", "words")

    def __init__(self) -> None:
        import numpy as np

        self.words: dict[int, str] = {}
        self._hashes: NDArray[np.uint64] = np.zeros(0, np.uint64)

    def add(self, batch: TextBatch) -> None:
        """Consider the words of a batch."""
        import numpy as np

        known, hashes = self._hashes, batch.word_hash
        if len(known) == WORDS:  # most words are out of the question at a glance, and most others are known
            low = np.flatnonzero(hashes <= known[-1])
            where = low[known[np.searchsorted(known, hashes[low])] != hashes[low]]
            if not len(where):
                return
        else:
            where = _lowest(hashes)
        new, first = np.unique(hashes[where], return_index=True)
        for key, index in zip(new[:WORDS].tolist(), where[first[:WORDS]].tolist(), strict=True):
            if key not in self.words:
                start, end = int(batch.words.start[index]), int(batch.words.end[index])
                self.words[key] = batch.data[start:end].tobytes().decode("utf-8", "surrogatepass")
        self.words = dict(self.items()[:WORDS])
        self._hashes = np.fromiter(self.words, np.uint64, len(self.words))

    def items(self) -> list[tuple[int, str]]:
        """The sampled words by ascending hash."""
        return sorted(self.words.items())


def _lowest(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where the lowest hashes are: at least `WORDS` different ones, or all."""
    import numpy as np

    some = 32 * WORDS
    if len(hashes) > 2 * some:
        where = np.flatnonzero(hashes <= np.uint64((1 << 64) // len(hashes) * some))  # hashes are spread evenly
        if len(np.unique(hashes[where])) >= WORDS:
            return where
    return np.arange(len(hashes))
