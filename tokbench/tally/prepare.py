"""Makes batches of documents and counts their text: what `tokbench.tally.collect` does before any tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.corpus import Document, TextBlock, gathered
from tokbench.errors import CorpusError
from tokbench.kernels.pointers import padded
from tokbench.tally.characters import KIND_SHIFT, CharacterKind, characters
from tokbench.tally.code import with_code
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.grouping import Grouping, document_keys
from tokbench.tally.marks import mark_words
from tokbench.tally.plain import COLUMNS, Found
from tokbench.tally.scan import code_points, scanned
from tokbench.tally.text import BATCH_BYTES, Flags, InnerCuts, Spans, TextBatch, Texts

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Bytes, Ints

YEARS, YEAR_DIGITS = range(1000, 2100), 4
"""Numbers that nobody writes in groups of three digits: runs of so many digits that may be years."""


def prepare(
    documents: Iterable[Document] | Iterable[TextBlock] | Iterable[TextBatch],
    *,
    facts: CorpusFacts | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[TextBatch]:
    """Cut `documents`, one by one or in blocks, into batches of about `batch_bytes` and count their text.

    What it yields can be given to `collect` for one tokenizer after another: batches are passed on as they are.

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
    every, grouping = chain([first], iterator), Grouping(facts)  # all of them are of the kind of the first
    if isinstance(first, TextBatch):
        yield from every
    elif isinstance(first, TextBlock):
        for block in resized(every, batch_bytes):
            yield read_batch(block, facts, grouping)
    else:
        for some in gathered(every, _size, batch_bytes):
            yield read_batch(TextBlock.of([document.text for document in some]), facts, grouping, some)


def read_batch(
    block: TextBlock, facts: CorpusFacts, grouping: Grouping, documents: Sequence[Document] = ()
) -> TextBatch:
    """Count the text of `block`; `documents` are the same, for the lines, clusters and words they carry."""
    data, ends, n = padded(block.data), block.ends, len(block)
    starts = np.append(0, ends[:-1] + 1)[:n]
    lengths = ends - starts
    lines = [document.line for document in documents] if facts.parallel else []
    keys = document_keys(data, starts, ends, lines)
    texts = Texts(data, starts, ends)
    found = scanned(texts)
    words, gold, unspaced = find_words(documents, texts, found, facts)
    digits = _digits(data, found.numbers)
    counts = dict(zip(COLUMNS, found.counts, strict=True))
    surrogates = counts.pop("surrogates") > 0
    counts |= {
        "documents": np.ones(n, np.int64),
        "bytes": lengths,
        "words": words.counts,
        "gold_words": gold,
        "unspaced_words": unspaced,
        "numbers": found.numbers.counts,
        "digit_gold": np.bincount(digits.document[digits.gold], minlength=n),
    }
    batch = TextBatch(
        keys=keys,
        groups=grouping.of(keys, documents),
        data=data,
        starts=starts,
        ends=ends,
        counts=counts,
        words=words,
        marks=found.marks,
        surrogates=surrogates,
        spans={"numbers": found.numbers},
        cuts={"digit": digits},
    )
    if facts.kind == "code":
        return with_code(batch, facts)
    return batch


def find_words(
    documents: Sequence[Document], texts: Texts, found: Found, facts: CorpusFacts
) -> tuple[Spans, Ints, Ints]:
    """The words of `documents`: gold ones where they have them, else the segments that were `found`.

    Given too, by document, are how many are gold, and how many begin in a script without spaces.
    """
    n = len(texts.starts)
    words, gold = found.words, np.zeros(n, np.int64)
    unspaced = found.counts[COLUMNS.index("unspaced_words")]
    marked = np.zeros(n, np.bool_)
    if documents and facts.word_unit != "segments":
        marked[:] = [document.words is not None for document in documents]
    if marked.any():
        spans = _with_gold(documents, marked, texts, words)
        wordy, foreign = _kinds(texts.data, spans)  # a word has a letter or a number in it
        words = spans.some(wordy)
        mark_words(found.marks, words.start, words.end)
        gold = words.counts * marked
        unspaced = words.sums(foreign[wordy])
    return words, gold, unspaced


def _with_gold(documents: Sequence[Document], marked: Flags, texts: Texts, segments: Spans) -> Spans:
    """The segments of documents that are not `marked`, and the words that the others carry."""
    starts, ends = (np.split(places, segments.limits[1:-1]) for places in (segments.start, segments.end))
    for index in np.flatnonzero(marked).tolist():
        pairs = np.array(list(gold_words(documents[index])), np.int64).reshape(-1, 2)
        own = texts.data[texts.starts[index] : texts.ends[index]]
        byte_of = np.append(np.flatnonzero((own & 0xC0) != 0x80), len(own)) + texts.starts[index]
        starts[index], ends[index] = byte_of[pairs[:, 0]], byte_of[pairs[:, 1]]
    place = segments.start.dtype
    limits = np.cumsum([0, *map(len, starts)])
    return Spans(np.concatenate(starts).astype(place), np.concatenate(ends).astype(place), limits)


def _kinds(data: Bytes, spans: Spans) -> tuple[Flags, Flags]:
    """Of each span: whether it has a letter or number, and whether it begins in a script without spaces."""
    kinds = characters().properties[code_points(data)] >> KIND_SHIFT
    begins = np.flatnonzero((data & 0xC0) != 0x80)
    first, last = np.searchsorted(begins, spans.start), np.searchsorted(begins, spans.end)
    before = np.append(0, np.cumsum(kinds & CharacterKind.WORD != 0))
    return before[last] > before[first], kinds[first] & CharacterKind.UNSPACED != 0


def gold_words(document: Document) -> Iterator[tuple[int, int]]:
    """The words that a document carries; raises `CorpusError` where they do not lie in its text, in order."""
    last = 0
    for start, end in document.words or ():
        if not last <= start < end <= len(document.text):
            raise CorpusError(
                f"gold words must be (start, end) pairs inside the text, in order and without overlap; "
                f"({start}, {end}) after {last} in a text of {len(document.text)} characters: "
                f"{document.text[:60]!r}"
            )
        last = end
        yield start, end


def _digits(data: Bytes, numbers: Spans) -> InnerCuts:
    """Every place inside a run of digits, with whether a group of three ends there; years have no groups."""
    sizes = numbers.end - numbers.start
    number = np.repeat(np.arange(len(sizes)), sizes)
    at = np.arange(len(number)) + np.repeat(numbers.start - np.cumsum(sizes) + sizes, sizes)
    first = (data[at] & 0xC0) != 0x80
    digits = np.bincount(number[first], minlength=len(sizes))
    # how many digits begin at or after each byte, up to the end of its number
    left = np.cumsum(digits)[number] - np.cumsum(first) + first
    inner = (at > numbers.start[number]) & ~_years(data, numbers, digits)[number]
    return InnerCuts(at[inner], numbers.document[number[inner]], (first & (left % 3 == 0))[inner])


def _years(data: Bytes, numbers: Spans, digits: Ints) -> Flags:
    """Which numbers may be years: 1000 to 2099, in digits of any script."""
    years = np.zeros(len(digits), np.bool_)
    for index in np.flatnonzero(digits == YEAR_DIGITS).tolist():
        text = data[numbers.start[index] : numbers.end[index]].tobytes().decode()
        years[index] = int(text) in YEARS
    return years


def _size(document: Document) -> int:
    """About how many bytes a document has."""
    return len(document.text) if document.text.isascii() else 2 * len(document.text)


def resized(blocks: Iterable[TextBlock], batch_bytes: int) -> Iterator[TextBlock]:
    r"""The documents of `blocks` in blocks of about `batch_bytes`, small ones joined and large ones cut.

    Example:
        >>> some = [TextBlock.of(["a"]), TextBlock.of(["b", "c", "d"]), TextBlock.of(["e"])]
        >>> [block.data for block in resized(some, 4)]
        [b'a\nb\n', b'c\nd\n', b'e\n']
    """
    for some in gathered(blocks, lambda block: len(block.data), batch_bytes):
        yield from _cut(_joined(some), batch_bytes)


def _joined(blocks: Sequence[TextBlock]) -> TextBlock:
    if len(blocks) == 1:
        return blocks[0]
    sizes = np.cumsum([0, *(len(block.data) for block in blocks)])
    ends = np.concatenate([block.ends + size for block, size in zip(blocks, sizes, strict=False)])
    return TextBlock(b"".join(block.data for block in blocks), ends)


def _cut(block: TextBlock, size: int) -> Iterator[TextBlock]:
    """Parts of about the same size each."""
    total = len(block.data)
    parts = max(1, round(total / size))
    cuts = np.searchsorted(block.ends, total * np.arange(1, parts) // parts)
    first = begin = 0
    for last in [*cuts.tolist(), len(block)]:
        if last > first:
            end = int(block.ends[last - 1]) + 1
            yield TextBlock(block.data[begin:end], block.ends[first:last] - begin)
            first, begin = last, end
