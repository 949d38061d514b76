r"""Expectation maximisation and pruning for the unigram model (Kudo 2018), over words with counts.

All pieces at all places of all words are listed once, as *edges*, and thinned out as pieces go; no trie is
walked again. The E-step adds probabilities, not their logarithms: a word is short enough for float64, and
where it is not, the running sums are scaled (each position remembers its scale). The M-step is sentencepiece's:
pieces expected less than half a time go, the others get ``digamma(expected) - digamma(sum)``, which acts as a
sparse prior.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer
from tokbench_subword.unigram.train_seeds import Pieces, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = 8
"""Parts of the E-step, summed in order: the result is the same for any number of threads."""
_MISSING_PENALTY = 10.0  # how much less than the worst piece a character is worth that lost its piece
_KEEP, _DROP = np.inf, -np.inf
_SMALL, _LARGE = 1e-120, 1e120


@dataclass(slots=True, eq=False)
class Edges:
    """Which pieces lie where: `lengths` and `pieces` of those that begin at place i from ``bounds[i]`` on."""

    bounds: NDArray[np.int64]
    lengths: NDArray[np.uint16]
    pieces: NDArray[np.int32]


def find_edges(text: Text, pieces: Pieces, max_length: int) -> Edges:
    """All edges of `text`."""
    n = int(text.starts[-1] + text.sizes[-1]) + 1
    size = 1 << 10
    while size < 2 * (int(pieces.lengths.sum()) + 2):
        size *= 2
    keys, values = np.full(size, -1, np.int64), np.zeros(size, np.int32)
    ends = np.full(int(pieces.lengths.sum()) + 2, -1, np.int32)
    n_symbols = len(text.alphabet) + 1
    _build(text.symbols, pieces.starts, pieces.lengths, keys, values, ends, n_symbols)
    bounds = np.zeros(n + 1, np.int64)
    lengths, found = np.empty(0, np.uint16), np.empty(0, np.int32)
    total = _list_edges(text.symbols, n, keys, values, ends, n_symbols, max_length, bounds, lengths, found)
    lengths, found = np.empty(total, np.uint16), np.empty(total, np.int32)
    _list_edges(text.symbols, n, keys, values, ends, n_symbols, max_length, bounds, lengths, found)
    return Edges(bounds, lengths, found)


def thin(edges: Edges, kept: NDArray[np.bool_]) -> None:
    """Drop the edges of pieces that are not `kept`, and number the others anew."""
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    total = _compact(edges.bounds, edges.lengths, edges.pieces, numbers)
    edges.lengths, edges.pieces = edges.lengths[:total], edges.pieces[:total]


def expect(text: Text, edges: Edges, pieces: Pieces, threads: int) -> tuple[NDArray[np.float64], float]:
    """The expected count of each piece, and the mean log likelihood of a word."""
    probabilities = np.exp(pieces.scores)
    longest = int(text.sizes.max())
    limits = _chunks(text)

    def part(index: int) -> tuple[NDArray[np.float64], float]:
        expected = np.zeros(len(pieces))
        low, high = limits[index], limits[index + 1]
        objective = _expect(
            text.starts[low:high], text.sizes[low:high], text.counts[low:high], edges.bounds, edges.lengths,
            edges.pieces, probabilities, expected, np.zeros((4, longest + 2)),
        )  # fmt: skip
        return expected, objective

    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(part, range(CHUNKS)))
    else:
        parts = [part(index) for index in range(CHUNKS)]
    expected = np.zeros(len(pieces))
    for one, _ in parts:
        expected += one
    return expected, sum(objective for _, objective in parts) / float(text.counts.sum())


def _chunks(text: Text) -> list[int]:
    """Runs of words of about equal size in characters."""
    ends = np.cumsum(text.sizes)
    cuts = np.searchsorted(ends, [int(ends[-1]) * part // CHUNKS for part in range(1, CHUNKS)])
    return [0, *cuts.tolist(), len(text.sizes)]


def maximise(pieces: Pieces, edges: Edges, expected: NDArray[np.float64]) -> Pieces:
    """The pieces that are worth keeping, with new scores; characters always stay."""
    used = expected >= 0.5
    total = expected[used].sum()
    scores = pieces.scores.copy()
    scores[used] = _digammas(expected[used]) - _digammas(np.array([total]))[0]
    single = pieces.lengths == 1
    if used.any():
        scores[single & ~used] = scores[used].min() - _MISSING_PENALTY
    kept = used | single
    thin(edges, kept)
    return Pieces(pieces.starts, pieces.lengths, scores).kept(kept)


def prune(text: Text, edges: Edges, pieces: Pieces, target: int) -> Pieces:
    """At most about `target` pieces, those whose loss would cost the likelihood most.

    The loss of a piece is estimated by handing its count, in the best segmentation of the words, to the best
    segmentation of the piece without itself. Pieces that no best segmentation has go first, and so do those
    whose own best segmentation is in parts.
    """
    counts = np.zeros(len(pieces))
    longest = int(max(text.sizes.max(), pieces.lengths.max()))
    best, back = np.zeros(longest + 2), np.zeros(longest + 2, np.int64)
    _count_best(
        text.starts, text.sizes, text.counts, edges.bounds, edges.lengths, edges.pieces, pieces.scores, counts,
        best, back,
    )  # fmt: skip
    losses = np.empty(len(pieces))
    _losses(
        pieces.starts, pieces.lengths, edges.bounds, edges.lengths, edges.pieces, pieces.scores, counts,
        float(text.counts.sum()), losses, best, back,
    )  # fmt: skip
    order = np.argsort(-losses, kind="stable")[: max(target, 1)]
    kept = np.zeros(len(pieces), np.bool_)
    kept[order] = True
    kept &= losses > _DROP
    kept |= pieces.lengths == 1
    thin(edges, kept)
    return pieces.kept(kept)


def estimate(
    text: Text,
    edges: Edges,
    pieces: Pieces,
    *,
    target: int,
    shrinking_factor: float,
    sub_iterations: int,
    threads: int,
    progress: Callable[[int], None],
) -> Pieces:
    """Pieces and scores by turns of EM and pruning, until there are `target` or fewer."""
    while True:
        for _ in range(sub_iterations):
            expected, _ = expect(text, edges, pieces, threads)
            pieces = maximise(pieces, edges, expected)
        progress(len(pieces))
        if len(pieces) <= target:
            return pieces
        before = len(pieces)
        pieces = prune(text, edges, pieces, max(target, int(shrinking_factor * len(pieces))))
        if len(pieces) == before:  # only characters are left
            return pieces


# --- kernels -----------------------------------------------------------------------------------------


@inline
def _child(keys, values, mask, node, symbol, n_symbols):  # type: ignore[no-untyped-def]
    """Where the trie's table has the child of `node` by `symbol`: its slot, free or not."""
    key = node * n_symbols + symbol
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot, key


@kernel
def _build(symbols, starts, lengths, keys_array, values_array, ends, n_symbols):  # type: ignore[no-untyped-def]
    """A trie of all pieces in a hash table; ``ends[node]`` is the piece that ends there, or -1."""
    keys, values, mask = pointer(keys_array), pointer(values_array), np.int64(len(keys_array) - 1)
    nodes = 1
    for piece in range(len(starts)):
        node = np.int64(0)
        for index in range(lengths[piece]):
            symbol = np.int64(symbols[starts[piece] + index])
            slot, key = _child(keys, values, mask, node, symbol, n_symbols)
            if keys[slot] == -1:
                keys[slot], values[slot] = key, nodes
                nodes += 1
            node = np.int64(values[slot])
        ends[node] = piece


@kernel
def _list_edges(  # type: ignore[no-untyped-def]
    symbols_array, n, keys_array, values_array, ends_array, n_symbols, max_length, bounds, lengths, pieces
):
    """Fill bounds, lengths and pieces as far as there is room; the number of edges."""
    keys, values, ends = pointer(keys_array), pointer(values_array), pointer(ends_array)
    symbols, mask, room = pointer(symbols_array), np.int64(len(keys_array) - 1), len(lengths)
    count = np.int64(0)
    for place in range(n):
        bounds[place] = count
        node, length = np.int64(0), 0
        while length < max_length:
            symbol = np.int64(symbols[place + length])
            if symbol == 0:
                break
            slot, _ = _child(keys, values, mask, node, symbol, n_symbols)
            if keys[slot] == -1:
                break
            node = np.int64(values[slot])
            length += 1
            if ends[node] >= 0:
                if count < room:
                    lengths[count], pieces[count] = length, ends[node]
                count += 1
    bounds[n] = count
    return count


@kernel
def _compact(bounds, lengths, pieces, numbers):  # type: ignore[no-untyped-def]
    total, low = np.int64(0), bounds[0]
    for place in range(len(bounds) - 1):
        high = bounds[place + 1]
        bounds[place] = total
        for edge in range(low, high):
            piece = numbers[pieces[edge]]
            if piece >= 0:
                lengths[total], pieces[total] = lengths[edge], piece
                total += 1
        low = high
    bounds[-1] = total
    return total


@kernel
def _expect(  # type: ignore[no-untyped-def]
    starts,
    sizes,
    counts,
    bounds_array,
    lengths_array,
    pieces_array,
    probabilities_array,
    expected_array,
    scratch,
):
    """Add the expected counts of these words' pieces; returns the sum of their log likelihoods.

    Rows of `scratch`: forward sums, backward sums, and the logarithm by which each forward sum is too small.
    """
    bounds, lengths, pieces = pointer(bounds_array), pointer(lengths_array), pointer(pieces_array)
    probabilities, expected = pointer(probabilities_array), pointer(expected_array)
    forward, backward, scales = scratch[0], scratch[1], scratch[2]
    ahead, behind, scaled_by = pointer(forward), pointer(backward), pointer(scales)
    objective = 0.0
    for word in range(len(starts)):
        start, size, count = starts[word], sizes[word], counts[word]
        for place in range(size + 1):
            ahead[place] = 0.0
        ahead[0], scale = 1.0, 0.0
        for place in range(size):
            here = ahead[place]
            if here < _SMALL or here > _LARGE:  # bring what is ahead back to a size that floats can hold
                factor = 1.0 / here
                for later in range(place, size + 1):
                    ahead[later] *= factor
                    if later > place + 4096:
                        break
                scale += np.log(here)
                here = 1.0
            scaled_by[place] = scale
            for edge in range(bounds[start + place], bounds[start + place + 1]):
                ahead[place + np.int64(lengths[edge])] += here * probabilities[np.int64(pieces[edge])]
        scaled_by[size] = scale
        total = ahead[size]
        objective += count * (np.log(total) + scale)
        # Backward sums are kept relative to the forward scale of their place, times count / total, so that the
        # product of both is the expected count itself.
        behind[size] = count / total
        for back in range(size):
            place = size - 1 - back
            own, here, sum_here = scaled_by[place], ahead[place], 0.0
            last, factor = own, 1.0
            for edge in range(bounds[start + place], bounds[start + place + 1]):
                end, piece = place + np.int64(lengths[edge]), np.int64(pieces[edge])
                if scaled_by[end] != last:
                    last = scaled_by[end]
                    factor = np.exp(own - last)
                share = probabilities[piece] * behind[end] * factor
                sum_here += share
                expected[piece] += here * share
            behind[place] = sum_here
    return objective


@kernel
def _digammas(values):  # type: ignore[no-untyped-def]
    """The digamma function, by recurrence and asymptotic series."""
    results = np.empty(len(values))
    for index in range(len(values)):
        value, result = values[index], 0.0
        while value < 7.0:
            result -= 1.0 / value
            value += 1.0
        value -= 0.5
        square = 1.0 / (value * value)
        series = square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * 127 / 30720)))
        results[index] = result + np.log(value) + series
    return results


@kernel
def _count_best(  # type: ignore[no-untyped-def]
    starts, sizes, counts, bounds, lengths, pieces, scores, totals, best, back
):
    """Add to `totals` how often each piece is in the best segmentations of the words."""
    for word in range(len(starts)):
        start, size = starts[word], sizes[word]
        for place in range(size + 1):
            best[place] = -np.inf
        best[0] = 0.0
        for place in range(size):
            for edge in range(bounds[start + place], bounds[start + place + 1]):
                end, score = place + np.int64(lengths[edge]), best[place] + scores[pieces[edge]]
                if score > best[end]:
                    best[end], back[end] = score, edge
        place = size
        while place > 0:
            edge = back[place]
            totals[pieces[edge]] += counts[word]
            place -= np.int64(lengths[edge])


@kernel
def _losses(  # type: ignore[no-untyped-def]
    starts, sizes, bounds, lengths, pieces, scores, totals, n_words, losses, best, back
):
    """What each piece is worth: the fall in mean log likelihood if it went (all: keep; -inf: it can go)."""
    everything = totals.sum()
    log_everything = np.log(everything)
    for piece in range(len(starts)):
        start, size = starts[piece], sizes[piece]
        if size == 1:
            losses[piece] = _KEEP
            continue
        for place in range(size + 1):
            best[place] = -np.inf
        best[0] = 0.0
        for place in range(size):
            if best[place] == -np.inf:
                continue
            for edge in range(bounds[start + place], bounds[start + place + 1]):
                end = place + np.int64(lengths[edge])
                if end > size or (pieces[edge] == piece and end == size):
                    continue
                score = best[place] + scores[pieces[edge]]
                if score > best[end]:
                    best[end], back[end] = score, edge
        count = totals[piece]
        if best[size] > scores[piece] or count == 0.0:
            losses[piece] = _DROP
            continue
        parts, logs, place = 0, 0.0, size
        while place > 0:
            edge = back[place]
            logs += np.log(totals[pieces[edge]] + count)
            parts += 1
            place -= np.int64(lengths[edge])
        without = logs - parts * np.log(everything + count * (parts - 1))
        losses[piece] = count / n_words * (np.log(count) - log_everything - without)
