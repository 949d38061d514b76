"""The places of tokens in the original text, traced back through everything that prepared the text.

The kernels that prepare text for encoding note their edits (`splicing.note_edit`). A place is traced back
through these edits, from the last to the first. As in `stretch`, new text comes from the whole of the text that
it replaces, and an inserted prefix from the character after it. In sentencepiece (`up_to_next`) a token ends
where the next begins: dropped text belongs to the token before it, and an inserted prefix has an empty place.
An added token is traced back when it is found. Texts that a kernel declines use the plain form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Ids, Int, Ints, pointer
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.patterns.cutters import Places
from tokbench_subword.pipeline.segments import Prepares, Segments
from tokbench_subword.pipeline.splicing import BoundWriter, before_edits, replaced, with_edits


@dataclass(frozen=True, eq=False, kw_only=True)
class Located(Segments):
    """Documents on their way to the model, as prepared so far, from `source`, where each is one of `texts`.

    `known`, bool, says of which documents places can be traced back; the others are left to the plain form.
    `back` has of each step its edits, int64 ``(n, 3)``, and where the documents were before and after it.
    `added` is where in `source` the added tokens are that were found so far.
    """

    texts: Sequence[str]
    source: Segments
    known: NDArray[np.bool_]
    added: Places = field(default_factory=lambda: np.empty((0, 2), np.int64))
    up_to_next: bool = False
    back: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)

    @property
    def left(self) -> list[int]:
        """The documents that are left to the plain form."""
        return np.flatnonzero(~self.known).tolist()

    def spans(
        self, places: Places, before: NDArray[np.int64], plainly: Callable[[str], Places] | None = None
    ) -> tuple[Places, NDArray[np.int64]]:
        """The spans in code points of all tokens, and how many there are up to each document.

        `places`, which is changed, has those of texts, ``before[s]`` up to segment s. Those of a document that
        is left, if any can be, are told `plainly`, from its text.
        """
        self._trace_back(places)
        spans, limits = self.among(places, before, self.added)
        _count_characters(self.source.data, self.source.offsets, limits, spans)
        if plainly is None:
            return spans, limits
        return replaced(spans, limits, self.left, [plainly(self.texts[index]) for index in self.left])

    def _trace_back(self, places: Places) -> None:
        """Turn places in the current text into places in `source`, by the edits of each step."""
        for edits, before, now in reversed(self.back):
            if self.up_to_next:
                _before_edits_up_to_next(edits, before, now, places)
            else:
                _before_edits(edits, places)

    def leave(self, texts: NDArray[np.int64]) -> None:
        """Mark the documents of some texts for the plain form."""
        self.known[np.searchsorted(self.limits, texts, "right") - 1] = False

    def leave_at(self, places: NDArray[np.int64]) -> None:
        """Mark the documents of some bytes for the plain form."""
        self.leave(np.searchsorted(self.offsets, places, "right") - 1)

    def _split_at(self, places: Places, ids: NDArray[np.int32]) -> Segments:
        found = places.copy()
        by_end = np.argsort(found[:, 1], kind="stable")  # not in order if `rstrip` has taken another token
        found[:, 1] = found[by_end, 1]
        self._trace_back(found)
        found[by_end, 1] = found[:, 1].copy()
        added = np.concatenate([self.added, found])
        return Segments._split_at(
            replace(self, added=added[np.argsort(added[:, 0], kind="stable")]), places, ids
        )

    def _moved(self, begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        ends = np.append(0, begins + np.diff(offsets))  # the text between two pieces is gone
        self.back.append((np.stack([ends[:-1], begins, offsets[:-1]], axis=1), self.offsets, offsets))

    def by_kernel(self, writer: BoundWriter | None, capacity: int, plain: Any = None) -> Segments:
        """The segments rewritten by a kernel; those that it declines, or all without one, need the plain
        form.
        """
        if writer is None:
            self.known[:] = False
            return self
        batch = self.data, self.offsets
        most = int(self.offsets[-1]) + 1  # room that is not used takes no memory
        (data, offsets), declined, edits = with_edits(batch, writer, capacity=capacity, most_edits=most)
        self.leave(np.flatnonzero(declined))
        if data is self.data:
            return self
        self.back.append((edits, self.offsets, offsets))
        return self.rewritten(data, offsets)


def located(pipeline: Prepares, texts: Sequence[str], *, up_to_next: bool = False) -> Located:
    """Texts as `pipeline` prepares them; if a stage has no kernel, all need the plain form.

    Example:
        >>> from tokbench_subword.pipeline.document import TokenizerJson
        >>> from tokbench_subword.pipeline.preparation import Preparation
        >>> spaced = {"type": "Replace", "pattern": {"String": "b"}, "content": "--"}
        >>> document = TokenizerJson(model={}, normalizer=spaced, pre_tokenizer=None)
        >>> pipeline = Preparation(document=document).compiled
        >>> found = located(pipeline, ["abc", "b"])
        >>> found.offsets.tolist()
        [0, 4, 6]
        >>> spans, limits = found.spans(np.array([[0, 2], [2, 4], [4, 6]]), np.array([0, 2, 3]), np.array)
        >>> spans.tolist()
        [[0, 2], [1, 3], [0, 1]]
    """
    utf8, known = utf8_of(texts), np.ones(len(texts), np.bool_)
    found = pipeline.segments(
        Located(*utf8, texts=texts, source=Segments(*utf8), known=known, up_to_next=up_to_next)
    )
    assert isinstance(found, Located)
    return found


def token_places(
    batch: TokenBatch, sizes: NDArray[np.int64], units: NDArray[np.int64], *, prefix: int = 0
) -> tuple[Places, NDArray[np.bool_]]:
    """The places of the tokens of texts, and for which texts they are known; see `_place_tokens`."""
    places, known = np.empty((len(batch.ids), 2), np.int64), np.zeros(len(batch), np.bool_)
    _place_tokens(batch.ids, batch.offsets, sizes, prefix, units, places, known)
    return places, known


@kernel
def _place_tokens(
    ids: Ids, ends: Ints, sizes: Ints, prefix: Int, units: Ints, places: Ints, placed: NDArray[np.bool_]
) -> None:
    """Write the begin and end of each token of texts; ``placed[t]`` tells whether those of text t are known.

    Text t lies at ``units[t]``, its tokens are ``ids[ends[t]:ends[t + 1]]``, and each covers ``sizes[id]``
    bytes (-1: that varies); every token but the first of a text covers `prefix` bytes less.
    """
    for t in range(len(units)):
        at, end, known = units[t, 0], units[t, 1], True
        for token in range(ends[t], ends[t + 1]):
            length = sizes[ids[token]] - (prefix if token > ends[t] else 0)
            known = known and length >= 0 and at + length <= end
            places[token, 0] = at
            at += length if known else 0
            places[token, 1] = at
        placed[t] = known and at == end


@kernel
def _count_characters(data: Bytes, offsets: Ints, limits: Ints, places: Ints) -> None:
    """Turn places in bytes into spans of code points of their documents, with partial characters as a whole."""
    text, ends = pointer(data), pointer(places)
    for document in range(len(limits) - 1):
        at, count, highest = offsets[document], np.int64(0), np.uint8(0)
        for place in range(at, offsets[document + 1]):
            highest |= text[place]
        if highest < 0x80:  # every byte is a character
            for index in range(2 * limits[document], 2 * limits[document + 1]):
                ends[index] -= at
            continue
        for token in range(limits[document], limits[document + 1]):
            begin, end = ends[2 * token], ends[2 * token + 1]
            count += _begun(text, at, begin + 1)
            ends[2 * token] = count - 1
            count += _begun(text, begin + 1, end)
            ends[2 * token + 1], at = count, end


@inline
def _begun(text: Bytes, begin: Int, end: Int) -> np.int64:
    """The number of characters that begin from one byte to another; negative if the other is before."""
    count = np.int64(0)
    for place in range(begin, end):
        count += (text[place] & 0xC0) != 0x80
    for place in range(end, begin):
        count -= (text[place] & 0xC0) != 0x80
    return count


@kernel
def _before_edits(edits_: Ints, places_: Ints) -> None:
    """Trace places back over edits; an edit is the begin and end of the old text, and the end of the new
    one.
    """
    edits, places, count = pointer(edits_), pointer(places_), 3 * len(edits_)
    for side in range(2):
        edit = kept = behind = np.int64(0)  # where the unchanged text begins, now and before
        for token in range(len(places_)):
            place = places[2 * token + side] - side  # the first byte, or the last one
            old, edit, kept, behind = before_edits(edits, edit, count, kept, behind, place)
            if side and edit < count and old == edits[edit]:  # within new text
                old = max(old, edits[edit + 1] - 1)
            places[2 * token + side] = old + side


@kernel
def _before_edits_up_to_next(edits_: Ints, before: Ints, now: Ints, places_: Ints) -> None:
    """The same, for tokens that end where the byte after them comes from.

    Document d was at ``before[d]`` to ``before[d + 1]``, and is at ``now[d]`` to ``now[d + 1]``. After its end
    comes text that was removed without a note, or another document.
    """
    edits, places, count = pointer(edits_), pointer(places_), 3 * len(edits_)
    for side in (1, 0):  # the begin of a token tells its document
        document, last = np.int64(-1), np.int64(0)
        edit = kept = behind = np.int64(0)
        for token in range(len(places_)):
            while places[2 * token] >= now[document + 1]:
                document += 1
                edit, kept, behind, stop = last, now[document], before[document], before[document + 1]
                while last < count and (
                    edits[last] < stop or (edits[last + 1] == stop and edits[last + 2] <= now[document + 1])
                ):
                    last += 3
            place = places[2 * token + side]
            places[2 * token + side], edit, kept, behind = before_edits(edits, edit, last, kept, behind, place)
