"""Everything that is counted of one tokenizer on one text; tallies add up."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tokbench.tally.groups import GroupSums
from tokbench.tally.histogram import Histogram, NGrams
from tokbench.tally.loss import Loss, fewest
from tokbench.tally.own import OwnSums
from tokbench.tally.text import BUCKETS
from tokbench.tally.wordsample import WordSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TALLY_VERSION = 4
"""Changes whenever the same text and tokenizer would give another tally; part of every cache key.

It alone decides whether a cached tally is still good, so a change of code that changes no tally keeps them all:
`tests/tokbench/tally/test_golden.py` holds tallies that say which kind a change is of.
"""


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of one tokenizer on one text, in constant memory.

    `groups` holds the sum of every counter (see `tokbench.tally.counters`) over each bootstrap group.
    `ids` counts token ids; `word_tokens` words by the tokens that touch them; `document_tokens` documents by
    their tokens; `token_bytes` tokens by their length in bytes (−1: the tokenizer does not tell). `lengths`
    is int64 ``(BUCKETS, 3)``: documents, bytes and tokens by length of document. `losses` holds examples of
    documents that did not come back; `own` the sums of counters that metrics bring. Addition is exact, so
    shards in any order give the identical tally.

    Example:
        >>> both = Tally.empty() + Tally.empty()
        >>> both.documents, both.tokens
        (0, 0)
    """

    groups: GroupSums
    ids: Histogram
    word_tokens: Histogram
    document_tokens: Histogram
    token_bytes: Histogram
    lengths: NDArray[np.int64]
    ngrams: NGrams
    word_sample: WordSample
    losses: tuple[Loss, ...] = ()
    own: OwnSums = field(default_factory=OwnSums)

    @classmethod
    def empty(cls) -> Tally:
        """The tally of no text."""
        return cls.sum([])

    @classmethod
    def sum(cls, tallies: Iterable[Tally]) -> Tally:
        """The tally of all texts together; faster than adding one by one."""
        import numpy as np

        parts = list(tallies)
        if len(parts) == 1:
            return parts[0]
        lengths = np.zeros((BUCKETS, 3), np.int64)
        for part in parts:
            lengths += part.lengths
        return cls(
            groups=GroupSums.sum(part.groups for part in parts),
            ids=Histogram.sum(part.ids for part in parts),
            word_tokens=Histogram.sum(part.word_tokens for part in parts),
            document_tokens=Histogram.sum(part.document_tokens for part in parts),
            token_bytes=Histogram.sum(part.token_bytes for part in parts),
            lengths=lengths,
            ngrams=NGrams.sum(part.ngrams for part in parts),
            word_sample=WordSample.sum(part.word_sample for part in parts),
            losses=fewest(loss for part in parts for loss in part.losses),
            own=OwnSums.sum(part.own for part in parts),
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally.sum([self, other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and _packed(self) == _packed(other)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Every counter's total by name."""
        return self.groups.totals()

    def count(self, name: str) -> int:
        """The total of one counter."""
        return self.totals[name]

    @property
    def documents(self) -> int:
        """Documents."""
        return self.totals["documents"]

    @property
    def clusters(self) -> int:
        """What intervals draw from: groups of documents that are drawn together, 1,024 at most."""
        return len(self.groups.rows)

    @property
    def bytes(self) -> int:
        """Bytes of UTF-8."""
        return self.totals["bytes"]

    @property
    def chars(self) -> int:
        """Unicode code points."""
        return self.totals["chars"]

    @property
    def graphemes(self) -> int:
        """Extended grapheme clusters."""
        return self.totals["graphemes"]

    @property
    def words(self) -> int:
        """Words."""
        return self.totals["words"]

    @property
    def lines(self) -> int:
        """Lines."""
        return self.totals["lines"]

    @property
    def tokens(self) -> int:
        """Tokens."""
        return self.totals["tokens"]

    @property
    def lossy(self) -> bool:
        """Whether some document did not come back, or some text became the unknown token."""
        totals = self.totals
        return totals["round_trips"] < totals["documents"] or totals["unk_tokens"] > 0

    def to_bytes(self, *, packed: bool = True) -> builtins.bytes:
        """The tally in a layout of our own (no pickle); equal tallies give equal bytes.

        Not `packed` it is about three times as large, and made and read in half the time.
        """
        from tokbench.tally.layout import write

        return write(self, packed=packed)

    @classmethod
    def from_bytes(cls, data: builtins.bytes) -> Tally:
        """The tally that `to_bytes` wrote; raises `ResultsError` for anything else."""
        from tokbench.tally.layout import read

        return read(data)

    def __reduce__(self) -> tuple[object, ...]:
        return Tally.from_bytes, (self.to_bytes(),)


def _packed(tally: Tally) -> object:
    return tally.to_bytes()
