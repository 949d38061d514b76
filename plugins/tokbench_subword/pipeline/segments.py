"""A batch of texts on its way to the model: stretches of text, and the added tokens found between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Bytes, Ids, Ints, pointer
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.patterns.cutters import Cutter, cut_in_turn, units_of
from tokbench_subword.pipeline.splicing import BoundWriter, copy_span, with_edits, with_plain

TEXT = -1
"""The mark of a text segment; the mark of an added token is its id."""


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """UTF-8 text in segments that lie end to end: segment s is ``data[offsets[s]:offsets[s + 1]]``.

    `marks` (int32) tells text segments from added tokens; the segment of an added token is empty and marks its
    place. None: all segments are text. `documents` (int64) is the number of segments up to the end of each
    document. None: each segment is a document. `leading` (int64) is the number of bytes at the start of each
    segment that come from the very beginning of its document, as `Stretch.leading` counts it in characters.
    None: no later stage needs it. `PADDING` readable bytes follow the last segment in `data`.

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
        """The number of segments up to the end of each document."""
        return np.arange(len(self.offsets)) if self.documents is None else self.documents

    def split(self, matcher: AddedMatcher) -> Segments:
        """The segments, with every added token that is found in them as a segment of its own."""
        places, ids = matcher.find(self.data, self.offsets)
        return self._split_at(places, ids) if len(ids) else self

    def _split_at(self, places: NDArray[np.int64], ids: NDArray[np.int32]) -> Segments:
        count = len(self.offsets) - 1 + 2 * len(ids)
        spans, marks = np.zeros((count, 2), np.int64), np.full(count, TEXT, np.int32)
        reached = np.zeros(len(self.offsets), np.int64)
        _at_tokens(self.offsets, self._marks, places, ids, spans, marks, reached)
        return self._parted(spans, marks, reached)

    def pieces(self, cutters: Sequence[Cutter]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pieces that the cutters make one after another: begin and end, int64 ``(n, 2)``, and the number
        of pieces up to each segment.
        """
        return cut_in_turn(cutters, self.data, units_of(self.offsets))

    def cut(self, cutters: Sequence[Cutter]) -> Segments:
        """The segments, with each text segment replaced by its `pieces`."""
        units, before = self.pieces(cutters)
        is_added = self._marks != TEXT
        added = self._marks[is_added]
        spans, _ = self.among(units, before, np.zeros((len(added), 2), np.int64))
        marks, _ = self.among(np.full(len(units), TEXT, np.int32), before, added)
        return self._parted(spans, marks, before + np.append(0, np.cumsum(is_added)))

    @property
    def _marks(self) -> NDArray[np.int32]:
        return np.full(len(self.offsets) - 1, TEXT, np.int32) if self.marks is None else self.marks

    def _parted(
        self, spans: NDArray[np.int64], marks: NDArray[np.int32], reached: NDArray[np.int64]
    ) -> Segments:
        """New segments from the bytes at `spans`; ``reached[s]`` of them come from segments before s."""
        data, offsets = _gathered(self.data, spans)
        leading = self.leading
        if leading is not None:
            whole = np.repeat(np.arange(len(reached) - 1), np.diff(reached))
            leading = np.clip(leading[whole] - (spans[:, 0] - self.offsets[whole]), 0, np.diff(offsets))
        self._moved(spans[:, 0], offsets)
        documents = reached[self.limits]
        return replace(self, data=data, offsets=offsets, marks=marks, documents=documents, leading=leading)

    def _moved(self, begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Called when segments are divided: the new segment s was at ``begins[s]`` before."""

    def by_kernel(
        self, writer: BoundWriter | None, capacity: int, plain: Callable[[str], str] | None = None
    ) -> Segments:
        """The segments rewritten by a kernel; those that it declines, or all without a kernel, by `plain`.

        `capacity` is the expected size of the result in bytes; a larger result gets more room.
        """
        source = self.data, self.offsets
        result, declined = source, np.ones(len(self.offsets) - 1, np.uint8)
        if writer is not None:
            result, declined, _ = with_edits(source, writer, capacity=capacity)
        if plain is not None and declined.any():
            result = with_plain(result, source, np.flatnonzero(declined).tolist(), plain)
        return self.rewritten(*result)

    def rewritten(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Segments:
        """The same segments with other text."""
        return self if data is self.data else replace(self, data=data, offsets=offsets)

    def heads(self) -> Segments:
        """The leading bytes of each segment, as texts of their own."""
        assert self.leading is not None
        begins = self.offsets[:-1]
        return Segments(*_gathered(self.data, np.stack([begins, begins + self.leading], axis=1)))

    def woven(self, encoded: TokenBatch) -> TokenBatch:
        """The ids of the documents: those of their text segments, with the added tokens in their places."""
        if self.marks is None:
            return encoded
        return TokenBatch(*self.among(encoded.ids, encoded.offsets, self.marks[self.marks != TEXT]))

    def among(
        self, rows: NDArray[Any], before: NDArray[np.int64], added: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Merge the `rows` of text segments with those of `added` tokens, in the order of the segments.

        ``before[s]`` of the `rows` belong to segments before s. Also returns the number of merged rows up to
        each document.
        """
        limits = before[self.limits]
        if not len(added):
            return rows, limits
        at = np.flatnonzero(self.marks != TEXT)
        return np.insert(rows, before[at], added, axis=0), limits + np.searchsorted(at, self.limits)


class Prepares(Protocol):
    """Prepares texts for the model's encoder: a `CompiledPipeline`, or sentencepiece's normalizer."""

    def segments(self, texts: Segments) -> Segments:
        """The texts as the encoder takes them."""


def _gathered(data: NDArray[np.uint8], spans: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the spans end to end, followed by `PADDING`, and their offsets."""
    offsets = np.append(0, np.cumsum(spans[:, 1] - spans[:, 0]))
    gathered = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
    _gather(data, spans, gathered)
    return gathered, offsets


@kernel
def _at_tokens(
    offsets: Ints, before: Ids, places: Ints, ids: Ids, spans: Ints, marks: Ids, reached: Ints
) -> None:
    """Divide segments, with `offsets` and the marks `before`, at the added tokens `ids` found at `places`.

    Each token ends up between two texts, which may be empty. Writes the `spans` of the new segments, their
    `marks`, and in `reached` the number of new segments up to each old one.
    """
    match = count = np.int64(0)
    for s in range(len(before)):
        done, end = offsets[s], offsets[s + 1]
        while match < len(ids) and places[match, 0] < end:
            # its begin may lie in white space that the last one took
            spans[count, 0], spans[count, 1] = done, max(places[match, 0], done)
            marks[count + 1] = ids[match]
            done = places[match, 1]
            count += 2
            match += 1
        spans[count, 0], spans[count, 1], marks[count] = done, end, before[s]
        count += 1
        reached[s + 1] = count


@kernel
def _gather(data: Bytes, spans: Ints, gathered: Bytes) -> None:
    source, target, size = pointer(data), pointer(gathered), np.int64(0)
    for k in range(len(spans)):
        size = copy_span(source, spans[k, 0], spans[k, 1], target, size)
