"""The pieces at each place of the training words: listed once, in suffix order, then removed by pruning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ids, Int, Ints, pointer
from tokbench.kernels.threads import in_threads
from tokbench_subword.unigram.train_seeds import Occurrences, SeedPieces
from tokbench_subword.unigram.train_text import Text, place_chunks


@dataclass(slots=True, eq=False)
class Edges:
    """Which pieces lie where: `lengths` and `pieces` of those that begin at place i of a word, from
    ``bounds[i]`` up to ``bounds[i + 1]``, the shortest first.

    Places come in `runs`, each of which ends with the place behind a word, where no piece begins. So a run can
    be thinned out where it is, and leave a gap between its edges and those of the next.
    """

    bounds: NDArray[np.int64]
    lengths: NDArray[np.uint16]
    pieces: NDArray[np.int32]
    runs: list[tuple[int, int]]

    @property
    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.int32]]:
        """Bounds, lengths and pieces, as one argument of a kernel."""
        return self.bounds, self.lengths, self.pieces


def find_edges(text: Text, pieces: SeedPieces, occurrences: Sequence[Occurrences], threads: int) -> Edges:
    """All edges of `text`: of its characters, the first pieces, and of the others where they occur."""
    runs = place_chunks(text)
    n = runs[-1][1]
    numbers = np.zeros(n, np.uint16)
    in_threads(lambda part: _count_edges(part.order, part.begins, part.ends, numbers), occurrences, threads)
    bounds = np.zeros(n + 1, np.int64)
    np.cumsum(numbers, out=bounds[1:])
    edges = Edges(bounds, np.empty(bounds[-1], np.uint16), np.empty(bounds[-1], np.int32), runs)
    longest = int(pieces.lengths.max())

    def write(part: Occurrences) -> None:
        _write_edges(
            text.symbols, part.order, part.begins, part.ends, part.pieces, pieces.lengths, longest,
            bounds, edges.lengths, edges.pieces,
        )  # fmt: skip

    in_threads(write, occurrences, threads)
    return edges


def thin(
    edges: Edges, kept: NDArray[np.bool_], threads: int, meanwhile: Sequence[Callable[[], object]] = ()
) -> None:
    """Drop the edges of pieces not `kept`, renumber the others, and call the `meanwhile` jobs in parallel."""
    numbers = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, -1).astype(np.int32)

    def compact(run: tuple[int, int]) -> None:
        _compact(edges.bounds, *run, edges.lengths, edges.pieces, numbers)

    jobs: list[Callable[[], object]] = [*meanwhile, *(partial(compact, run) for run in edges.runs)]
    in_threads(lambda job: job(), jobs, threads)


@kernel
def _count_edges(order: Ids, begins: Ints, ends: Ints, numbers: NDArray[np.uint16]) -> None:
    """How many edges there are from each place of some suffixes: one for its character, and those of pieces."""
    changes = np.zeros(len(order) + 1, np.int32)
    for piece in range(len(begins)):
        changes[begins[piece]] += 1
        changes[ends[piece]] -= 1
    number = 1
    for rank in range(len(order)):
        number += changes[rank]
        numbers[order[rank]] = number


@kernel
def _write_edges(
    symbols_array: Ids,
    order: Ids,
    begins: Ints,
    ends: Ints,
    numbers: Ints,
    piece_lengths: Ints,
    longest: Int,
    bounds_array: Ints,
    lengths_array: NDArray[np.uint16],
    pieces_array: Ids,
) -> None:
    """Write the edges from each place of some suffixes. Going backwards through their order, a stack holds the
    pieces that begin with the suffix at hand, the shortest at the bottom, since it is met first.
    """
    symbols, bounds = pointer(symbols_array), pointer(bounds_array)
    lengths, pieces = pointer(lengths_array), pointer(pieces_array)
    begin_of, length_of = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.uint16)
    piece_of = np.zeros(longest + 1, np.int32)
    n_open, waiting = 0, len(begins) - 1
    for back in range(len(order)):
        rank = len(order) - 1 - back
        while n_open > 0 and begin_of[n_open - 1] > rank:
            n_open -= 1
        while waiting >= 0 and ends[waiting] > rank:
            number = numbers[waiting]
            begin_of[n_open], piece_of[n_open], length_of[n_open] = (
                begins[waiting],
                number,
                piece_lengths[number],
            )
            n_open += 1
            waiting -= 1
        place = np.int64(order[rank])
        edge = bounds[place]
        lengths[edge], pieces[edge] = 1, symbols[place] - 1
        for level in range(n_open):
            lengths[edge + 1 + level], pieces[edge + 1 + level] = length_of[level], piece_of[level]


@kernel
def _compact(
    bounds_array: Ints,
    low: Int,
    high: Int,
    lengths_array: NDArray[np.uint16],
    pieces_array: Ids,
    numbers_array: Ids,
) -> None:
    """Move the edges of a run that are kept to the front of its edges. Its last place has none."""
    bounds, lengths, pieces = pointer(bounds_array), pointer(lengths_array), pointer(pieces_array)
    numbers = pointer(numbers_array)
    start = total = bounds[low]
    for place in range(low, high - 1):
        stop = bounds[place + 1]
        bounds[place] = total
        for edge in range(start, stop):
            piece = numbers[pieces[edge]]
            if piece >= 0:
                lengths[total], pieces[total] = lengths[edge], piece
                total += 1
        start = stop
    bounds[high - 1] = total
