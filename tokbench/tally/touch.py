"""Counts the tokens that touch each word, number, identifier or other span, from the places of the tokens.

The tokens that touch a span are as many as begin before its end, less those that end before it begins. Words
are many and are walked along with the tokens; the other spans are few and looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokbench.tally.marks import MarkedBytes
from tokbench.tally.places import Places
from tokbench.tally.text import Offsets, Spans, TextBatch
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

WHOLE = ("numbers", "operators")
"""Things of which those are counted that one token covers; of others, the tokens that touch them."""


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
    for name, spans in batch.spans.items():
        tokens = touching.tokens(spans)
        counts[f"aligned_{name}"] = aligned * spans.counts
        if name in WHOLE:
            counts[f"whole_{name}"] = aligned * spans.sums(tokens == 1)
        else:
            counts[f"{name.removesuffix('s')}_tokens"] = aligned * spans.sums(tokens)
    for name, cuts in batch.cuts.items():
        made, right, gold = of_cuts = np.zeros((3, len(batch)), np.int64)
        count_cuts(places.boundary, cuts, places.aligned, of_cuts)
        counts |= {f"{name}_cuts": made, f"{name}_hits": right, f"{name}_reach": gold}
    if batch.syntax is not None:
        gaps = batch.syntax  # found once, however many boundaries fall in one, its ends included
        inside = _inside(places, gaps.start - 1, gaps.end + 1)
        counts["syntax_reach"] = aligned * gaps.counts
        counts["syntax_hits"] = aligned * gaps.sums(inside > 0)
        counts["syntax_cuts"] = counts["boundaries"]
    return counts, touching.many


class _TokenTouches:
    """Tokens of the aligned documents, ready to be asked what they touch."""

    def __init__(self, batch: TextBatch, places: Places, few: Ints) -> None:
        self._places = places
        words = batch.words
        every = MarkedBytes(batch.data, batch.marks, places.boundary)
        counts, many = np.zeros((len(TOUCHED), len(batch)), np.int64), np.empty_like(words.start)
        found = Touching(counts, few, many)
        n_many = touch_exact(batch.arrays, places.exact, words, every, found)
        self.counts: dict[str, Ints] = dict(zip(TOUCHED, counts, strict=True))
        self._divided = bool(places.exact.all())
        if not self._divided:
            start, end = places.tokens.start, places.tokens.end
            ordered = bool((np.diff(start) >= 0).all() and (np.diff(end) >= 0).all())
            if not ordered:  # by a tokenizer's own offsets; even so none is outside its document
                start, end = np.sort(start), np.sort(end)
            self._tokens = Spans(start, end, places.tokens.limits)
            rest = places.aligned & ~places.exact
            n_many = touch_words(batch.arrays, rest, self._tokens, words, every, found, n_many)
            if not ordered:
                self.counts["cross_words"] = _cross_words(words, places.tokens)
        self.many = many[:n_many]

    def tokens(self, spans: Spans) -> Ints:
        """How many tokens touch each span of aligned documents."""
        if self._divided:
            return _inside(self._places, spans.start, spans.end) + 1
        begun = np.searchsorted(self._tokens.start, spans.end, side="left")
        return begun - np.searchsorted(self._tokens.end, spans.start, side="right")


def _inside(places: Places, start: Offsets, end: Offsets) -> Ints:
    """How many boundaries lie inside each span, its two ends left out."""
    found: Ints = np.empty(len(start), np.int64)
    boundaries_inside(places.boundary, start, end, found)
    return found


def _cross_words(words: Spans, tokens: Spans) -> Ints:
    """Tokens that touch two or more words, whatever their order."""
    begun = np.searchsorted(words.start, tokens.end, side="left")
    return tokens.sums(begun - np.searchsorted(words.end, tokens.start, side="right") > 1)
