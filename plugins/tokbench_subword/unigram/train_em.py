r"""Expectation maximisation for the unigram model (Kudo 2018), over words with counts.

The E-step adds probabilities, not their logarithms: a word is short enough for float64, and where it is not,
the running sums are scaled (each position remembers its scale). The M-step is sentencepiece's: pieces expected
less than half a time go, the others get ``digamma(expected) - digamma(sum)``, which acts as a sparse prior.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Floats, Ids, Int, Ints, pointer
from tokbench_subword.unigram.train_edges import Edges, thin
from tokbench_subword.unigram.train_prune import prune
from tokbench_subword.unigram.train_seeds import SeedPieces
from tokbench_subword.unigram.train_text import CHUNKS, Text, Words, summed

_LEAST = 0.5  # how often a piece has to be expected
_SMALL, _LARGE = 1e-120, 1e120


def expect(text: Text, edges: Edges, pieces: SeedPieces, threads: int) -> NDArray[np.float64]:
    """The expected count of each piece."""
    probabilities = np.exp(pieces.scores)
    room = int(text.sizes.max()) + 2

    def part(words: Words, expected: NDArray[np.float64]) -> None:
        _expect(*words, edges.listed, probabilities, expected, np.zeros((3, room)))

    return summed(part, text, len(pieces), threads)


def maximise(pieces: SeedPieces, edges: Edges, expected: NDArray[np.float64], threads: int) -> SeedPieces:
    """The pieces that are expected often enough, with new scores.

    Characters always stay: one that is always within longer pieces here stands alone in another text. Such a
    one gets the lowest score of the pieces that are expected.
    """
    used, single = expected >= _LEAST, pieces.lengths == 1
    kept = used | single
    scores = pieces.scores.copy()
    total = expected[used].sum()
    runs = pairwise(len(pieces) * number // CHUNKS for number in range(CHUNKS + 1))
    thin(edges, kept, threads, [partial(_rescore, expected, *run, total, scores) for run in runs])
    if used.any():
        scores[single & ~used] = scores[used].min()
    return SeedPieces(pieces.starts, pieces.lengths, scores).kept(kept)


def estimate(
    text: Text,
    edges: Edges,
    pieces: SeedPieces,
    *,
    target: int,
    shrinking_factor: float,
    sub_iterations: int,
    threads: int,
    progress: Callable[[int], None],
) -> SeedPieces:
    """Pieces and scores by turns of EM and pruning, until there are `target` or fewer."""
    while True:
        for _ in range(sub_iterations):
            expected = expect(text, edges, pieces, threads)
            pieces = maximise(pieces, edges, expected, threads)
        progress(len(pieces))
        if len(pieces) <= target:
            return pieces
        before = len(pieces)
        pieces = prune(text, edges, pieces, max(target, int(shrinking_factor * before)), threads)
        if len(pieces) == before:  # only characters are left
            return pieces


@kernel
def _expect(
    starts: Ints,
    sizes: Ints,
    counts: Floats,
    edges: tuple[Ints, NDArray[np.uint16], Ids],
    probabilities_array: Floats,
    expected_array: Floats,
    scratch: Floats,
) -> None:
    """Add the expected counts of these words' pieces.

    Rows of `scratch`: forward sums, backward sums, and the logarithm by which each forward sum is too small.
    """
    bounds, lengths, pieces = pointer(edges[0]), pointer(edges[1]), pointer(edges[2])
    probabilities, expected = pointer(probabilities_array), pointer(expected_array)
    forward, backward, scales = scratch[0], scratch[1], scratch[2]
    ahead, behind, scaled_by = pointer(forward), pointer(backward), pointer(scales)
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
                    if later > place + 4096:  # longer than any piece: all sums from here on are 0
                        break
                scale += np.log(here)
                here = 1.0
            scaled_by[place] = scale
            for edge in range(bounds[start + place], bounds[start + place + 1]):
                ahead[place + np.int64(lengths[edge])] += here * probabilities[np.int64(pieces[edge])]
        scaled_by[size] = scale
        # Backward sums are kept relative to the forward scale of their place, times the word's count / its sum,
        # so that the product of both is the expected count itself.
        behind[size] = count / ahead[size]
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


@kernel
def _rescore(expected: Floats, low: Int, high: Int, total: float, scores: Floats) -> None:
    """Give the pieces of a run that are expected often enough their new scores."""
    for piece in range(low, high):
        if expected[piece] >= _LEAST:
            scores[piece] = _digamma(expected[piece]) - _digamma(total)


@inline
def _digamma(value: float) -> float:
    """The digamma function, by recurrence and asymptotic series."""
    result = 0.0
    while value < 7.0:
        result -= 1.0 / value
        value += 1.0
    value -= 0.5
    square = 1.0 / (value * value)
    series = square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * 127 / 30720)))
    return result + np.log(value) + series
