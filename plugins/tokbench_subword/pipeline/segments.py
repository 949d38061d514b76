"""A batch of texts on its way to the model: stretches of text, and the added tokens found between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Block, Bytes, Ints, i64_in, keep, pointer, u8_in
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.cutters import Cutter
from tokbench_subword.pipeline.cutting import SPARE, cut_some
from tokbench_subword.pipeline.replacing_kernel import edges
from tokbench_subword.pipeline.splicing import (
    CAPACITY,
    MOST_TEXTS,
    N_TEXTS,
    NUMBERS,
    OUT,
    TOO_SMALL,
    Writer,
    Written,
    copy_span,
    documents_of,
    rewritten,
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
        before = np.full(len(self.offsets) - 1, TEXT, np.int32) if self.marks is None else self.marks
        segment = np.searchsorted(self.offsets, found.starts, "right") - 1
        # each token comes in the place of two ends: of the text before it, and of its own
        places, twice = _in_turn(found.starts, found.ends), np.repeat(segment, 2)
        begins = np.insert(self.offsets[:-1], twice + 1, places)
        ends = np.insert(self.offsets[1:], twice, places)
        marks = np.insert(before, twice, _in_turn(np.full_like(found.ids, TEXT), found.ids))
        reached = np.arange(len(self.offsets))
        # white space that one token has taken on its right may begin the next
        lengths = np.where(marks == TEXT, np.maximum(ends - begins, 0), 0)
        return self._of_parts(begins, lengths, marks, reached + 2 * np.searchsorted(segment, reached))

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
        begins, lengths = units[:, 0], units[:, 1] - units[:, 0]
        marks = np.full(len(units), TEXT, np.int32)
        if self.marks is None:
            return self._of_parts(begins, lengths, marks, before)
        added = np.flatnonzero(self.marks != TEXT)
        places = before[added]
        return self._of_parts(
            np.insert(begins, places, self.offsets[added]),
            np.insert(lengths, places, 0),
            np.insert(marks, places, self.marks[added]),
            before + np.searchsorted(added, np.arange(len(before))),
        )

    def _of_parts(
        self,
        begins: NDArray[np.int64],
        lengths: NDArray[np.int64],
        marks: NDArray[np.int32],
        reached: NDArray[np.int64],
    ) -> Segments:
        """Parts of the segments as segments: ``reached[s + 1]`` up to segment s, and where each has begun in
        `data`.
        """
        offsets = np.zeros(len(begins) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        data = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
        _put_together(self.data, begins, offsets, data)
        leading = self.leading
        if leading is not None:
            whole = np.repeat(np.arange(len(reached) - 1), np.diff(reached))
            leading = np.clip(leading[whole] - (begins - self.offsets[whole]), 0, lengths)
        documents = reached if self.documents is None else reached[self.documents]
        return Segments(data, offsets, marks, documents, leading)

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


def _in_turn(firsts: NDArray[Any], seconds: NDArray[Any]) -> NDArray[Any]:
    """One of the first, one of the second, the next of the first …"""
    return np.stack([firsts, seconds], axis=1).reshape(-1)


@kernel
def _put_together(data: Bytes, begins: Ints, offsets: Ints, out: Bytes) -> None:
    """Put parts of `data` end to end: what begins at ``begins[p]`` to ``out[offsets[p]:offsets[p + 1]]``."""
    source, target = pointer(data), pointer(out)
    for p in range(len(begins)):
        copy_span(source, begins[p], begins[p] + offsets[p + 1] - offsets[p], target, offsets[p])


def prefixing(prefix: str, wanted: NDArray[np.uint8]) -> Written:
    """What puts `prefix` before texts, of the first of them those that are `wanted`."""
    return edges(prefix.encode(), once=True, wanted=wanted)


@lru_cache(maxsize=16)
def prefixing_all(prefix: str) -> Written:
    """What puts `prefix` before all texts; made once, since that takes a quarter of a short batch's time."""
    return edges(prefix.encode(), once=True)


@Writer
def write_pieces(machine: Block, batch: Block) -> np.int64:
    """Write each piece of a text as a text of its own, by a machine of `cutting`."""
    source, offsets, new_offsets, n_texts = documents_of(batch)
    numbers, target = i64_in(batch, NUMBERS), u8_in(batch, OUT)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    at, written, most, none = np.int64(0), np.int64(0), np.int64(_PIECES), np.int64(0)
    if offsets[n_texts] - offsets[0] + 32 > numbers[CAPACITY]:
        return np.int64(TOO_SMALL)
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
