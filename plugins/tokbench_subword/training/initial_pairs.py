"""The pairs that a corpus begins with: counted, and their runs written, by several threads at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Block, Ids, Int, Ints, i32_in, i64_in, pointer
from tokbench.kernels.threads import in_threads
from tokbench_subword.training import layout as at
from tokbench_subword.training.cells import weight_of
from tokbench_subword.training.layout import MergeWorkspace
from tokbench_subword.training.pairs import RUN_HEAD, find_or_add_pair, find_pair, pair_key, rehash

ROOM = 3
"""Places in runs for each cell: nearly always enough for good. What is never written takes no memory."""
_CELLS_A_PAIR, _PAIRS_A_TOKEN = 5, 24
"""In the end most texts have no more pairs than these say: a table with room for so many need not grow."""
_NUMBER = at.STAMP  # in a thread's own table: how many occurrences, then where the next one goes


def pair_table(bits: int) -> NDArray[np.int64]:
    """An empty table of ``2**bits`` rows."""
    pairs = np.empty((1 << bits, 4), np.int64)
    pairs[:, at.KEY] = -1
    return pairs.reshape(-1)


def likely_pairs(work: MergeWorkspace) -> int:
    """About how many pairs the table will hold in the end.

    If tables begin without room for them, and grow, training takes 1.15 times as long and 1.1 times the memory
    (20 MB of six languages).
    """
    return min(len(work[at.CELLS]) // 2 // _CELLS_A_PAIR, _PAIRS_A_TOKEN * int(work[at.STATE][at.N_WANTED]))


def table_bits(n_pairs: int) -> int:
    """How large a table has room for so many pairs."""
    return max(10, (8 * n_pairs // 5).bit_length())


def fill_pairs(work: MergeWorkspace, workers: int, *, room: int) -> None:
    """Set `PAIRS` and `RUNS` for the cells of a training, with room for so many pairs at least."""
    n_cells = len(work[at.CELLS]) // 2
    limits = [(n_cells - 1) * part // workers for part in range(workers + 1)]
    parts = list(pairwise(limits))
    tables = in_threads(lambda part: _counted(work, *part), parts, workers)
    n_pairs = sum(int(np.count_nonzero(table[::4] >= 0)) for table in tables)
    work[at.PAIRS] = pair_table(max((2 * n_pairs).bit_length(), table_bits(room)))
    for table in tables:
        _add_table(table, work[at.PAIRS], work[at.STATE])
    work[at.RUNS] = np.empty(ROOM * n_cells + RUN_HEAD * int(work[at.STATE][at.N_PAIRS]) + 1024, np.int32)
    _lay_runs(work[at.PAIRS], work[at.RUNS], work[at.STATE])
    for table in tables:
        _place_table(table, work[at.PAIRS])
    jobs = zip(parts, tables, strict=True)
    in_threads(lambda job: _write_runs(work.block, *job[0], job[1]), jobs, workers)


def _counted(work: MergeWorkspace, low: int, high: int) -> NDArray[np.int64]:
    """The pairs that begin at some positions, in a table of their own."""
    table = pair_table(max(10, ((high - low) // 64).bit_length()))
    state = np.zeros(at.N_PAIRS + 1, np.int64)
    place: Int = low
    while (place := _count_pairs(work.block, place, high, table, state)) < high:
        larger = pair_table((len(table) // 4).bit_length())
        rehash(table, larger, state)
        table = larger
    return table


@kernel
def _count_pairs(block: Block, low: Int, high: Int, table_: Ints, state: Ints) -> Int:
    """Count the pairs that begin at positions from `low` on; returns where it stopped, `high` or sooner."""
    cells, weights, table = i32_in(block, at.CELLS), i64_in(block, at.WEIGHTS), pointer(table_)
    mask, most, singles = np.int64(len(table_) // 4 - 1), len(table_) // 8, i64_in(block, at.STATE)[at.SINGLES]
    for position in range(low, high):
        left, right = cells[2 * position], cells[2 * position + 2]
        if left >= 0 and right >= 0:
            if state[at.N_PAIRS] >= most:
                return position
            row = find_or_add_pair(table, mask, pair_key(left, right), pointer(state))
            table[row + at.COUNT] += weight_of(weights, singles, position)
            table[row + _NUMBER] += 1  # `STAMP` begins at -1: this is one less
    return high


@kernel
def _add_table(table: Ints, pairs_: Ints, state: Ints) -> None:
    """Add the pairs of one thread to the table of all; `RUN` is their number of occurrences as yet."""
    pairs, mask = pointer(pairs_), np.int64(len(pairs_) // 4 - 1)
    for place in range(0, len(table), 4):
        if table[place] >= 0:
            row = find_or_add_pair(pairs, mask, table[place], pointer(state))
            before = max(pairs[row + at.RUN], 0)
            pairs[row + at.COUNT] += table[place + at.COUNT]
            pairs[row + at.RUN] = before + table[place + _NUMBER] + 1
            table[place + _NUMBER] = before


@kernel
def _lay_runs(pairs: Ints, runs: Ids, state: Ints) -> None:
    """Give each pair a run of as many positions as it has."""
    used = np.int64(0)
    for row in range(0, len(pairs), 4):
        if pairs[row] >= 0:
            size = pairs[row + at.RUN]
            runs[used], runs[used + 1], runs[used + 2] = -1, size, 0
            pairs[row + at.RUN] = used
            used += RUN_HEAD + size
    state[at.RUNS_USED] = used


@kernel
def _place_table(table: Ints, pairs_: Ints) -> None:
    """Turn numbers of occurrences before this thread's into the places in runs where it writes."""
    pairs, mask = pointer(pairs_), np.int64(len(pairs_) // 4 - 1)
    for place in range(0, len(table), 4):
        if table[place] >= 0:
            table[place + _NUMBER] += pairs[find_pair(pairs, mask, table[place]) + at.RUN] + RUN_HEAD


@kernel
def _write_runs(block: Block, low: Int, high: Int, table_: Ints) -> None:
    """Write the positions from `low` to `high` where the table says."""
    cells, runs, table = i32_in(block, at.CELLS), i32_in(block, at.RUNS), pointer(table_)
    mask = np.int64(len(table_) // 4 - 1)
    for position in range(low, high):
        left, right = cells[2 * position], cells[2 * position + 2]
        if left >= 0 and right >= 0:
            row = find_pair(table, mask, pair_key(left, right))
            runs[table[row + _NUMBER]] = np.int32(position)
            table[row + _NUMBER] += 1
