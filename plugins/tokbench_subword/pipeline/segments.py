"""A batch of texts on its way to the model: stretches of text, and the added tokens found between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import PADDING, i64_in, keep, pointer, u8_in
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.cutters import Cutter
from tokbench_subword.pipeline.cutting import SPARE, cut_some
from tokbench_subword.pipeline.splicing import (
    CAPACITY,
    MOST_TEXTS,
    N_TEXTS,
    NUMBERS,
    OFFSETS,
    OUT,
    OUT_OFFSETS,
    TOO_SMALL,
    Writer,
    Written,
    copy_span,
    finished,
    rewritten,
    splice,
)

TEXT = -1
"""The mark of a segment that is text; that of an added token is its id."""
_PIECES = 64
"""Pieces that are cut at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Text in UTF-8, in segments that lie end to end: segment s is ``data[offsets[s]:offsets[s + 1]]``.

    `marks` (int32) says which segments are added tokens, whose text is no longer there; without it all are
    text. `documents` (int64) says how many segments there are up to the end of each document; without it each
    segment is one. `leading` (int64), where anything asks for it, is how many bytes of each segment stand where
    its document begins: as `Stretch.leading`, which counts characters. Behind the last segment, `data` has
    `PADDING` bytes that may be read.

    Example:
        >>> segments = Segments.of([b"ab", b""])
        >>> segments.offsets.tolist()
        [0, 2, 2]
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    marks: NDArray[np.int32] | None = None
    documents: NDArray[np.int64] | None = None
    leading: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, texts: list[bytes]) -> Segments:
        """Texts, each a document of one segment."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        # not bytes, arrays of which are read-only: kernels would be compiled once more for these
        return cls(np.frombuffer(bytearray().join([*texts, bytes(PADDING)]), np.uint8), offsets)

    def split(self, matcher: AddedMatcher | None) -> Segments:
        """The segments with the added tokens found in them as segments of their own."""
        found = matcher.find(self.data, self.offsets) if matcher else ()
        if not found:
            return self
        n_segments, n_documents = len(self.offsets) - 1, self.n_documents
        count = n_segments + 2 * len(found)
        data = np.zeros(int(self.offsets[-1] - self.offsets[0]) + PADDING, np.uint8)
        offsets, marks = np.zeros(count + 1, np.int64), np.full(count, TEXT, np.int32)
        documents = np.arange(n_documents + 1) if self.documents is None else self.documents
        before = np.full(n_segments, TEXT, np.int32) if self.marks is None else self.marks
        reached, begins = np.zeros(n_segments + 1, np.int64), np.zeros(count, np.int64)
        places = np.stack([found.starts, found.ends], axis=1)
        _split((self.data, self.offsets, before), places, found.ids, (data, offsets, marks, reached, begins))
        leading = self._leading_of_parts(reached, begins, offsets)
        return Segments(data, offsets, marks, reached[documents], leading)

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.offsets if self.documents is None else self.documents) - 1

    def pieces(self, cutters: Sequence[Cutter]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begin and end of the pieces that each cutter makes of those of the one before, int64 ``(n, 2)``; and
        how many there are up to each segment.
        """
        units = np.ascontiguousarray(np.stack([self.offsets[:-1], self.offsets[1:]], axis=1))
        before = np.arange(len(self.offsets))
        for cutter in cutters:
            units, counts = cutter.cut(self.data, units)
            before = counts[before]
        return units, before

    def cut(self, units: NDArray[np.int64], before: NDArray[np.int64]) -> Segments:
        """The segments with `pieces` in the place of each text."""
        marks = np.full(len(before) - 1, TEXT, np.int32) if self.marks is None else self.marks
        count = len(units) + int(np.count_nonzero(marks != TEXT))
        data = np.zeros(int((units[:, 1] - units[:, 0]).sum()) + PADDING, np.uint8)
        offsets, new_marks = np.zeros(count + 1, np.int64), np.full(count, TEXT, np.int32)
        reached, begins = np.zeros(len(before), np.int64), np.zeros(count, np.int64)
        _into_pieces(self.data, units, before, marks, (data, offsets, new_marks, reached, begins))
        documents = np.arange(len(before)) if self.documents is None else self.documents
        leading = self._leading_of_parts(reached, begins, offsets)
        return Segments(data, offsets, new_marks, reached[documents], leading)

    def _leading_of_parts(
        self, reached: NDArray[np.int64], begins: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> NDArray[np.int64] | None:
        """`leading` of parts: ``reached[s + 1]`` up to segment s, the texts beginning at `begins` in `data`."""
        if self.leading is None:
            return None
        count = int(reached[-1])
        whole = np.repeat(np.arange(len(reached) - 1), np.diff(reached))
        ahead = begins[:count] - self.offsets[whole]
        return np.clip(self.leading[whole] - ahead, 0, np.diff(offsets[: count + 1]))

    def prefixed(self, prefix: str, *, only_first: bool) -> Segments:
        """With `prefix` before each text that is not empty and does not begin with it, or only before those
        that are `leading`.
        """
        leading, size = self.leading, int(self.offsets[-1] - self.offsets[0])
        if only_first and leading is not None:
            written = prefixing(prefix, (leading > 0).view(np.uint8))
        else:
            written = prefixing_all(prefix)
        capacity = size + len(prefix.encode()) * (len(self.offsets) - 1) + PADDING
        data, offsets = rewritten((self.data, self.offsets), written, capacity=capacity)
        if leading is not None:
            leading = leading + (np.diff(offsets) - np.diff(self.offsets)) * (leading > 0)
        return Segments(data, offsets, self.marks, self.documents, leading)

    def rewritten(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Segments:
        """The same segments with other text."""
        return self if data is self.data else replace(self, data=data, offsets=offsets)

    def heads(self) -> Segments:
        """What is `leading` of each segment, as a text of its own."""
        assert self.leading is not None
        ends = self.offsets[:-1] + self.leading
        parts = [self.data[a:b].tobytes() for a, b in zip(self.offsets[:-1], ends, strict=True)]
        return Segments.of(parts)

    def woven(self, encoded: TokenBatch) -> TokenBatch:
        """The ids of the documents, from those of each segment and the added tokens."""
        if self.marks is None or self.documents is None:
            return encoded
        added = np.flatnonzero(self.marks != TEXT)
        if not len(added):
            return TokenBatch(encoded.ids, encoded.offsets[self.documents])
        ids = np.insert(encoded.ids, encoded.offsets[added], self.marks[added])
        before = np.searchsorted(added, self.documents)
        return TokenBatch(ids, encoded.offsets[self.documents] + before)


@inline
def _copied(source: Any, begin: Any, end: Any, target: Any, at: Any) -> Any:
    """Copy ``source[begin:end]`` to ``target[at:]``; returns where it ends there."""
    target[at : at + end - begin] = source[begin:end]
    return at + end - begin


@kernel
def _split(segments: Any, places: Any, ids: Any, result: Any) -> None:
    """Part `segments` (data, offsets, marks) at the added tokens `ids` found at `places` (begin and end of
    each).

    Into `result`: data, offsets and marks of the new segments, how many of them there are up to each old one,
    and where the texts among them began.
    """
    data, offsets, before = segments
    new_data, new_offsets, marks, reached, begins = result
    at = match = count = 0
    for s in range(len(offsets) - 1):
        done, end = offsets[s], offsets[s + 1]
        while match < len(ids) and places[match, 0] < end:
            # the text up to the token, then the token: its begin may lie in white space that the last one took
            at = _copied(data, done, max(places[match, 0], done), new_data, at)
            new_offsets[count + 1] = new_offsets[count + 2] = at
            marks[count + 1] = ids[match]
            begins[count] = done
            done = places[match, 1]
            count += 2
            match += 1
        at = _copied(data, done, end, new_data, at)
        marks[count], begins[count] = before[s], done
        new_offsets[count + 1] = at
        count += 1
        reached[s + 1] = count


@kernel
def _into_pieces(data: Any, units: Any, before: Any, marks: Any, result: Any) -> None:
    """Put the pieces `units` of each text, to ``before[s + 1]`` those of segment s, in its place.

    Into `result`: data, offsets and marks of the new segments, how many of them there are up to each old one,
    and where the texts among them began.
    """
    new_data, new_offsets, new_marks, reached, begins = result
    source, target = pointer(data), pointer(new_data)
    at = count = np.int64(0)
    for s in range(len(marks)):
        if marks[s] != TEXT:
            new_marks[count] = marks[s]
            count += 1
            new_offsets[count] = at
        for k in range(before[s], before[s + 1]):
            at = copy_span(source, units[k, 0], units[k, 1], target, at)
            begins[count] = units[k, 0]
            count += 1
            new_offsets[count] = at
        reached[s + 1] = count


@Writer
def put_prefix(tables: Any, batch: Any) -> Any:
    """Write each text with a mark before it, if it is not empty, begins otherwise, and is wanted so.

    The tables: the mark; which texts are wanted, uint8; the length of the mark, and for how many texts it is
    said: all behind them are.
    """
    mark, wanted, settings = u8_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)
    length, n_wanted, none = settings[0], settings[1], np.int64(0)
    source, offsets, numbers = u8_in(batch, splicing.TEXT), i64_in(batch, OFFSETS), i64_in(batch, NUMBERS)
    new_offsets, size, copied = i64_in(batch, OUT_OFFSETS), np.int64(0), offsets[0]
    new_offsets[0] = 0
    for s in range(numbers[N_TEXTS]):
        begin, end = offsets[s], offsets[s + 1]
        there = end - begin >= length
        for k in range(length):
            there = there and source[begin + k] == mark[k]
        if (s >= n_wanted or wanted[s] != 0) and end > begin and not there:
            size = splice(batch, copied, begin, begin, mark, none, length, size)
            if size < 0:
                return size
            copied = begin
        new_offsets[s + 1] = size + end - copied
    return finished(batch, copied, size)


def prefixing(prefix: str, wanted: NDArray[np.uint8]) -> Written:
    """What puts `prefix` before texts, of the first of them those that are `wanted`."""
    mark = prefix.encode()
    tables = [np.frombuffer(mark + bytes(PADDING), np.uint8), wanted, np.array([len(mark), len(wanted)])]
    return Written(put_prefix, tables)


@lru_cache(maxsize=16)
def prefixing_all(prefix: str) -> Written:
    """What puts `prefix` before all texts; made once, since that takes a quarter of a short batch's time."""
    return prefixing(prefix, np.zeros(0, np.uint8))


@Writer
def write_pieces(machine: Any, batch: Any) -> Any:
    """Write each piece of a text as a text of its own, by a machine of `cutting`."""
    source, offsets, numbers = u8_in(batch, splicing.TEXT), i64_in(batch, OFFSETS), i64_in(batch, NUMBERS)
    target, new_offsets = u8_in(batch, OUT), i64_in(batch, OUT_OFFSETS)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends, most, none = (
        pointer(pieces),
        pointer(pieces[_PIECES + SPARE :]),
        np.int64(_PIECES),
        np.int64(0),
    )
    at, written = np.int64(0), np.int64(0)
    n_texts = numbers[N_TEXTS]
    if offsets[n_texts] - offsets[0] + 32 > numbers[CAPACITY]:
        return np.int64(TOO_SMALL)
    new_offsets[0] = 0
    for s in range(n_texts):
        i, began, row, end = offsets[s], offsets[s], none, offsets[s + 1]
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, source, i, began, row, end, starts, ends, none, most)
            if written + count > numbers[MOST_TEXTS]:
                return np.int64(TOO_SMALL)
            for k in range(count):
                at = copy_span(source, starts[k], ends[k], target, at)
                written += 1
                new_offsets[written] = at
    numbers[N_TEXTS] = written
    keep(pieces)
    return at
