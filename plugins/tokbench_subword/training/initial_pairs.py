"""Counts the pairs of a corpus before the first merge, and writes their runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Block, Int, i32_in, i64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.cells import weight_of
from tokbench_subword.training.layout import MergeWorkspace
from tokbench_subword.training.pairs import RUN_HEAD, find_or_add_pair, find_pair, pair_key, rehash

ROOM = 3
"""Entries of runs per cell: nearly always enough for the whole training. Unwritten entries take no memory."""
_CELLS_A_PAIR, _PAIRS_A_TOKEN = 5, 24
"""Upper bounds of the final number of pairs for most texts; with room for them, the table need not grow."""


def pair_table(bits: int) -> NDArray[np.int64]:
    """An empty table of ``2**bits`` rows."""
    pairs = np.empty((1 << bits, 4), np.int64)
    pairs[:, at.KEY] = -1
    return pairs.reshape(-1)


def likely_pairs(work: MergeWorkspace) -> int:
    """An estimate of the final number of pairs.

    If tables start smaller and have to grow, training takes 1.15 times as long and 1.1 times the memory (20 MB
    of six languages).
    """
    return min(len(work[at.CELLS]) // 2 // _CELLS_A_PAIR, _PAIRS_A_TOKEN * int(work[at.STATE][at.N_WANTED]))


def table_bits(n_pairs: int) -> int:
    """The size of a table with room for `n_pairs`, as a power of two."""
    return max(10, (8 * n_pairs // 5).bit_length())


def fill_pairs(work: MergeWorkspace, *, room: int) -> None:
    """Set `PAIRS` and `RUNS` for the cells of a training, with room for at least `room` pairs."""
    work[at.PAIRS], place = pair_table(table_bits(room)), 0
    while (place := int(_count_pairs(work.block, place))) >= 0:
        larger = pair_table((len(work[at.PAIRS]) // 4).bit_length())
        rehash(work[at.PAIRS], larger, work[at.STATE])
        work[at.PAIRS] = larger
    n_cells, n_pairs = len(work[at.CELLS]) // 2, int(work[at.STATE][at.N_PAIRS])
    work[at.RUNS] = np.empty(ROOM * n_cells + RUN_HEAD * n_pairs + 1024, np.int32)
    _write_runs(work.block)


@kernel
def _count_pairs(block: Block, first: Int) -> Int:
    """Count the pairs from position `first` on; return the position where the table became half full, or -1.

    During counting, the field `RUN` is the number of occurrences of a pair, minus one.
    """
    cells, weights, pairs = i32_in(block, at.CELLS), i64_in(block, at.WEIGHTS), i64_in(block, at.PAIRS)
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    mask, singles = sizes[at.PAIRS] // 4 - 1, state[at.SINGLES]
    for position in range(first, sizes[at.CELLS] // 2 - 1):
        left, right = cells[2 * position], cells[2 * position + 2]
        if left >= 0 and right >= 0:
            if 2 * state[at.N_PAIRS] > mask:
                return position
            row = find_or_add_pair(pairs, mask, pair_key(left, right), state)
            pairs[row + at.COUNT] += weight_of(weights, singles, position)
            pairs[row + at.RUN] += 1
    return np.int64(-1)


@kernel
def _write_runs(block: Block) -> None:
    """Write a run with the positions of each pair."""
    cells, runs, pairs = i32_in(block, at.CELLS), i32_in(block, at.RUNS), i64_in(block, at.PAIRS)
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    mask, used = sizes[at.PAIRS] // 4 - 1, np.int64(0)
    for row in range(0, sizes[at.PAIRS], 4):
        if pairs[row] >= 0:
            runs[used], runs[used + 1], runs[used + 2] = -1, 0, 0
            size = pairs[row + at.RUN] + 1
            pairs[row + at.RUN] = used
            used += RUN_HEAD + size
    state[at.RUNS_USED] = used
    for position in range(sizes[at.CELLS] // 2 - 1):
        left, right = cells[2 * position], cells[2 * position + 2]
        if left >= 0 and right >= 0:
            run = pairs[find_pair(pairs, mask, pair_key(left, right)) + at.RUN]
            runs[run + RUN_HEAD + runs[run + 1]] = np.int32(position)
            runs[run + 1] += 1
