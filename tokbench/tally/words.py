"""The words of a batch: segments of UAX #29, or those that the corpus marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.corpus import Document
from tokbench.errors import CorpusError
from tokbench.kernels.pointers import PADDING
from tokbench.tally.characters import characters
from tokbench.tally.documents import kinds_of
from tokbench.tally.facts import CorpusFacts
from tokbench.tally.marks import mark_words
from tokbench.tally.scan import COLUMNS, scan
from tokbench.tally.segments import grapheme_machine, word_machine
from tokbench.tally.text import Spans, WordSpans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Offsets = NDArray[np.integer[Any]]

LEARNT = 1 << 15
"""Bytes whose characters are looked up where one of them is new; the rest often has no other new one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """What one pass over the bytes of a batch finds; see `tokbench.tally.scan.scan`."""

    counts: Ints
    words: WordSpans
    marks: NDArray[np.uint8]
    numbers: Spans
    number_limits: Ints


class Room:
    """What is kept from batch to batch of a text: where `scan` writes spans, and the `block` that goes on.

    To touch fresh memory takes as long as the pass. The block is the group of the last document, where
    documents follow one another.
    """

    __slots__ = ("_arrays", "block")

    def __init__(self) -> None:
        self._arrays: list[Offsets] = []
        self.block: int | None = None

    def of(self, size: int) -> list[Offsets]:
        """Four arrays for as many words or numbers as bytes, and 64, since up to 64 are written at a time."""
        place: Any = np.int32 if size < 1 << 31 else np.int64
        if not self._arrays or len(self._arrays[0]) < size + 64 or self._arrays[0].dtype != place:
            self._arrays.clear()
            enough = size + size // 4 + 64  # batches are of about the same size
            self._arrays += [np.empty(enough, place) for _ in range(4)]
        return self._arrays


def scanned(data: NDArray[np.uint8], starts: Ints, ends: Ints, room: Room) -> Scanned:
    """Segments, clusters, numbers and characters of documents; `data` is followed by padding."""
    n, size = len(starts), len(data)
    counts = np.zeros((len(COLUMNS), n), np.int64)
    marks = np.empty(size + PADDING, np.uint8)
    word_start, word_end, number_start, number_end = room.of(size)
    word_limits, number_limits = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    sums = np.zeros(len(COLUMNS), np.int64)
    tables = characters()
    read = 0
    while True:
        read = scan(
            data,
            starts,
            ends,
            tables.properties,
            word_machine(),
            grapheme_machine(),
            counts,
            word_start,
            word_end,
            word_limits,
            marks,
            number_start,
            number_end,
            number_limits,
            sums,
            read,
        )
        if read == n:
            break
        last = max(read, int(np.searchsorted(ends, starts[read] + LEARNT)) - 1)
        tables.know(_code_points(data[starts[read] : ends[last]]))

    def spans(start: Offsets, end: Offsets, limits: Ints) -> WordSpans:
        found = int(limits[-1])
        return WordSpans(start[:found].copy(), end[:found].copy(), limits)

    numbers = spans(number_start, number_end, number_limits).located()
    return Scanned(counts, spans(word_start, word_end, word_limits), marks, numbers, number_limits)


def _code_points(data: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The characters of a text that are not in ASCII."""
    text = data[data >= 0x80].tobytes().decode("utf-8", "surrogatepass")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words in order, and counts by document."""

    spans: WordSpans
    gold: Ints
    unspaced: Ints


def find_words(
    documents: Sequence[Document] | None,
    data: NDArray[np.uint8],
    starts: Ints,
    ends: Ints,
    found: Scanned,
    facts: CorpusFacts,
) -> Words:
    """The words of `documents`: gold ones where they have them, else the segments that were `found`."""
    n = len(starts)
    words, gold = found.words, np.zeros(n, np.int64)
    unspaced = found.counts[COLUMNS.index("unspaced_words")]
    marked = np.zeros(n, np.bool_)
    if documents is not None and facts.word_unit != "segments":
        marked[:] = [document.words is not None for document in documents]
    if documents is not None and marked.any():
        spans = _with_gold(documents, marked, data, starts, ends, words.located())
        wordy, foreign = np.empty(len(spans), np.bool_), np.empty(len(spans), np.bool_)
        kinds_of(data, spans.start, spans.end, characters().properties, wordy, foreign)
        owner = spans.document[wordy]  # a word has a letter or a number in it
        limits = np.append(0, np.cumsum(np.bincount(owner, minlength=n)))
        words = WordSpans(spans.start[wordy], spans.end[wordy], limits)
        mark_words(found.marks, words.start, words.end)
        gold = np.diff(limits) * marked
        unspaced = np.bincount(owner[foreign[wordy]], minlength=n)
    return Words(words, gold, unspaced)


def _with_gold(
    documents: Sequence[Document],
    marked: NDArray[np.bool_],
    data: NDArray[np.uint8],
    starts: Ints,
    ends: Ints,
    segments: Spans,
) -> Spans:
    """The segments of documents that are not `marked`, and the words that the others carry."""
    keep = ~marked[segments.document]
    parts = [(segments.start[keep], segments.end[keep], segments.document[keep])]
    for index in np.flatnonzero(marked).tolist():
        pairs = np.array(list(_checked(documents[index])), np.int64).reshape(-1, 2)
        own = data[starts[index] : ends[index]]
        byte_of = np.append(np.flatnonzero((own & 0xC0) != 0x80), len(own)) + starts[index]
        parts.append((byte_of[pairs[:, 0]], byte_of[pairs[:, 1]], np.full(len(pairs), index)))
    start, end, document = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(start, kind="stable")
    place = segments.start.dtype
    return Spans(start[order].astype(place), end[order].astype(place), document[order])


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
