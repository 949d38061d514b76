"""What is to be counted in a batch of documents whatever the tokenizer, computed once and shared.

The documents of a batch are joined by line feeds into one array of bytes; words, numbers and the rest are
spans of that array. Every count is an array over the batch's documents. Strings are made of it only when a
tokenizer asks for them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from tokbench.corpus import Document, TextBlock
from tokbench.tally.batching import batched, batched_documents
from tokbench.tally.counters import TEXT_COUNTERS
from tokbench.tally.facts import CorpusFacts
from tokbench.tally.keys import document_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.tally.words import Room

    Ints = NDArray[np.int64]
    Offsets = NDArray[np.integer[Any]]

BATCH_BYTES = 1 << 20
"""Text in a batch, little enough to take no memory to speak of. Going back and forth between encoding and
counting more often makes both slower, since each has its own tables in the processor's caches; with twice as
much, tiktoken and counting take 2 to 3 % less together, but workers with in-house BPE more than 400 MB."""
PIECE_BYTES = 1 << 15
"""Text made into strings at a time, which stays in the nearest cache until it is cut."""

YEARS, YEAR_DIGITS = range(1000, 2100), 4
"""Numbers that nobody writes in groups of three digits: runs of so many digits that may be years."""

BLOCK_DOCUMENTS = 32
"""Documents of a block, on average, where they follow one another: a page or so of lines."""
BUCKETS = 40
"""Classes of document length: bucket b holds documents of 2^(b-1) to 2^b − 1 bytes, bucket 0 empty ones."""
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
class WordSpans:
    """The words of a batch in order: `start` and `end` as in `Spans`, so many that documents are not named.

    Those of document i are from ``limits[i]`` to ``limits[i + 1]``.
    """

    start: Offsets
    end: Offsets
    limits: Ints

    def __len__(self) -> int:
        return len(self.start)

    def located(self) -> Spans:
        """The same with the document of each."""
        import numpy as np

        return Spans(self.start, self.end, np.repeat(np.arange(len(self.limits) - 1), np.diff(self.limits)))


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Places inside things where a boundary may fall: the byte, the document, and whether one should."""

    at: Ints
    document: Ints
    gold: NDArray[np.bool_]


class Texts(NamedTuple):
    """The documents of a batch as kernels take them: document i is ``data[starts[i]:ends[i]]``."""

    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Some documents, with everything that does not depend on a tokenizer counted.

    `data` is the UTF-8 of the texts (uint8), a line feed after each; document i is ``data[starts[i]:ends[i]]``.
    `keys` is the hash (uint32) that places each document in a bootstrap group and in the samples. `counts` has
    those of `TEXT_COUNTERS` that apply, int64 ``(documents,)`` each. `marks` (uint8, with
    padding) says of every byte what `tokbench.tally.marks` lists; `surrogates` which documents hold lone
    surrogates: no decoder gives them back.
    """

    keys: NDArray[np.uint32]
    groups: Ints
    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints
    counts: Mapping[str, Ints]
    words: WordSpans
    marks: NDArray[np.uint8]
    numbers: Spans
    digits: Cuts
    surrogates: NDArray[np.bool_]
    code: dict[str, Spans] = field(default_factory=dict)
    identifier_cuts: Cuts | None = None
    syntax: Spans | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def arrays(self) -> Texts:
        """The documents as kernels take them."""
        return Texts(self.data, self.starts, self.ends)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The documents as strings."""
        import numpy as np

        cuts = np.searchsorted(self.ends, np.arange(0, len(self.data), PIECE_BYTES))
        texts: list[str] = []
        whole: Any = self.data.data
        for first, last in pairwise([*np.unique(cuts).tolist(), len(self)]):
            starts, ends = self.starts[first:last], self.ends[first:last]
            some = str(whole[starts[0] : ends[-1]], "utf-8", "surrogatepass").split("\n")
            if len(some) != last - first:  # documents have line feeds of their own
                limits = zip(starts.tolist(), ends.tolist(), strict=True)
                some = [str(whole[start:end], "utf-8", "surrogatepass") for start, end in limits]
            texts += some
        return texts

    def text(self, document: int) -> str:
        """One document as a string."""
        if "texts" in self.__dict__:
            return self.texts[document]
        own = self.data[self.starts[document] : self.ends[document]]
        return own.tobytes().decode("utf-8", "surrogatepass")

    def end_to_end(self) -> tuple[NDArray[np.uint8], Ints]:
        """The documents without the line feeds between them, with padding, and where each begins and ends."""
        import numpy as np

        from tokbench.kernels.pointers import PADDING
        from tokbench.tally.documents import close_up

        offsets = np.append(0, np.cumsum(self.ends - self.starts))
        whole = np.empty(int(offsets[-1]) + PADDING, np.uint8)
        close_up(self.data, self.starts, self.ends, whole)
        whole[offsets[-1] :] = 0
        whole.flags.writeable = False
        return whole[: offsets[-1]], offsets

    @cached_property
    def sums(self) -> Ints:
        """The sums of `counts` by group, as a tally holds them: ``(len(TEXT_COUNTERS), GROUPS)``."""
        import numpy as np

        from tokbench.tally.documents import add_column

        sums = np.zeros((len(TEXT_COUNTERS), GROUPS), np.int64)
        for own, name in zip(sums, TEXT_COUNTERS, strict=True):
            if name in self.counts:
                add_column(own, self.groups, self.counts[name])
        return sums

    @cached_property
    def buckets(self) -> Ints:
        """The class of length of each document: how many bits the number of its bytes has, at most."""
        import numpy as np

        return np.frexp(self.counts["bytes"].astype(np.float64))[1].astype(np.int64).clip(max=BUCKETS - 1)

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of UTF-8 in the batch."""
        return int(self.counts["bytes"].sum())


def prepare(
    documents: Iterable[Document] | Iterable[TextBlock],
    *,
    facts: CorpusFacts | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[TextBatch]:
    """Cut `documents`, one by one or in blocks, into batches of about `batch_bytes` and count their text.

    What it yields can be given to `collect` for one tokenizer after another.

    Example:
        >>> [batch] = prepare([Document("Two words."), Document("")])
        >>> batch.counts["words"].tolist(), batch.counts["bytes"].tolist()
        ([2, 0], [10, 0])
    """
    facts = facts or CorpusFacts()
    iterator: Iterator[Any] = iter(documents)
    first = next(iterator, None)
    if first is None:
        return
    from tokbench.tally.words import Room

    room = Room()
    if isinstance(first, TextBlock):
        for block in batched(chain([first], iterator), batch_bytes):
            yield read_batch(block, facts, room)
    else:
        for some in batched_documents(chain([first], iterator), batch_bytes):
            yield read_batch(TextBlock.of([document.text for document in some]), facts, room, some)


def read_batch(
    block: TextBlock, facts: CorpusFacts, room: Room, documents: Sequence[Document] | None = None
) -> TextBatch:
    """Count the text of `block`; `documents` are the same, where they have lines and words of their own."""
    import numpy as np

    from tokbench.kernels.pointers import padded
    from tokbench.tally.scan import COLUMNS
    from tokbench.tally.words import find_words, scanned

    data, ends, n = padded(block.data), block.ends, len(block)
    starts = np.append(0, ends[:-1] + 1)[:n]
    lengths = ends - starts
    lines = [document.line for document in documents or ()] if facts.parallel else []
    keys = document_keys(data, starts, ends, lines)
    found = scanned(data, starts, ends, room)
    words = find_words(documents, data, starts, ends, found, facts)
    numbers = found.numbers
    digits = _digits(data, numbers)
    counts = dict(zip(COLUMNS, found.counts, strict=True))
    surrogates = counts.pop("surrogates") > 0
    counts |= {
        "documents": np.ones(n, np.int64),
        "bytes": lengths,
        "words": np.diff(words.spans.limits),
        "gold_words": words.gold,
        "unspaced_words": words.unspaced,
        "numbers": found.number_limits[1:] - found.number_limits[:-1],
        "digit_gold": np.bincount(digits.document[digits.gold], minlength=n),
    }
    batch = TextBatch(
        keys=keys,
        groups=_groups(keys, documents, facts, room),
        data=data,
        starts=starts,
        ends=ends,
        counts=counts,
        words=words.spans,
        marks=found.marks,
        numbers=numbers,
        digits=digits,
        surrogates=surrogates,
    )
    if facts.kind == "code":
        from tokbench.tally.code import with_code

        return with_code(batch, facts)
    return batch


def _groups(
    keys: NDArray[np.uint32], documents: Sequence[Document] | None, facts: CorpusFacts, room: Room
) -> Ints:
    """The bootstrap group of each document: by its line in a parallel dataset, by its cluster, by its block.

    So replicates pair across languages, and up to 1,024 lines have a group each. Where documents follow one
    another in a text, one in `BLOCK_DOCUMENTS` begins a block, whichever its key says, and those up to the next
    are in its group. All others have a group by their own key.
    """
    import numpy as np

    groups = keys.astype(np.int64) % GROUPS
    if facts.consecutive and len(groups):
        begins = (keys >> np.uint32(10)) % BLOCK_DOCUMENTS == 0  # other bits than those of the group
        begins[0] |= room.block is None
        last = np.maximum.accumulate(np.where(begins, np.arange(len(groups)), -1))
        groups = np.where(last < 0, room.block or 0, groups[last])
        room.block = int(groups[-1])
    for index, document in enumerate(documents or ()):
        if facts.parallel and document.line is not None:
            groups[index] = document.line % GROUPS
        elif document.cluster is not None:
            groups[index] = zlib.crc32(document.cluster.encode("utf-8", "surrogatepass")) % GROUPS
    return groups


def _digits(data: NDArray[np.uint8], numbers: Spans) -> Cuts:
    """Every place inside a run of digits, with whether a group of three ends there; years have no groups."""
    import numpy as np

    sizes = numbers.end - numbers.start
    number = np.repeat(np.arange(len(sizes)), sizes)
    at = np.arange(len(number)) + np.repeat(numbers.start - np.cumsum(sizes) + sizes, sizes)
    first = (data[at] & 0xC0) != 0x80
    digits = np.bincount(number[first], minlength=len(sizes))
    # the digits from each byte's on to the end of its number; the bytes behind a digit's first count it no more
    left = np.cumsum(digits)[number] - np.cumsum(first) + first
    inner = (at > numbers.start[number]) & ~_years(data, numbers, digits)[number]
    return Cuts(at[inner], numbers.document[number[inner]], (first & (left % 3 == 0))[inner])


def _years(data: NDArray[np.uint8], numbers: Spans, digits: Ints) -> NDArray[np.bool_]:
    """Which numbers may be years: 1000 to 2099, in digits of any script."""
    import numpy as np

    years = np.zeros(len(numbers), np.bool_)
    for index in np.flatnonzero(digits == YEAR_DIGITS).tolist():
        text = data[numbers.start[index] : numbers.end[index]].tobytes().decode()
        years[index] = int(text) in YEARS
    return years
