"""How often some text uses each id of a vocabulary, and which ids it never or rarely uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus import in_batches
from tokbench.tokenizer import Tokenizer, encode_batch


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """How often each id occurs, int64 of shape ``(vocab_size,)``, on `documents` documents.

    Example:
        >>> import tokbench
        >>> found = usage(tokbench.load("bytes"), ["aab"])
        >>> found.tokens, found.rare(0).size, found.rare(1).size - found.rare(0).size
        (3, 254, 1)
    """

    counts: NDArray[np.int64]
    documents: int

    @property
    def tokens(self) -> int:
        """All tokens of the text."""
        return int(self.counts.sum())

    def rare(self, most: int) -> NDArray[np.int64]:
        """The ids that occur `most` times or less, ascending; with 0, those that never do."""
        return np.flatnonzero(self.counts <= most)


def usage(tokenizer: Tokenizer, texts: Iterable[str]) -> Usage:
    """Count the ids of some texts, a few documents in memory at a time."""
    counts = np.zeros(int(tokenizer.vocab_size), np.int64)
    documents = 0
    for some in in_batches(texts):
        counts += np.bincount(encode_batch(tokenizer, some).ids, minlength=len(counts))
        documents += len(some)
    return Usage(counts, documents)
