"""The lattice of a text: sampling paths, the n best paths, listing the edges (`viterbi` finds the best path).

The edges of the lattice are all pieces that occur in the text, each from its beginning to its end. Sampling
filters backwards and draws forwards. ``beta[i]`` is the log of the summed probabilities of all segmentations of
the text after position i; from position 0 on, each piece is drawn with its share of ``beta``. That is Kudo's
(2018) sampling from the whole lattice, mirrored, so that one walk finds the edges out of a position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Floats, Ids, Int, Ints, Words, padded, pointer
from tokbench.kernels.utf8 import plain_width_of, width_of
from tokbench_subword.pipeline.trie import BASE_SHIFT, LABEL_MASK, VALUE_MASK, VALUE_SHIFT, descend, root_of
from tokbench_subword.unigram.paths import UNKNOWN_PIECE


def best_paths(
    data: bytes, units: NDArray[np.uint64], scores: NDArray[np.float64], unknown: float, n: int
) -> tuple[NDArray[np.int32], list[int], list[float]]:
    """The `n` best paths, best first; fewer if there are fewer.

    Returns all paths end to end, int32 ``(pieces, 3)``, with rows of (start, end, piece); the row at which each
    path ends; and their scores.
    """
    totals = np.full((len(data) + 1, n), -np.inf)
    links = np.empty((len(data) + 1, n, 3), np.int32)  # start, rank there, piece
    lengths = np.zeros(n, np.int64)
    _n_best(padded(data), units, scores, float(unknown), totals, links, lengths)
    found = int(np.count_nonzero(np.isfinite(totals[-1])))
    nodes = np.empty((int(lengths.sum()), 3), np.int32)
    _follow(links, lengths[:found], nodes)
    return nodes, np.cumsum(lengths[:found]).tolist(), totals[-1, :found].tolist()


def edges_from(data: bytes, start: int, units: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """(end, piece) of every piece that begins at `start`, shortest first; an unknown character where none fits.

    The plain form of the kernels' walk.
    """
    unit, single = int(units[0]), False
    width = plain_width_of(data[start])
    for position in range(start, len(data)):
        base = unit >> BASE_SHIFT
        unit = int(units[base + data[position]]) if base else LABEL_MASK
        if unit & LABEL_MASK != data[position]:
            break
        piece = (unit >> VALUE_SHIFT & VALUE_MASK) - 1
        if piece >= 0:
            single = single or position + 1 == start + width
            yield position + 1, piece
    if not single:
        yield start + width, UNKNOWN_PIECE


class _DrawTables(NamedTuple):
    """The inputs of drawing: the trie of pieces, their scores, an unknown character's score, the exponent."""

    units: Any
    scores: Any
    unknown: Any
    alpha: Any


@kernel
def draw_paths(
    source: Bytes,
    bounds: Ints,
    units_array: Words,
    scores: Floats,
    unknown: float,
    alpha: float,
    uniforms: Floats,
    nodes: Ints,
) -> Int:
    """Write a path through each stretch ``source[bounds[i]:bounds[i + 1]]`` to `nodes`; return the row count.

    `uniforms` is a number in [0, 1) for each byte.
    """
    data, pieces = pointer(source), _DrawTables(pointer(units_array), scores, unknown, alpha)
    beta = np.empty(len(source) + 1, np.float64)
    count = 0
    for stretch in range(len(bounds) - 1):
        begin, stop = bounds[stretch], bounds[stretch + 1]
        beta[stop] = 0.0
        for start in range(stop - 1, begin - 1, -1):
            if data[start] & 0xC0 != 0x80:  # not within a character
                beta[start] = _walk(data, start, stop, pieces, beta, -1.0, nodes, 0)
        position = begin
        while position < stop:
            target = uniforms[position]
            _walk(data, position, stop, pieces, beta, target, nodes, count)
            position = nodes[count, 1]
            count += 1
    return count


@inline
def _added(weight: Any, largest: Any, total: Any) -> Any:
    """The largest term of a sum of exponentials, and the sum relative to it, with one term more."""
    if weight > largest:
        return weight, total * np.exp(largest - weight) + 1.0
    return largest, total + np.exp(weight - largest)


@inline
def _walk(
    data: Bytes, start: Int, stop: Int, pieces: _DrawTables, beta: Floats, target: Any, nodes: Ints, row: Int
) -> Any:
    """The log of the sum over the pieces at `start`; or, with `target` in [0, 1), the drawn one as
    ``nodes[row]``.
    """
    units, scores, unknown, alpha = pieces
    largest, total, drawn = -np.inf, 0.0, 0.0
    width = width_of(data[start])
    node, position, single = root_of(units), start, False
    while position < stop and node > 0:
        node, piece = descend(units, node, np.int64(data[position]))
        if node < 0:
            break
        position += 1
        if piece >= 0:
            single = single or position - start == width
            weight = alpha * scores[piece] + beta[position]
            if target >= 0.0:
                drawn += np.exp(weight - beta[start])
                nodes[row, 0], nodes[row, 1], nodes[row, 2] = start, position, piece
                if drawn > target:
                    return 0.0
            else:
                largest, total = _added(weight, largest, total)
    if not single:
        position = start + width
        weight = alpha * unknown + beta[position]
        if target >= 0.0:
            nodes[row, 0], nodes[row, 1], nodes[row, 2] = start, position, UNKNOWN_PIECE
        else:
            largest, total = _added(weight, largest, total)
    return largest + np.log(total)


@kernel
def _n_best(
    source: Bytes, units_array: Words, scores: Floats, unknown: float, totals: Floats, links: Ids, lengths: Ints
) -> None:
    """Fill `totals` and `links` for all places, best first; set the `lengths` of those to the last."""
    data, units = pointer(source), pointer(units_array)
    sums, ways = pointer(totals), pointer(links)
    size, n = np.int64(len(source)), totals.shape[1]
    totals[0, 0] = 0.0
    root = root_of(units)
    start = np.int64(0)
    while start < size:
        width = width_of(data[start])
        node, position, single = root, start, False
        while position < size and node > 0:
            node, piece = descend(units, node, np.int64(data[position]))
            if node < 0:
                break
            position += 1
            if piece >= 0:
                single = single or position - start == width
                _offer_all(sums, ways, start, position, piece, scores[piece], n)
        if not single:
            _offer_all(sums, ways, start, start + width, np.int64(UNKNOWN_PIECE), unknown, n)
        start += width
    for rank in range(n):
        position, place = size, np.int64(rank)
        if totals[position, place] > -np.inf:
            while position > 0:
                position, place = np.int64(links[position, place, 0]), np.int64(links[position, place, 1])
                lengths[rank] += 1


@kernel
def _follow(links: Ids, lengths: Ints, nodes: Ids) -> None:
    """Write the nodes of the first paths, one path after another."""
    end = np.int64(0)
    for rank in range(len(lengths)):
        end += lengths[rank]
        position, place = np.int64(len(links) - 1), np.int64(rank)
        for back in range(lengths[rank]):
            row = end - 1 - back
            start, before, piece = links[position, place]
            nodes[row, 0], nodes[row, 1], nodes[row, 2] = start, position, piece
            position, place = np.int64(start), np.int64(before)


@inline
def _offer_all(totals: Floats, links: Ids, start: Int, end: Int, piece: Int, score: Any, n: Int) -> None:
    """Let every kept path to `start`, with one more piece, compete for the `n` places at `end`."""
    first, last = end * n, end * n + n - 1
    for rank in range(n):
        total = totals[start * n + rank] + score
        if not total > totals[last]:
            return
        place = last
        while place > first and total > totals[place - 1]:
            totals[place] = totals[place - 1]
            for field in range(3):
                links[3 * place + field] = links[3 * place - 3 + field]
            place -= 1
        totals[place] = total
        links[3 * place], links[3 * place + 1], links[3 * place + 2] = start, rank, piece
