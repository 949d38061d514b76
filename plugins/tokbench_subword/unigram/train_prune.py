"""Pruning: the pieces whose loss would cost the likelihood least go (Kudo 2018)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import kernel
from tokbench_subword.kernels.threads import in_threads
from tokbench_subword.unigram.train_edges import CHUNKS, Edges, summed, thin, word_chunks
from tokbench_subword.unigram.train_seeds import Pieces, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEEP, _DROP = np.inf, -np.inf


def prune(text: Text, edges: Edges, pieces: Pieces, target: int, threads: int) -> Pieces:
    """At most about `target` pieces, those whose loss would cost the likelihood most.

    The loss of a piece is estimated by handing its count, in the best segmentation of the words, to the best
    segmentation of the piece without itself. Pieces that no best segmentation has go first, and so do those
    whose own best segmentation is in parts.
    """
    losses = _losses_of(text, edges, pieces, _best_counts(text, edges, pieces, threads), threads)
    order = np.argsort(-losses, kind="stable")[: max(target, 1)]
    kept = np.zeros(len(pieces), np.bool_)
    kept[order] = True
    kept &= losses > _DROP
    kept |= pieces.lengths == 1
    thin(edges, kept, threads)
    return pieces.kept(kept)


def _best_counts(text: Text, edges: Edges, pieces: Pieces, threads: int) -> NDArray[np.float64]:
    """How often each piece is in the best segmentations of the words."""
    room = int(text.sizes.max()) + 2

    def part(words: tuple[int, int]) -> NDArray[np.float64]:
        run, counts = slice(*words), np.zeros(len(pieces))
        _count_best(
            text.starts[run], text.sizes[run], text.counts[run], edges.bounds, edges.lengths, edges.pieces,
            pieces.scores, counts, np.zeros(room), np.zeros(room, np.int64),
        )  # fmt: skip
        return counts

    return summed(in_threads(part, word_chunks(text), threads), threads)


def _losses_of(
    text: Text, edges: Edges, pieces: Pieces, counts: NDArray[np.float64], threads: int
) -> NDArray[np.float64]:
    """What each piece is worth; see `_losses`."""
    room = int(pieces.lengths.max()) + 2
    losses = np.empty(len(pieces))
    totals = float(counts.sum()), float(text.counts.sum())

    def part(run: tuple[int, int]) -> None:
        _losses(
            *run, pieces.starts, pieces.lengths, edges.bounds, edges.lengths, edges.pieces, pieces.scores,
            counts, *totals, losses, np.zeros(room), np.zeros(room, np.int64),
        )  # fmt: skip

    in_threads(part, pairwise(len(pieces) * number // CHUNKS for number in range(CHUNKS + 1)), threads)
    return losses


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
    low, high, starts, sizes, bounds, lengths, pieces, scores, totals, everything, n_words, losses, best, back
):
    """What each piece is worth: the fall in mean log likelihood if it went (all: keep; -inf: it can go)."""
    log_everything = np.log(everything)
    for piece in range(low, high):
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
