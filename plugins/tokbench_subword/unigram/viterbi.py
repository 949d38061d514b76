r"""The best segmentation under a unigram model, exactly as the reference libraries find it, and fast.

The best path to position j is the best path to some i < j plus the piece from i to j; ties go to the earlier
start. sentencepiece adds up in float32 over the whole text, `tokenizers` in float64 over each word. A sum in
float32 depends on what was added before it, so a word's best segmentation can differ from place to place where
two candidates are close. This module keeps that:

* Text is cut where no piece crosses (`segments`); the score so far, rounded as the library rounds it, is
  carried over the cut. So far this is the library's own computation, only in stretches.
* A stretch of up to 32 bytes is looked up in a cache, *if the answer cannot depend on the score so far*. With n
  characters, the rounding errors of two paths differ by at most n units in the last place of the largest sum;
  if the best path beats the second best by more than that, rounding cannot make another path win. The
  margin is measured once, in float64, when the stretch is first seen; from it follows a `limit` on the score
  so far up to which the entry is good. Beyond the limit the stretch is computed. Either way, the ids are the
  library's.

sentencepiece (0.2.3) sets the running score back to zero when it passes ±100,000; so do these kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench_subword.unigram.layout import THRESHOLD, UNKNOWN
from tokbench_subword.unigram.stretches import MAX_LIMIT, UNKNOWN_PIECE, link, width_of
from tokbench_subword.unigram.trie import BASE_MASK, BASE_SHIFT, LABEL_MASK, VALUE_SHIFT


@subroutine
def search(data, begin, size, units, scores, parameters, base, best, links):  # type: ignore[no-untyped-def]
    """Fill `links`, by the end of each piece, for the `size` bytes from `begin` on; returns the final score.

    `base` is the score so far; the dtype of `scores` and `parameters` (see `layout`) is the precision of every
    sum.
    """
    unknown, threshold = parameters[UNKNOWN], parameters[THRESHOLD]
    for position in range(1, size + 1):
        links[position] = -1
    best[0] = base
    root = np.int64(units[0] >> np.uint64(BASE_SHIFT)) & BASE_MASK
    here: Any = np.int64(0)
    frontier: Any = here
    while here < size:
        so_far = best[here]
        if so_far < -threshold or so_far > threshold:
            for position in range(here, frontier + 1):
                if position == here or links[position] >= 0:
                    best[position] -= so_far
            so_far = best[here]
        width = width_of(data[begin + here])
        node, single = root, False
        position = here
        while position < size:
            byte = np.int64(data[begin + position])
            unit = units[node + byte]
            if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
                break
            position += 1
            piece = np.int64(unit >> np.uint64(VALUE_SHIFT)) - 1
            if piece >= 0:
                score = so_far + scores[piece]
                if links[position] < 0 or score > best[position]:
                    best[position], links[position] = score, link(here, piece)
                if position - here == width:
                    single = True
                frontier = max(frontier, position)
            node = np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK
            if node == 0:
                break
        if not single:
            position = here + width
            score = so_far + unknown
            if links[position] < 0 or score > best[position]:
                best[position], links[position] = score, link(here, UNKNOWN_PIECE)
            frontier = max(frontier, position)
        here += width
    return best[size]


@subroutine
def search_with_margin(  # type: ignore[no-untyped-def]
    data, begin, size, units, scores, parameters, base, best, links, exact
):
    """`search`, and the lead of the best path over the second best, in float64: (final score, lead,
    characters).

    Sums are not set back. `exact` is scratch, float64 of twice ``CACHED_BYTES + 1``: best and second best total
    up to each position.
    """
    unknown = parameters[UNKNOWN]
    for position in range(1, size + 1):
        links[position] = -1
        exact[2 * position] = exact[2 * position + 1] = -np.inf
    best[0] = base
    exact[0], exact[1] = 0.0, -np.inf
    root = np.int64(units[0] >> np.uint64(BASE_SHIFT)) & BASE_MASK
    here: Any = np.int64(0)
    characters = 0
    while here < size:
        so_far, first, second = best[here], exact[2 * here], exact[2 * here + 1]
        width = width_of(data[begin + here])
        node, single = root, False
        position = here
        while position < size:
            byte = np.int64(data[begin + position])
            unit = units[node + byte]
            if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
                break
            position += 1
            piece = np.int64(unit >> np.uint64(VALUE_SHIFT)) - 1
            if piece >= 0:
                score = so_far + scores[piece]
                if links[position] < 0 or score > best[position]:
                    best[position], links[position] = score, link(here, piece)
                _offer(exact, position, first + scores[piece], second + scores[piece])
                if position - here == width:
                    single = True
            node = np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK
            if node == 0:
                break
        if not single:
            position = here + width
            score = so_far + unknown
            if links[position] < 0 or score > best[position]:
                best[position], links[position] = score, link(here, UNKNOWN_PIECE)
            _offer(exact, position, first + unknown, second + unknown)
        here += width
        characters += 1
    return best[size], exact[2 * size] - exact[2 * size + 1], characters


@inline
def _offer(exact, position, first, second):  # type: ignore[no-untyped-def]
    """Let two more totals compete for the best two at `position`."""
    if first > exact[2 * position]:
        exact[2 * position + 1] = max(exact[2 * position], second)
        exact[2 * position] = first
    elif first > exact[2 * position + 1]:
        exact[2 * position + 1] = first


@inline
def safe_limit(lead, characters, largest, threshold, ulp):  # type: ignore[no-untyped-def]
    """Up to which score so far (its absolute value) a stretch's best path is certain; negative for never.

    `largest` bounds the absolute score of a piece, `ulp` is the relative spacing of the sums' floats.
    """
    reach = characters * largest
    limit = lead / (characters * ulp) - reach
    return np.int64(max(-1.0, min(limit, min(threshold - reach, float(MAX_LIMIT)))))
