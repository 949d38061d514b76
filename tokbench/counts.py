"""`WordCounts`: the distinct pre-tokens of a corpus, and how often each was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Distinct pre-tokens: of text in the order in which they were first seen.

    `data` is uint8, their UTF-8 one after another; word w is ``data[starts[w]:starts[w + 1]]``; `starts` and
    `counts` are int64 of shape ``(words + 1,)`` and ``(words,)``. One sight of a word is `unit`: more than 1
    where languages are weighted, so that counts stay whole numbers.

    Example:
        >>> words = WordCounts.of({"a": 2, "bc": 1})
        >>> len(words), [(word.decode(), count) for word, count in words]
        (2, [('a', 2), ('bc', 1)])
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    unit: int = 1

    @classmethod
    def of(cls, counts: Mapping[str, int] | Mapping[bytes, int]) -> WordCounts:
        """From a mapping of words to counts, in its order."""
        words = [word.encode() if isinstance(word, str) else word for word in counts]
        return cls.of_pairs(words, counts.values())

    @classmethod
    def of_pairs(cls, words: list[bytes], counts: Iterable[int]) -> WordCounts:
        """From words and their counts."""
        import numpy as np

        from tokbench.kernels.text import end_to_end

        return cls(*end_to_end(words), np.fromiter(counts, np.int64, len(words)))

    def word(self, index: int) -> bytes:
        """One word."""
        return self.data[self.starts[index] : self.starts[index + 1]].tobytes()

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        data = self.data.tobytes()
        starts = self.starts.tolist()
        for word, count in enumerate(self.counts.tolist()):
            yield data[starts[word] : starts[word + 1]], count


@dataclass(frozen=True, slots=True)
class Counting:
    """How a tokenizer family counts the text it trains on, so that counts can be kept and trained from.

    `cut(options)` names how text becomes pre-tokens, from the family's options with their defaults: counts are
    good for every training with an equal name. ``count(texts, options)`` counts distinct pre-tokens, exactly,
    for texts of some megabytes in all.
    """

    cut: Callable[[Mapping[str, Any]], str]
    count: Callable[[Iterable[str], Mapping[str, Any]], WordCounts]
