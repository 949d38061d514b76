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
    counts, many, tokens = _touch_words(batch, places, few)
    aligned = places.aligned.astype(np.int64)
    counts |= {"aligned_documents": aligned, "aligned_bytes": aligned * batch.counts["bytes"]}
    for name, spans in batch.spans.items():
        touching = _inside(places, spans.start, spans.end) + 1 if tokens is None else _touching(spans, tokens)
        counts[f"aligned_{name}"] = aligned * spans.counts
        if name in WHOLE:
            counts[f"whole_{name}"] = aligned * spans.sums(touching == 1)
        else:
            counts[f"{name.removesuffix('s')}_tokens"] = aligned * spans.sums(touching)
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
    return counts, many


def _touch_words(batch: TextBatch, places: Places, few: Ints) -> tuple[dict[str, Ints], Offsets, Spans | None]:
    """The counts of `TOUCHED`; the n that are too large for `few`; the tokens, unless boundaries tell them all.

    Starts and ends of the tokens are both ascending, if need be each for itself.
    """
    words, every = batch.words, MarkedBytes(batch.data, batch.marks, places.boundary)
    counts, many = np.zeros((len(TOUCHED), len(batch)), np.int64), np.empty_like(words.start)
    told, found = dict(zip(TOUCHED, counts, strict=True)), Touching(counts, few, many)
    n_many = touch_exact(batch.arrays, places.exact, words, every, found)
    if places.exact.all():
        return told, many[:n_many], None
    tokens = places.tokens
    ordered = bool((np.diff(tokens.start) >= 0).all() and (np.diff(tokens.end) >= 0).all())
    if not ordered:  # by a tokenizer's own offsets; even so none is outside its document
        tokens = Spans(np.sort(tokens.start), np.sort(tokens.end), tokens.limits)
    rest = places.aligned & ~places.exact
    n_many = touch_words(batch.arrays, rest, tokens, words, every, found, n_many)
    if not ordered:
        told["cross_words"] = places.tokens.sums(_touching(places.tokens, words) > 1)
    return told, many[:n_many], tokens


def _touching(spans: Spans, others: Spans) -> Ints:
    """How many of the others touch each span; their starts and their ends are ascending."""
    begun = np.searchsorted(others.start, spans.end, side="left")
    return begun - np.searchsorted(others.end, spans.start, side="right")


def _inside(places: Places, start: Offsets, end: Offsets) -> Ints:
    """How many boundaries lie inside each span, its two ends left out."""
    found: Ints = np.empty(len(start), np.int64)
    boundaries_inside(places.boundary, start, end, found)
    return found
