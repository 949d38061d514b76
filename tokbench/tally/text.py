"""What is to be counted in a batch of documents whatever the tokenizer, computed once and shared.

The documents of a batch are joined by line feeds into one array of bytes; words, numbers and the rest are
spans of that array. Every count is an array over the batch's documents.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Document
from tokbench.tally.counters import TEXT_COUNTERS
from tokbench.tally.facts import CorpusFacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Offsets = NDArray[np.integer[Any]]

BATCH_BYTES = 1 << 18
"""Text in a batch: enough to hide the cost of a call, little enough to stay in the processor's caches."""
GROUPS = 1024
"""Bootstrap groups; see `tokbench.tally.groups`."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Stretches of the batch: (start, end) in bytes of the joined text, and the document of each.

    `start` and `end` are int32 where the batch is not larger than that can tell.
    """

    start: Offsets
    end: Offsets
    document: Ints

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Places inside things where a boundary may fall: the byte, the document, and whether one should."""

    at: Ints
    document: Ints
    gold: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Some documents, with everything that does not depend on a tokenizer counted.

    `data` is the UTF-8 of the texts (uint8), a line feed after each; document i is ``data[starts[i]:ends[i]]``.
    `keys` is the hash (uint32) that places each document in a bootstrap group and in the samples. `rows` holds
    the counts, int64 ``(documents, len(TEXT_COUNTERS))``. Words are in order, those of document i from
    ``word_limits[i]`` to ``word_limits[i + 1]``. `grapheme_inside` (uint8) is 1 at every byte where no grapheme
    cluster begins; `surrogates` says which documents hold lone surrogates, which no decoder gives back.
    """

    texts: Sequence[str]
    keys: NDArray[np.uint32]
    groups: Ints
    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints
    rows: Ints
    words: Spans
    word_limits: Ints
    word_hash: NDArray[np.uint64]
    grapheme_inside: NDArray[np.uint8]
    numbers: Spans
    digits: Cuts
    surrogates: NDArray[np.bool_]
    code: dict[str, Spans] = field(default_factory=dict)
    identifier_cuts: Cuts | None = None
    syntax: Spans | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_bytes(self) -> int:
        """Bytes of UTF-8 in the batch."""
        return int(self.counts["bytes"].sum())

    @property
    def counts(self) -> dict[str, Ints]:
        """The counts by name of `TEXT_COUNTERS`: the columns of `rows`."""
        return dict(zip(TEXT_COUNTERS, self.rows.T, strict=True))


def prepare(
    documents: Iterable[Document], *, facts: CorpusFacts | None = None, batch_bytes: int = BATCH_BYTES
) -> Iterator[TextBatch]:
    """Cut `documents` into batches of about `batch_bytes` of UTF-8 and count their text.

    What it yields can be given to `collect` for one tokenizer after another.

    Example:
        >>> [batch] = prepare([Document("Two words."), Document("")])
        >>> batch.counts["words"].tolist(), batch.counts["bytes"].tolist()
        ([2, 0], [10, 0])
    """
    facts = facts or CorpusFacts()
    waiting: list[Document] = []
    size = 0
    for document in documents:
        waiting.append(document)
        size += len(document.text) if document.text.isascii() else 2 * len(document.text)
        if size >= batch_bytes:
            yield read_batch(waiting, facts)
            waiting, size = [], 0
    if waiting:
        yield read_batch(waiting, facts)


def document_keys(
    documents: Sequence[Document], encoded: Sequence[bytes], facts: CorpusFacts
) -> tuple[NDArray[np.uint32], Ints]:
    """A 32-bit key of each document and its bootstrap group.

    The key is a hash of the text: its crc32, mixed (MurmurHash3's finaliser), since a checksum alone is
    linear and leaves similar texts in patterns. In a parallel dataset both follow the line, so that
    replicates pair across languages, and up to 1,024 lines have a group each.
    """
    import numpy as np

    lines = [document.line if facts.parallel else None for document in documents]
    sources = (text if line is None else b"%d" % line for line, text in zip(lines, encoded, strict=True))
    keys = np.fromiter(map(zlib.crc32, sources), np.uint32, len(lines))
    keys ^= keys >> np.uint32(16)
    keys *= np.uint32(0x85EBCA6B)
    keys ^= keys >> np.uint32(13)
    keys *= np.uint32(0xC2B2AE35)
    keys ^= keys >> np.uint32(16)
    groups = keys.astype(np.int64) % GROUPS
    if facts.parallel:
        groups = np.array([g if n is None else n % GROUPS for n, g in zip(lines, groups.tolist(), strict=True)])
    return keys, groups


def read_batch(documents: Sequence[Document], facts: CorpusFacts) -> TextBatch:
    """Count the text of `documents`."""
    import numpy as np

    from tokbench.tally.compiling import padded
    from tokbench.tally.scan import COLUMNS
    from tokbench.tally.words import find_words, scanned

    texts = [document.text for document in documents]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    data = padded(b"\n".join([*encoded, b""]))
    lengths = np.fromiter(map(len, encoded), np.int64, len(texts))
    ends = np.cumsum(lengths + 1) - 1
    starts = ends - lengths
    keys, groups = document_keys(documents, encoded, facts)
    found = scanned(data, starts, ends)
    words = find_words(documents, data, starts, ends, found, facts)
    numbers = found.numbers
    digits = _digits(data, numbers)
    counts = {
        "documents": 1,
        "bytes": lengths,
        **dict(zip(COLUMNS, found.counts.T, strict=True)),
        "words": np.diff(words.limits),
        "gold_words": words.gold,
        "unspaced_words": words.unspaced,
        "numbers": np.bincount(numbers.document, minlength=len(texts)),
        "digit_gold": np.bincount(digits.document[digits.gold], minlength=len(texts)),
    }
    batch = TextBatch(
        texts=texts,
        keys=keys,
        groups=groups,
        data=data,
        starts=starts,
        ends=ends,
        rows=rows_of(TEXT_COUNTERS, counts, len(texts)),
        words=words.spans,
        word_limits=words.limits,
        word_hash=words.hashes,
        grapheme_inside=found.inside,
        numbers=numbers,
        digits=digits,
        surrogates=_with_surrogates(data, starts),
    )
    if facts.kind == "code":
        from tokbench.tally.code import with_code

        return with_code(batch, encoded, facts)
    return batch


def rows_of(names: Iterable[str], counts: Mapping[str, int | Ints], n: int) -> Ints:
    """Counts of `n` documents as a table, int64 of shape ``(n, names)``; those without counts are 0."""
    import numpy as np

    columns = list(names)
    rows = np.zeros((n, len(columns)), np.int64)
    for index, name in enumerate(columns):
        if name in counts:
            rows[:, index] = counts[name]
    return rows


def _with_surrogates(data: NDArray[np.uint8], starts: Ints) -> NDArray[np.bool_]:
    """Which documents hold lone surrogates: bytes ED A0 … ED BF."""
    import numpy as np

    found: NDArray[np.bool_] = np.zeros(len(starts), np.bool_)
    where = np.flatnonzero(data[:-1] == 0xED)
    where = where[data[where + 1] >= 0xA0]
    found[np.searchsorted(starts, where, side="right") - 1] = True
    return found


def _digits(data: NDArray[np.uint8], numbers: Spans) -> Cuts:
    """Every place inside a run of digits, with whether a group of three ends there."""
    import numpy as np

    sizes = numbers.end - numbers.start
    number = np.repeat(np.arange(len(sizes)), sizes)
    at = np.arange(len(number)) + np.repeat(numbers.start - np.cumsum(sizes) + sizes, sizes)
    first = (data[at] & 0xC0) != 0x80
    number, at = number[first], at[first]
    digits = np.bincount(number, minlength=len(sizes))
    left = np.repeat(np.cumsum(digits), digits) - np.arange(len(at))
    inner = left < digits[number]
    return Cuts(at[inner], numbers.document[number[inner]], left[inner] % 3 == 0)
