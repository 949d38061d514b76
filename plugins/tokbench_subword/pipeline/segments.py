"""A batch of texts on its way to the model: stretches of text, and the added tokens found between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Block, Ids, Ints, i64_in, keep, pointer, u8_in
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.patterns.cutters import Cutter, cut_in_turn, units_of
from tokbench_subword.pipeline.patterns.cutting import SPARE, cut_some
from tokbench_subword.pipeline.replacing_kernel import edges
from tokbench_subword.pipeline.splicing import Writer, Written, copy_span, documents_of, rewritten

TEXT = -1
"""The mark of a segment that is text; that of an added token is its id."""
Parts = tuple[NDArray[Any], ...]
"""Segments as the arrays that they are of."""
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
        >>> from tokbench.kernels.text import utf8_of
        >>> segments = Segments(*utf8_of(["ab", ""]))
        >>> segments.offsets.tolist()
        [0, 2, 2]
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    marks: NDArray[np.int32] | None = None
    documents: NDArray[np.int64] | None = None
    leading: NDArray[np.int64] | None = None

    @property
    def limits(self) -> NDArray[np.int64]:
        """How many segments there are up to the end of each document."""
        return np.arange(len(self.offsets)) if self.documents is None else self.documents

    def split(self, matcher: AddedMatcher | None) -> Segments:
        """The segments with the added tokens found in them as segments of their own."""
        if matcher is None:
            return self
        places, ids = matcher.find(self.data, self.offsets)
        return self._split_at(places, ids) if len(ids) else self

    def _split_at(self, places: NDArray[np.int64], ids: NDArray[np.int32]) -> Segments:
        size, count = int(self.offsets[-1] - self.offsets[0]), len(self.offsets) - 1 + 2 * len(ids)
        return self._parted(_at_tokens, (places, ids), count, size)

    def pieces(self, cutters: Sequence[Cutter]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begin and end of the pieces that each cutter makes of those of the one before, int64 ``(n, 2)``; and
        how many there are up to each segment.
        """
        return cut_in_turn(cutters, self.data, units_of(self.offsets))

    def cut(self, cutters: Sequence[Cutter]) -> Segments:
        """The segments with the `pieces` of each text in its place."""
        units, before = self.pieces(cutters)
        count = len(units) + (0 if self.marks is None else int(np.count_nonzero(self.marks != TEXT)))
        return self._parted(_into_pieces, (units, before), count, int((units[:, 1] - units[:, 0]).sum()))

    def _parted(self, part: Callable[..., None], at: tuple[Any, ...], count: int, size: int) -> Segments:
        """The segments in so many parts, of so many bytes in all, that a kernel makes of them; see `_moved`."""
        n_segments = len(self.offsets) - 1
        marks = np.full(n_segments, TEXT, np.int32) if self.marks is None else self.marks
        data, offsets = np.zeros(size + PADDING, np.uint8), np.zeros(count + 1, np.int64)
        new_marks, begins = np.full(count, TEXT, np.int32), np.zeros(count, np.int64)
        reached = np.zeros(n_segments + 1, np.int64)
        part((self.data, self.offsets, marks), *at, (data, offsets, new_marks, reached, begins))
        leading = self.leading
        if leading is not None:
            whole = np.repeat(np.arange(n_segments), np.diff(reached))
            leading = np.clip(leading[whole] - (begins - self.offsets[whole]), 0, np.diff(offsets))
        documents = reached if self.documents is None else reached[self.documents]
        self._moved(begins, offsets)
        return replace(self, data=data, offsets=offsets, marks=new_marks, documents=documents, leading=leading)

    def _moved(self, begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Hear where the texts of new segments, which `offsets` part, began before."""

    def prefixed(self, prefix: str, *, only_first: bool) -> Segments:
        """With `prefix` before each text that is not empty and does not begin with it, or only before those
        that are `leading`.
        """
        leading, size = self.leading, int(self.offsets[-1] - self.offsets[0])
        if only_first and leading is not None:
            written = edges(prefix.encode(), once=True, wanted=(leading > 0).view(np.uint8))
        else:
            written = prefixing_all(prefix)
        capacity = size + len(prefix.encode()) * (len(self.offsets) - 1) + PADDING
        prefixed = self.by_kernel(written, capacity)
        if leading is None:
            return prefixed
        grown = np.diff(prefixed.offsets) - np.diff(self.offsets)
        return replace(prefixed, leading=leading + grown * (leading > 0))

    def by_kernel(self, written: Written, capacity: int, plain: Callable[[str], str] | None = None) -> Segments:
        """The same segments as a kernel writes them, and `plain` those that it declines."""
        return self.rewritten(*rewritten((self.data, self.offsets), written, capacity=capacity, plain=plain))

    def rewritten(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Segments:
        """The same segments with other text."""
        return self if data is self.data else replace(self, data=data, offsets=offsets)

    def heads(self) -> Segments:
        """What is `leading` of each segment, as a text of its own."""
        assert self.leading is not None
        offsets = np.append(0, np.cumsum(self.leading))
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1] - offsets[:-1], self.leading)
        return Segments(np.append(self.data[places], np.zeros(PADDING, np.uint8)), offsets)

    def woven(self, encoded: TokenBatch) -> TokenBatch:
        """The ids of the documents, from those of each segment and the added tokens."""
        if self.marks is None:
            return encoded
        return TokenBatch(*self.among(encoded.ids, encoded.offsets, self.marks[self.marks != TEXT]))

    def among(
        self, rows: NDArray[Any], before: NDArray[np.int64], added: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The rows of tokens of texts, ``before[s]`` of them up to segment s, with those of the `added` tokens
        among them; and how many there are up to each document.
        """
        limits = before[self.limits]
        if not len(added):
            return rows, limits
        at = np.flatnonzero(self.marks != TEXT)
        return np.insert(rows, before[at], added, axis=0), limits + np.searchsorted(at, self.limits)


@kernel
def _at_tokens(segments: Parts, places: Ints, ids: Ids, result: Parts) -> None:
    """Part `segments` (data, offsets, marks) at the added tokens `ids` found at `places` (begin and end of
    each).

    Into `result`: data, offsets and marks of the new segments, how many of them there are up to each old one,
    and where the texts among them began.
    """
    (data, offsets, before), (new_data, new_offsets, marks, reached, begins) = segments, result
    source, target = pointer(data), pointer(new_data)
    at = match = count = np.int64(0)
    for s in range(len(offsets) - 1):
        done, end = offsets[s], offsets[s + 1]
        while match < len(ids) and places[match, 0] < end:
            # the text up to the token, then the token: its begin may lie in white space that the last one took
            at = copy_span(source, done, max(places[match, 0], done), target, at)
            new_offsets[count + 1] = new_offsets[count + 2] = at
            marks[count + 1] = ids[match]
            begins[count] = done
            done = places[match, 1]
            count += 2
            match += 1
        at = copy_span(source, done, end, target, at)
        marks[count], begins[count] = before[s], done
        new_offsets[count + 1] = at
        count += 1
        reached[s + 1] = count


@kernel
def _into_pieces(segments: Parts, units: Ints, before: Ints, result: Parts) -> None:
    """Put the pieces `units` of each text, to ``before[s + 1]`` those of segment s, in its place.

    `segments` and `result` are those of `_at_tokens`.
    """
    (data, _, marks), (new_data, new_offsets, new_marks, reached, begins) = segments, result
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


@lru_cache(maxsize=16)
def prefixing_all(prefix: str) -> Written:
    """What puts `prefix` before all texts; made once, since that takes a quarter of a short batch's time."""
    return edges(prefix.encode(), once=True)


@Writer
def write_pieces(machine: Block, batch: Block) -> np.int64:
    """Write each piece of a text as a text of its own, by a machine of `cutting`."""
    source, offsets, new_offsets, n_texts = documents_of(batch)
    numbers, target = i64_in(batch, splicing.NUMBERS), u8_in(batch, splicing.OUT)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    at, written, most, none = np.int64(0), np.int64(0), np.int64(_PIECES), np.int64(0)
    if offsets[n_texts] - offsets[0] + 32 > numbers[splicing.CAPACITY]:
        return np.int64(splicing.TOO_SMALL)
    for s in range(n_texts):
        i, began, row, end = offsets[s], offsets[s], none, offsets[s + 1]
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, source, i, began, row, end, starts, ends, none, most)
            if written + count > numbers[splicing.MOST_TEXTS]:
                return np.int64(splicing.TOO_SMALL)
            for k in range(count):
                at = copy_span(source, starts[k], ends[k], target, at)
                written += 1
                new_offsets[written] = at
    numbers[splicing.N_TEXTS] = written
    keep(pieces)
    return at
