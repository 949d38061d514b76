"""A fixed sample of a text's distinct words, for what is asked of words on their own.

Kept are the `WORDS` distinct words whose 64-bit hash is smallest, so the sample is the same for any order and
any sharding of the text and for every tokenizer, and two samples join exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tokbench.tally.text import TextBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS = 256
LARGEST = (1 << 64) - 1
_RATIO = 0x9E3779B97F4A7C15


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

    __slots__ = ("_limit", "_met", "words")

    def __init__(self) -> None:
        import numpy as np

        from tokbench.tally.spans import MET_BITS

        self.words: dict[int, str] = {}
        self._limit = LARGEST
        self._met: NDArray[np.uint64] = np.zeros((1 << MET_BITS, 2), np.uint64)

    def add(self, batch: TextBatch) -> None:
        """Consider the words of a batch."""
        limit = self._limit
        some = 32 * WORDS
        if limit == LARGEST and len(batch.words) > 2 * some:
            limit = LARGEST // len(batch.words) * some  # hashes are spread evenly
        new, where = self._low(batch, limit)
        if limit < self._limit and len(new) < WORDS:
            self._met[:] = 0
            new, where = self._low(batch, self._limit)
        for key, index in zip(new[:WORDS].tolist(), where[:WORDS].tolist(), strict=True):
            if key not in self.words:
                start, end = int(batch.words.start[index]), int(batch.words.end[index])
                self.words[key] = batch.data[start:end].tobytes().decode("utf-8", "surrogatepass")
        if len(new):
            self.words = dict(self.items()[:WORDS])
            if len(self.words) == WORDS:
                self._limit = max(self.words)

    def _low(self, batch: TextBatch, limit: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The distinct hashes up to `limit` of words, without some met before, and where each is."""
        import numpy as np

        hashes, where = low_words(batch, limit, self._met)
        new, first = np.unique(hashes, return_index=True)
        return new, where[first]

    def items(self) -> list[tuple[int, str]]:
        """The sampled words by ascending hash."""
        return sorted(self.words.items())


def low_words(
    batch: TextBatch, limit: int, met: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hashes of a batch's words that are `limit` at most, and the words' numbers; see `low_spans`."""
    import numpy as np

    from tokbench.tally.compiling import windows
    from tokbench.tally.spans import low_spans

    words = batch.words
    found, hashes = np.empty(len(words), np.int64), np.empty(len(words), np.uint64)
    n = low_spans(
        batch.data,
        windows(batch.data),
        words.start,
        words.end,
        _masks(),
        *_powers(),
        np.uint64(limit),
        met,
        found,
        hashes,
    )
    return hashes[:n], found[:n]


@cache
def _powers() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """What `low_spans` reckons with: r^0 … r^8, and the sums of the first 0 … 8 of them, modulo 2^64."""
    import numpy as np

    powers = [pow(_RATIO, exponent, 1 << 64) for exponent in range(9)]
    sums = [sum(powers[:size]) % (1 << 64) for size in range(9)]
    return np.array(powers, np.uint64), np.array(sums, np.uint64)


@cache
def _masks() -> NDArray[np.uint64]:
    """The bits of the first eight and of the next seven bytes that 0 … 15 bytes fill: uint64 ``(16, 2)``."""
    import numpy as np

    sizes = [(min(size, 8), max(size - 8, 0)) for size in range(16)]
    return np.array([[(1 << 8 * size) - 1 for size in both] for both in sizes], np.uint64)
