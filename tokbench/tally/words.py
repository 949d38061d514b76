"""The words of a batch: segments of UAX #29, or those that the corpus marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.corpus import Document
from tokbench.errors import CorpusError
from tokbench.kernels.pointers import PADDING
from tokbench.tally.characters import KIND_SHIFT, Kind, characters
from tokbench.tally.marks import mark_words
from tokbench.tally.plain import COLUMNS, Found
from tokbench.tally.scan import Rules, scan
from tokbench.tally.segments import grapheme_machine, word_machine
from tokbench.tally.text import CorpusFacts, DocumentSpans, Spans, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Offsets = NDArray[np.integer[Any]]

LEARNT = 1 << 15
"""Bytes whose characters are looked up where one of them is new; the rest often has no other new one."""


def scanned(texts: Texts) -> Found:
    """Segments, clusters, numbers and characters of documents; their bytes are followed by padding."""
    n, size = len(texts.starts), len(texts.data)
    place: Any = np.int32 if size < 1 << 31 else np.int64

    def room() -> DocumentSpans:
        """For as many words or numbers as bytes, and 64, since up to 64 are written at a time."""
        limits = np.zeros(n + 1, np.int64)
        return DocumentSpans(np.empty(size + 64, place), np.empty(size + 64, place), limits)

    counts, sums = np.zeros((len(COLUMNS), n), np.int64), np.zeros(len(COLUMNS), np.int64)
    found = Found(counts, sums, np.empty(size + PADDING, np.uint8), room(), room())
    tables = characters()
    rules = Rules(tables.properties, word_machine(), grapheme_machine())
    read = 0
    while (read := scan(texts, rules, found, read)) < n:
        last = max(read, int(np.searchsorted(texts.ends, texts.starts[read] + LEARNT)) - 1)
        tables.know(_code_points(texts.data[texts.starts[read] : texts.ends[last]]))

    def filled(spans: DocumentSpans) -> DocumentSpans:
        n_found = int(spans.limits[-1])
        return DocumentSpans(spans.start[:n_found].copy(), spans.end[:n_found].copy(), spans.limits)

    return found._replace(words=filled(found.words), numbers=filled(found.numbers))


def _code_points(data: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The code points of a text."""
    text = data.tobytes().decode("utf-8", "surrogatepass")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words in order, and counts by document."""

    spans: DocumentSpans
    gold: Ints
    unspaced: Ints


def find_words(documents: Sequence[Document], texts: Texts, found: Found, facts: CorpusFacts) -> Words:
    """The words of `documents`: gold ones where they have them, else the segments that were `found`."""
    n = len(texts.starts)
    words, gold = found.words, np.zeros(n, np.int64)
    unspaced = found.counts[COLUMNS.index("unspaced_words")]
    marked = np.zeros(n, np.bool_)
    if documents and facts.word_unit != "segments":
        marked[:] = [document.words is not None for document in documents]
    if marked.any():
        spans = _with_gold(documents, marked, texts, words.located())
        wordy, foreign = _kinds(texts.data, spans)
        owner = spans.document[wordy]  # a word has a letter or a number in it
        limits = np.append(0, np.cumsum(np.bincount(owner, minlength=n)))
        words = DocumentSpans(spans.start[wordy], spans.end[wordy], limits)
        mark_words(found.marks, words.start, words.end)
        gold = np.diff(limits) * marked
        unspaced = np.bincount(owner[foreign[wordy]], minlength=n)
    return Words(words, gold, unspaced)


def _with_gold(
    documents: Sequence[Document], marked: NDArray[np.bool_], texts: Texts, segments: Spans
) -> Spans:
    """The segments of documents that are not `marked`, and the words that the others carry."""
    keep = ~marked[segments.document]
    parts = [(segments.start[keep], segments.end[keep], segments.document[keep])]
    for index in np.flatnonzero(marked).tolist():
        pairs = np.array(list(_checked(documents[index])), np.int64).reshape(-1, 2)
        own = texts.data[texts.starts[index] : texts.ends[index]]
        byte_of = np.append(np.flatnonzero((own & 0xC0) != 0x80), len(own)) + texts.starts[index]
        parts.append((byte_of[pairs[:, 0]], byte_of[pairs[:, 1]], np.full(len(pairs), index)))
    start, end, document = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(start, kind="stable")
    place = segments.start.dtype
    return Spans(start[order].astype(place), end[order].astype(place), document[order])


def _kinds(data: NDArray[np.uint8], spans: Spans) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each span: whether it has a letter or number, and whether it begins in a script without spaces."""
    kinds = characters().properties[_code_points(data)] >> KIND_SHIFT
    begins = np.flatnonzero((data & 0xC0) != 0x80)
    first, last = np.searchsorted(begins, spans.start), np.searchsorted(begins, spans.end)
    before = np.append(0, np.cumsum(kinds & Kind.WORD != 0))
    return before[last] > before[first], kinds[first] & Kind.UNSPACED != 0


def _checked(document: Document) -> Iterator[tuple[int, int]]:
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
