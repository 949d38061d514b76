"""Counts the tokens that touch each word, number, identifier or other span, from the places of the tokens.

The tokens that touch a span are as many as begin before its end, less those that end before it begins. Words
are many and are walked along with the tokens; the other spans are few and looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.tally.marks import MarkedBytes, boundary_flags
from tokbench.tally.places import Places
from tokbench.tally.text import DocumentSpans, InnerCuts, Spans, TextBatch
from tokbench.tally.touch_kernels import (
    TOUCHED,
    Touching,
    boundaries_inside,
    count_cuts,
    touch_exact,
    touch_words,
)

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints
    from tokbench.tally.text import Offsets


class _TokenTouches:
    """Tokens of the aligned documents, ready to be asked what they touch."""

    def __init__(self, batch: TextBatch, places: Places, few: Ints) -> None:
        self.aligned = places.aligned
        self.n = len(batch)
        self.divided = bool(places.exact.all())
        # a boundary: some token begins here, and not at the start of the document
        self.boundary = places.boundary
        words = batch.words
        every = MarkedBytes(batch.data, batch.marks, self.boundary)
        counts, many = np.zeros((len(TOUCHED), self.n), np.int64), np.empty(len(words.start), words.start.dtype)
        found = Touching(counts, few, many)
        n_many = touch_exact(batch.arrays, places.exact, words, every, found)
        self.counts: dict[str, Ints] = dict(zip(TOUCHED, counts, strict=True))
        if not self.divided:
            self.start: Any = places.tokens.start
            self.end: Any = places.tokens.end
            ordered = bool((np.diff(self.start) >= 0).all() and (np.diff(self.end) >= 0).all())
            if not ordered:  # by a tokenizer's own offsets; even so none is outside its document
                self.start, self.end = np.sort(self.start), np.sort(self.end)
            tokens = DocumentSpans(self.start, self.end, places.tokens.limits)
            rest = places.aligned & ~places.exact
            n_many = touch_words(batch.arrays, rest, tokens, words, every, found, n_many)
            if not ordered:
                self.counts["cross_words"] = self._cross_words(batch, places)
        self.many = many[:n_many]

    def own(self, spans: Spans) -> Spans:
        """The spans that lie in aligned documents."""
        keep = self.aligned[spans.document]
        return Spans(spans.start[keep], spans.end[keep], spans.document[keep])

    def tokens(self, spans: Spans) -> Ints:
        """How many tokens touch each span."""
        if self.divided:
            inside: Ints = np.empty(len(spans), np.int64)
            boundaries_inside(self.boundary, spans.start, spans.end, inside)
            return inside + 1
        begun = np.searchsorted(self.start, spans.end, side="left")
        return begun - np.searchsorted(self.end, spans.start, side="right")

    def _cross_words(self, batch: TextBatch, places: Places) -> Ints:
        """Tokens that touch two or more words, whatever their order."""
        words = self.own(batch.words.located())
        begun = np.searchsorted(words.start, places.tokens.end, side="left")
        many = begun - np.searchsorted(words.end, places.tokens.start, side="right") > 1
        return self.per_document(np.searchsorted(batch.starts, places.tokens.start[many], side="right") - 1)

    def per_document(self, documents: Ints, values: Ints | None = None) -> Ints:
        """Sums over documents: of `values`, or of how often each is named."""
        return np.bincount(documents, weights=values, minlength=self.n).astype(np.int64, copy=False)

    def against(self, cuts: InnerCuts, prefix: str) -> dict[str, Ints]:
        """Boundaries made, boundaries that are right, and those that should have been made."""
        if not len(cuts.at):
            return {}
        made, right, gold = counts = np.zeros((3, self.n), np.int64)
        count_cuts(self.boundary, cuts.at, cuts.document, cuts.gold, self.aligned, counts)
        return {f"{prefix}_cuts": made, f"{prefix}_hits": right, f"{prefix}_reach": gold}


def touch(batch: TextBatch, places: Places, few: Ints) -> tuple[dict[str, Ints], Offsets]:
    """Counts by document of all that depends on places.

    An aligned word that n tokens touch is counted in ``few[n]``. Given too are the n that are too large for
    that, one for each word.
    """
    touching = _TokenTouches(batch, places, few)
    aligned = places.aligned.astype(np.int64)
    counts = {
        **touching.counts,
        "aligned_documents": aligned,
        "aligned_bytes": aligned * batch.counts["bytes"],
    }
    for name, spans in {"numbers": batch.numbers, **batch.code}.items():
        counts |= _wholes(touching, name, touching.own(spans))
    counts |= touching.against(batch.digits, "digit")
    if batch.identifier_cuts is not None:
        counts |= touching.against(batch.identifier_cuts, "identifier")
    if batch.syntax is not None:
        counts |= _syntax(batch, touching, batch.syntax)
    return counts, touching.many


def _wholes(touching: _TokenTouches, name: str, spans: Spans) -> dict[str, Ints]:
    """How many spans there are, how many one token covers, and the tokens that touch them."""
    if not len(spans):
        return {}
    tokens = touching.tokens(spans)
    result = {f"aligned_{name}": touching.per_document(spans.document)}
    if name in ("numbers", "operators"):
        result[f"whole_{name}"] = touching.per_document(spans.document[tokens == 1])
    else:
        result[f"{name.removesuffix('s')}_tokens"] = touching.per_document(spans.document, tokens)
    return result


def _syntax(batch: TextBatch, touching: _TokenTouches, gaps: Spans) -> dict[str, Ints]:
    """Token boundaries against the gaps between the parser's tokens, in the documents it parsed.

    A gap is found once, however many boundaries fall in it.
    """
    flags = boundary_flags(touching.boundary, len(batch.data) + 1)
    boundaries = np.flatnonzero(flags)
    owner = np.searchsorted(batch.starts, boundaries, side="right") - 1
    here = batch.counts["parsed_documents"][owner] > 0
    before = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=before[1:])
    gaps = touching.own(gaps)
    hit = before[gaps.end + 1] > before[gaps.start]
    return {
        "syntax_reach": touching.per_document(gaps.document),
        "syntax_hits": touching.per_document(gaps.document[hit]),
        "syntax_cuts": touching.per_document(owner[here]),
    }
