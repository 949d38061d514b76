"""Pruning in unigram training: removes the pieces whose loss lowers the likelihood least (Kudo 2018)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Floats, Ids, Int, Ints
from tokbench.kernels.threads import in_threads
from tokbench_subword.unigram.train_edges import Edges, thin
from tokbench_subword.unigram.train_seeds import SeedPieces
from tokbench_subword.unigram.train_text import CHUNKS, Text, Words, summed

_KEEP, _DROP = np.inf, -np.inf


def prune(text: Text, edges: Edges, pieces: SeedPieces, target: int, threads: int) -> SeedPieces:
    """At most about `target` pieces: those whose removal would lower the likelihood most.

    The cost of removing a piece is estimated: its count in the best segmentations of the words is added to the
    counts of the pieces that segment its text without it. Pieces in no best segmentation are removed first, and
    so are pieces whose text other pieces segment better.
    """
    losses = _losses_of(text, edges, pieces, _best_counts(text, edges, pieces, threads), threads)
    kept = losses > _DROP
    kept[np.argsort(-losses, kind="stable")[max(target, 1) :]] = False  # of equal ones the first stay
    kept |= pieces.lengths == 1
    thin(edges, kept, threads)
    return pieces.kept(kept)


def _best_counts(text: Text, edges: Edges, pieces: SeedPieces, threads: int) -> NDArray[np.float64]:
    """How often each piece is in the best segmentations of the words."""
    room = int(text.sizes.max()) + 2

    def part(words: Words, counts: NDArray[np.float64]) -> None:
        scratch = np.zeros(room), np.zeros(room, np.int64)
        _count_best(*words, edges.listed, pieces.scores, counts, scratch)

    return summed(part, text, len(pieces), threads)


def _losses_of(
    text: Text, edges: Edges, pieces: SeedPieces, counts: NDArray[np.float64], threads: int
) -> NDArray[np.float64]:
    """What each piece is worth; see `_losses`."""
    room = int(pieces.lengths.max()) + 2
    losses = np.empty(len(pieces))
    totals = float(counts.sum()), float(text.counts.sum())

    def part(run: tuple[int, int]) -> None:
        places = pieces.starts, pieces.lengths
        scratch = np.zeros(room), np.zeros(room, np.int64)
        _losses(run, places, edges.listed, pieces.scores, counts, totals, losses, scratch)

    in_threads(part, pairwise(len(pieces) * number // CHUNKS for number in range(CHUNKS + 1)), threads)
    return losses


@inline
def _search(
    edges: tuple[Ints, NDArray[np.uint16], Ids],
    scores: Floats,
    start: Int,
    size: Int,
    without: Int,
    best: Floats,
    back: Ints,
) -> None:
    """Find the best way to `size` symbols from the place `start` on, but for `without`, a piece of them all.

    `best` gets the score of the way up to each symbol, `back` its last edge.
    """
    bounds, lengths, pieces = edges
    for place in range(size + 1):
        best[place] = -np.inf
    best[0] = 0.0
    for place in range(size):
        for edge in range(bounds[start + place], bounds[start + place + 1]):
            end, score = place + np.int64(lengths[edge]), best[place] + scores[pieces[edge]]
            if end <= size and score > best[end] and not (pieces[edge] == without and end == size):
                best[end], back[end] = score, edge


@kernel
def _count_best(
    starts: Ints,
    sizes: Ints,
    counts: Floats,
    edges: tuple[Ints, NDArray[np.uint16], Ids],
    scores: Floats,
    totals: Floats,
    scratch: tuple[Floats, Ints],
) -> None:
    """Add to `totals` how often each piece is in the best segmentations of the words."""
    _, lengths, pieces = edges
    best, back = scratch
    for word in range(len(starts)):
        place = sizes[word]
        _search(edges, scores, starts[word], place, -1, best, back)
        while place > 0:
            edge = back[place]
            totals[pieces[edge]] += counts[word]
            place -= np.int64(lengths[edge])


@kernel
def _losses(
    run: tuple[int, int],
    places: tuple[Ints, Ints],
    edges: tuple[Ints, NDArray[np.uint16], Ids],
    scores: Floats,
    totals: Floats,
    sums: tuple[float, float],
    losses: Floats,
    scratch: tuple[Floats, Ints],
) -> None:
    """What each piece of a run is worth: by how much the mean log likelihood falls if it goes; -inf: it can go.

    `places` are where pieces lie and how long they are, `sums` those of all `totals` and of all words.
    """
    (starts, sizes), (_, lengths, pieces), (best, back) = places, edges, scratch
    everything, n_words = sums
    log_everything = np.log(everything)
    for piece in range(run[0], run[1]):
        size = sizes[piece]
        if size == 1:
            losses[piece] = _KEEP
            continue
        _search(edges, scores, starts[piece], size, piece, best, back)
        count = totals[piece]
        if best[size] > scores[piece] or count == 0.0:
            losses[piece] = _DROP
            continue
        parts, logs, place = 0, 0.0, size
        while place > 0:
            edge = back[place]
            logs += np.log(totals[pieces[edge]] + count)  # its count goes to each of its parts
            parts += 1
            place -= np.int64(lengths[edge])
        without = logs - parts * np.log(everything + count * (parts - 1))
        losses[piece] = count / n_words * (np.log(count) - log_everything - without)
