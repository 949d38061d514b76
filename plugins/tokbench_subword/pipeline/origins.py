"""Where the bytes of prepared text come from: for each, a span of code points of its document, in one number.

The number is the span's start above 32 bits of its end. Every step from text to pre-tokens gives each byte it
writes the span of what it writes it for, as `stretch` does for characters: new text comes from the whole of
what it replaces, text put in front of a character from that. So the places of tokens are found by the kernels
that prepare text for encoding, which tell their edits (`splicing.splice`); texts with added tokens, and those
whose characters were joined or put in order, are left to the plain form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.pointers import PADDING, pointer
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.byte_alphabet import CHARACTER_OF
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.compiled_normalizers import ByWriter
from tokbench_subword.pipeline.cuts import IntoPieces, Prefixed, Rewritten
from tokbench_subword.pipeline.cutters import Cutter
from tokbench_subword.pipeline.normal_form_kernel import normal_form
from tokbench_subword.pipeline.rewriting_kernel import carry_rewritten, spell_bytes
from tokbench_subword.pipeline.segments import Segments, prefixing
from tokbench_subword.pipeline.splicing import Written, told

_START = ~0xFFFFFFFF
_END = 0xFFFFFFFF
_EDITS = 1 << 12
"""Edits for which there is room at first."""
_SIZES = np.array([len(CHARACTER_OF[byte].encode()) for byte in range(256)])
"""How many bytes the letter of each byte has."""


@dataclass(slots=True, eq=False)
class Located:
    """Documents on their way to the model, with account of where they come from.

    Text t is ``data[offsets[t]:offsets[t + 1]]``; ``documents[d + 1]`` says how many there are up to the end of
    document d. `origins`, int64, are those of each byte; `known`, bool, for which documents all is right.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    documents: NDArray[np.int64]
    origins: NDArray[np.int64]
    known: NDArray[np.bool_]

    @property
    def left(self) -> list[int]:
        """The documents that are left to the plain form."""
        return np.flatnonzero(~self.known).tolist()

    def words(self, cutters: Sequence[Cutter]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the pre-tokens begin and end, int64 ``(n, 2)``, and how many there are up to each document."""
        words = np.ascontiguousarray(np.stack([self.offsets[:-1], self.offsets[1:]], axis=1))
        documents = self.documents
        for cutter in cutters:
            words, counts = cutter.cut(self.data, words)
            documents = counts[documents]
        return words, documents

    def cut(self, cutters: Sequence[Cutter]) -> None:
        """Make each pre-token a text of its own."""
        words, self.documents = self.words(cutters)
        self.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(words[:, 1] - words[:, 0])])
        data, origins = np.empty(self.offsets[-1] + PADDING, np.uint8), np.empty(self.offsets[-1], np.int64)
        _into_pieces(words, self.data, self.origins, data, origins)
        self.data, self.origins = data, origins

    def leave(self, texts: NDArray[np.int64]) -> None:
        """Leave the documents that some texts are of to the plain form."""
        self.known[np.searchsorted(self.documents, texts, "right") - 1] = False

    def leave_at(self, places: NDArray[np.int64]) -> None:
        """Leave those that some bytes are of."""
        self.leave(np.searchsorted(self.offsets, places, "right") - 1)

    def leave_matched(self, matcher: AddedMatcher | None) -> None:
        """Leave those in which there are added tokens."""
        if matcher is not None:
            self.leave_at(matcher.find(self.data, self.offsets).starts)

    def rewrite(self, written: Written, capacity: int) -> None:
        """Have a kernel write the documents anew."""
        batch, before = (self.data, self.offsets), self.origins
        (data, offsets), declined, edits = told(batch, written, capacity=capacity, most_edits=_EDITS)
        self.leave(np.flatnonzero(declined))
        if written.writer is normal_form:  # what became of several characters is told apart by the plain form
            lead = self.data[edits[:, 0]]
            width = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
            self.leave_at(edits[edits[:, 1] - edits[:, 0] > width, 0])
        if data is self.data:
            return
        if written.writer is spell_bytes:
            self.origins = np.repeat(before, _SIZES[self.data[: self.offsets[-1]]])
        else:
            self.origins = np.empty(int(offsets[-1]), np.int64)
            _carry_edits(edits, before, self.origins)
        self.data, self.offsets = data, offsets

    def apply(self, step: ByWriter) -> None:
        """Have a step of a normalizer done to the documents."""
        written, capacity = step.made(), int(step.growth * len(self.origins))
        if step.rewriting is None:
            self.rewrite(written, capacity)
            return
        (data, offsets), declined, _ = told((self.data, self.offsets), written, capacity=capacity)
        self.leave(np.flatnonzero(declined))
        if data is not self.data:
            origins = np.empty(int(offsets[-1]), np.int64)
            carry_rewritten(written.block, self.data, self.offsets, offsets, declined, self.origins, origins)
            self.data, self.offsets, self.origins = data, offsets, origins


def located(pipeline: CompiledPipeline, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Located | None:
    """Documents, UTF-8 with `PADDING` behind, as `pipeline` prepares them; None where a stage is no kernel.

    Example:
        >>> from tokbench.kernels.text import utf8_of
        >>> from tokbench_subword.files.tokenizer_json import Document
        >>> from tokbench_subword.pipeline.preparation import Preparation
        >>> spaced = {"type": "Replace", "pattern": {"String": "b"}, "content": "--"}
        >>> pipeline = Preparation(document=Document(model={}, normalizer=spaced, pre_tokenizer=None)).compiled
        >>> found = located(pipeline, *utf8_of(["abc", "b"]))
        >>> found.offsets.tolist(), (found.origins >> 32).tolist()
        ([0, 4, 6], [0, 1, 1, 2, 0, 0])
    """
    normalizer, changes = pipeline.normalizer, pipeline.cuts.changes
    if normalizer is not None and normalizer.written is None:
        return None
    cutting_before = any(isinstance(change, IntoPieces) for change in changes)
    if pipeline.leading is not None and cutting_before:
        return None
    announce(_number_characters)
    if not data.flags.writeable:  # kernels are compiled for one kind of array
        data = data.copy()
    known, origins = np.ones(len(offsets) - 1, np.bool_), np.empty(int(offsets[-1]), np.int64)
    _number_characters(data, offsets, origins)
    found = Located(data, offsets, np.arange(len(offsets)), origins, known)
    found.leave_matched(pipeline.raw_tokens)
    wanted = np.zeros(0, np.uint8)
    if pipeline.leading is not None and normalizer is not None:
        wanted = (pipeline.leading.of(Segments(data, offsets)) > 0).view(np.uint8)
    for step in normalizer.steps if normalizer else ():
        assert isinstance(step, ByWriter)
        found.apply(step)
    found.leave_matched(pipeline.normal_tokens)
    for change in changes:
        if isinstance(change, Prefixed):
            room = len(found.origins) + len(change.text.encode()) * len(found.offsets)
            found.rewrite(prefixing(change.text, wanted if change.only_first else wanted[:0]), room)
        elif isinstance(change, IntoPieces):
            found.cut(change.cutters)
        elif isinstance(change, Rewritten):
            for step in change.normalizer.steps:
                assert isinstance(step, ByWriter)
                found.apply(step)
    return found


@kernel
def _number_characters(source, offsets, origins):  # type: ignore[no-untyped-def]
    """The origins of text as it is: each byte of a character has its number and the next as a span."""
    for document in range(len(offsets) - 1):
        characters = np.int64(0)
        for position in range(offsets[document], offsets[document + 1]):
            characters += (source[position] & 0xC0) != 0x80
            origins[position] = (characters - 1) << 32 | characters


@kernel
def _into_pieces(words, data, origins, new_data, new_origins):  # type: ignore[no-untyped-def]
    """Lay the pieces `words` of a text, and where they come from, end to end."""
    source, before, target, after = pointer(data), pointer(origins), pointer(new_data), pointer(new_origins)
    size = np.int64(0)
    for word in range(len(words)):
        for place in range(words[word, 0], words[word, 1]):
            target[size], after[size] = source[place], before[place]
            size += 1


@kernel
def _carry_edits(edits, before, after):  # type: ignore[no-untyped-def]
    """Carry origins over edits: rows of where what is replaced begins and ends, and where the new text ends."""
    source, target = pointer(before), pointer(after)
    position = size = np.int64(0)
    for edit in range(len(edits)):
        begin, behind, end = edits[edit, 0], edits[edit, 1], edits[edit, 2]
        for index in range(begin - position):
            target[size + index] = source[position + index]
        size += begin - position
        if size < end:
            span = source[begin]
            if behind > begin:
                span = (span & _START) | (source[behind - 1] & _END)
            while size < end:
                target[size] = span
                size += 1
        position = behind
    for index in range(len(before) - position):
        target[size + index] = source[position + index]


def spans_in(origins: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """What bytes from ``places[:, 0]`` to ``places[:, 1]`` come from, int64 of the same shape."""
    return np.stack([origins[places[:, 0]] >> 32, origins[places[:, 1] - 1] & _END], axis=1)


@kernel
def place_tokens(rows, limits, words, documents, origins, ids, spans):  # type: ignore[no-untyped-def]
    """Part `rows` of (id, start, end) into `ids` and `spans`, in code points of the document.

    Rows ``limits[w]`` to ``limits[w + 1]`` are of word w, their places in bytes behind ``words[w, 0]``; words
    ``documents[d]`` to ``documents[d + 1]`` are of document d. In it, neither starts nor ends go back.
    """
    source, number, triples = pointer(origins), pointer(ids), pointer(rows)
    for document in range(len(documents) - 1):
        start = end = np.int64(0)
        for word in range(documents[document], documents[document + 1]):
            begin = words[word, 0]
            for token in range(limits[word], limits[word + 1]):
                number[token] = triples[3 * token]
                start = max(start, source[begin + triples[3 * token + 1]] >> 32)
                end = max(start, end, source[begin + triples[3 * token + 2] - 1] & _END)
                spans[token, 0], spans[token, 1] = start, end


def replaced(
    rows: NDArray[Any], limits: NDArray[np.int64], places: Sequence[int], others: Sequence[NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows of documents, and their limits, with those of the documents at `places`, in order, replaced."""
    lengths, parts, done = np.diff(limits), [], 0
    for place, new in zip(places, others, strict=True):
        parts += [rows[limits[done] : limits[place]], new]
        done = place + 1
    parts.append(rows[limits[done] :])
    lengths[places] = [len(new) for new in others]
    return np.concatenate(parts), np.append(0, np.cumsum(lengths))
