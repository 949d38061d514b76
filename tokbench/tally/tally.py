"""All counts of one tokenizer on one text, for metrics to read; tallies add up, and are kept as bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError
from tokbench.tally.counters import BUCKETS, NAMES, GroupSums
from tokbench.tally.examples import Loss, kept_examples
from tokbench.tally.histogram import Histogram, NGrams
from tokbench.tally.own import OwnSums
from tokbench.tally.packing import DAMAGED, pack, unpack
from tokbench.tally.wordsample import WordSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TALLY_VERSION = 8
"""Changes whenever the same text and tokenizer would give another tally; part of every cache key.

It alone decides whether a cached tally is still good, so a change of code that changes no tally keeps them all:
`tests/tokbench/tally/test_golden.py` fails where a change of code changes a tally.
"""

HISTOGRAMS = ("ids", "word_tokens", "document_tokens", "token_bytes")
AT_ONCE = 16
"""Tallies that are added up together: less work than one by one, though each may take a megabyte or two."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of one tokenizer on one text, in constant memory; every counter's total is an attribute.

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
        """The tally of all texts together; of many, no more than `AT_ONCE` are held."""
        import numpy as np

        waiting = iter(tallies)
        parts = list(islice(waiting, AT_ONCE))
        while more := list(islice(waiting, AT_ONCE - 1)):
            parts = [cls.sum(parts), *more]
        if len(parts) == 1:
            return parts[0]
        lengths = np.zeros((BUCKETS, 3), np.int64)
        for part in parts:
            lengths += part.lengths
        return cls(
            groups=GroupSums.sum(part.groups for part in parts),
            **{name: Histogram.sum(getattr(part, name) for part in parts) for name in HISTOGRAMS},
            lengths=lengths,
            ngrams=NGrams.sum(part.ngrams for part in parts),
            word_sample=WordSample.sum(part.word_sample for part in parts),
            losses=kept_examples(loss for part in parts for loss in part.losses),
            own=OwnSums.sum(part.own for part in parts),
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally.sum([self, other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and _written(self) == _written(other)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Every counter's total by name."""
        return self.groups.totals()

    def __getattr__(self, name: str) -> int:
        if name in NAMES:
            return self.totals[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def clusters(self) -> int:
        """What intervals draw from: groups of documents that are drawn together, 1,024 at most."""
        return len(self.groups.rows)

    @property
    def lossy(self) -> bool:
        """Whether some document did not come back, or some text became the unknown token."""
        return self.round_trips < self.documents or self.unk_tokens > 0

    @cached_property
    def _bytes(self) -> bytes:
        return _written(self)

    def to_bytes(self) -> bytes:
        """The tally in a layout of our own (no pickle); equal tallies give equal bytes.

        They are made once, and kept: the same bytes go into the cache, to another process and into a cell.
        """
        return self._bytes

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        """The tally that `to_bytes` wrote; raises `ResultsError` for anything else."""
        try:
            tally = _built(*unpack(data, TALLY_VERSION))
        except DAMAGED as error:
            raise ResultsError(f"a damaged tally ({error}); delete it and run again to recount") from error
        tally.__dict__["_bytes"] = data
        return tally

    def __reduce__(self) -> tuple[object, ...]:
        return Tally.from_bytes, (self.to_bytes(),)


def _written(tally: Tally) -> bytes:
    import numpy as np

    arrays: dict[str, NDArray[Any]] = {
        "groups.rows": tally.groups.rows,
        "groups.columns": tally.groups.columns,
        "groups.values": tally.groups.values,
        "lengths": tally.lengths,
        "ngrams.sampled": tally.ngrams.sampled,
        "word_sample.hashes": tally.word_sample.hashes,
        "word_sample.tokens": tally.word_sample.tokens,
    }
    tables = {name: getattr(tally, name) for name in HISTOGRAMS}
    tables |= {f"bigrams.{level}": table for level, table in sorted(tally.ngrams.bigrams.items())}
    tables |= {f"trigrams.{level}": table for level, table in sorted(tally.ngrams.trigrams.items())}
    for name, table in tables.items():  # differences of keys are small
        arrays |= {f"{name}.keys": np.diff(table.keys, prepend=0), f"{name}.counts": table.counts}
    arrays |= {f"own.{name}": own for name, own in tally.own.sums.items()}
    header = {
        "version": TALLY_VERSION,
        "counters": [NAMES[column] for column in tally.groups.columns.tolist()],
        "losses": [astuple(loss) for loss in tally.losses],
    }
    return pack(header | ({"faults": tally.own.faults} if tally.own.faults else {}), arrays)


def _built(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Tally:
    import numpy as np

    def table(name: str) -> Histogram:
        keys = np.cumsum(arrays[f"{name}.keys"], dtype=np.int64)
        return Histogram(keys, arrays[f"{name}.counts"].astype(np.int64))

    def levels(order: str) -> dict[int, Histogram]:
        names = [name for name in arrays if name.startswith(f"{order}.") and name.endswith(".keys")]
        return {int(name.split(".")[1]): table(name.removesuffix(".keys")) for name in names}

    return Tally(
        groups=GroupSums(
            arrays["groups.rows"].astype(np.int16),
            arrays["groups.columns"].astype(np.int16),
            arrays["groups.values"],
        ),
        **{name: table(name) for name in HISTOGRAMS},
        lengths=arrays["lengths"].astype(np.int64),
        ngrams=NGrams(arrays["ngrams.sampled"].astype(np.int64), levels("bigrams"), levels("trigrams")),
        word_sample=WordSample(arrays["word_sample.hashes"], arrays["word_sample.tokens"].astype(np.int32)),
        losses=tuple(Loss(*fields) for fields in header["losses"]),
        own=OwnSums(
            {name[4:]: own.astype(np.int64) for name, own in arrays.items() if name.startswith("own.")},
            header.get("faults", {}),
        ),
    )
