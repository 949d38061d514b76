r"""The best segmentation under a unigram model, exactly as the reference libraries find it, and fast.

The best path to position j is the best path to some i < j plus the piece from i to j; ties go to the earlier
start. sentencepiece adds up in float32 over the whole text, `tokenizers` in float64 over each word. A sum in
float32 depends on what was added before it, so a word's best segmentation can differ from place to place where
two candidates are close. This module reproduces that:

* Text is cut where no piece crosses (`words.parts`); the score so far, rounded as the library rounds it, is
  carried over the cut. This is the library's own computation, done in parts.
* A part of up to `LONGEST_PART` bytes is looked up in the word cache, *if the answer cannot depend on the score
  so far*. With n bytes, the rounding errors of two paths differ by at most n units in the last place of
  the largest sum; if the best path beats the second best by more than that, rounding cannot make another path
  win. The margin is measured once, when the part is first seen; from it follows a `limit` on the
  score so far up to which the entry is good. Beyond the limit the part is computed. Either way, the ids are the
  library's.

sentencepiece (0.2.3) sets the running score back to zero when it passes ±100,000; so do these kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, f32_in, f64_in, i64_in, u64_in
from tokbench.kernels.utf8 import width_of
from tokbench_subword.pipeline.trie import descend, root_of
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.paths import UNKNOWN_PIECE, link, link_piece, link_place, turn_around
from tokbench_subword.words.parts import LONGEST_PART

_LEADS = LONGEST_PART + 1
_MOST_LIMIT = (1 << 28) - 1  # so that it may stand in a slot as its fourth number


class Lattice(NamedTuple):
    """The inputs and outputs of a search, as pointers; their types decide the precision of all sums.

    The trie of pieces, their scores by id plus one, the numbers of `layout`; the best score up to each byte,
    and its path.
    """

    units: Any
    scores: Any
    parameters: Any
    best: Any
    links: Any


@inline
def _lattice(block: Block, scores: Any, parameters: Any, best: Any) -> Lattice:
    return Lattice(u64_in(block, at.UNITS), scores, parameters, best, i64_in(block, at.LINKS))


@inline
def single(block: Block) -> Lattice:
    """The lattice of a block with scores in float32, as sentencepiece has them."""
    return _lattice(block, f32_in(block, at.SCORES), f32_in(block, at.PARAMETERS), f32_in(block, at.BEST))


@inline
def double(block: Block) -> Lattice:
    """The lattice of a block with scores in float64, as `tokenizers` has them."""
    return _lattice(block, f64_in(block, at.SCORES), f64_in(block, at.PARAMETERS), f64_in(block, at.BEST))


@subroutine
def search(lattice: Lattice, text: Bytes, begin: Int, size: Int, base: Any) -> Any:
    """Find the best path through the `size` bytes from `begin` on, to ``lattice.links``; the final score.

    `base` is the score so far.
    """
    units, scores, parameters, best, links = lattice
    unknown, threshold = parameters[at.UNKNOWN], parameters[at.THRESHOLD]
    for position in range(1, size + 1):
        links[position] = -1
    best[0] = base
    root = root_of(units)
    here: Any = np.int64(0)
    frontier: Any = here
    while here < size:
        so_far = best[here]
        if so_far < -threshold or so_far > threshold:
            for position in range(here, frontier + 1):
                if position == here or links[position] >= 0:
                    best[position] -= so_far
            so_far = unknown - unknown  # zero, were the sum infinite
        width = width_of(text[begin + here])
        node, alone = root, False
        position = here
        while position < size and node > 0:
            node, piece = descend(units, node, np.int64(text[begin + position]))
            if node < 0:
                break
            position += 1
            if piece >= 0:
                score = so_far + scores[piece + 1]
                if links[position] < 0 or score > best[position]:
                    best[position], links[position] = score, link(here, piece)
                if position - here == width:
                    alone = True
                frontier = max(frontier, position)
        if not alone:
            position = here + width
            score = so_far + unknown
            if links[position] < 0 or score > best[position]:
                best[position], links[position] = score, link(here, UNKNOWN_PIECE)
            frontier = max(frontier, position)
        here += width
    turn_around(links, size)
    return best[size]


@subroutine
def search_with_margin(lattice: Lattice, text: Bytes, begin: Int, size: Int, base: Any) -> tuple[Any, np.int64]:
    """`search`, and up to which score so far (its absolute value) the path would be the same; -1 for never.

    The part, of `LONGEST_PART` bytes at the most, is searched by itself from its end to its beginning: the best
    path from a position on depends only on the totals at the ends of the pieces there, so that the best is kept
    in registers. Any other path leaves the best one somewhere, for the second best piece there or a worse one,
    so that the least lead over a second best is the lead of the path. Only if rounding may use that up, it is
    searched by `search`.

    ``lattice.best`` has the best total from each position on, and from `_LEADS` on the lead of the piece that
    begins there.
    """
    units, scores, parameters, totals, links = lattice
    unknown, root, never = parameters[at.UNKNOWN], root_of(units), scores[0]
    totals[size] = unknown - unknown
    here: Any = size
    while here > 0:
        here -= 1
        first_byte = np.int64(text[begin + here])
        if first_byte & 0xC0 == 0x80:  # within a character
            continue
        behind = here + width_of(first_byte)
        node, piece, position = root, np.int64(UNKNOWN_PIECE), here
        while position < behind and node > 0:  # the character by itself
            node, piece = descend(units, node, np.int64(text[begin + position]))
            position += 1
        first, second = (scores[piece + 1] if piece >= 0 else unknown) + totals[behind], never
        chosen, node = link(behind, piece), max(node, np.int64(0))
        while position < size:
            node, piece = descend(units, node, np.int64(text[begin + position]))
            if node < 0:  # behind a node without children, too
                break
            position += 1
            # no branch tells whether a piece ends here, which no processor can guess: if not, -inf is added
            total = scores[piece + 1] + totals[position]
            second = max(second, min(first, total))
            chosen = position << 32 | piece if total > first else chosen
            first = max(first, total)
        totals[here], totals[_LEADS + here], links[here] = first, first - second, chosen
    lead, score, position = -never, base, np.int64(0)
    while position < size:
        lead = min(lead, totals[_LEADS + position])
        piece, position = link_piece(links[position]), link_place(links[position])
        score += scores[piece + 1] if piece >= 0 else unknown
    # rounding takes at most a unit in the last place of the largest sum from the lead, for each byte; and
    # this search may err as much over the sums of the part: hence twice `reach`
    reach = size * float(parameters[at.LARGEST])
    bound = float(lead) / (size * float(parameters[at.ULP])) - 2.0 * reach
    most = min(float(parameters[at.THRESHOLD]) - reach, float(_MOST_LIMIT))
    limit = np.int64(np.floor(max(-1.0, min(bound, most))))
    if abs(base) > limit:
        score = search(lattice, text, begin, size, base)
    return score, limit
