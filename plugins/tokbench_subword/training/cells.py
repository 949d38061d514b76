"""The words of a training as cells (see `layout`): written at the start, then read and merged in place.

The inline functions take pointers (see `kernels.pointers`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Ids, Int, Ints
from tokbench_subword.training import layout as at
from tokbench_subword.training.layout import MergeWorkspace
from tokbench_subword.training.ties import FIRST_SEEN

MOST_CELLS = 2**29
"""The limit of cells in a training, since positions and indices of runs are int32."""


def fill_cells(
    work: MergeWorkspace,
    symbols: NDArray[np.int32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Set `CELLS`, `WEIGHTS` and `SINGLES` for words; raises `TokenizerError` for too many symbols."""
    n_symbols = int((ends - begins).sum())
    n_cells = n_symbols + len(counts) + 1
    if n_cells > MOST_CELLS:
        raise TokenizerError(
            f"the distinct words have {n_symbols:,} symbols in total, and the limit of training is about "
            f"{MOST_CELLS:,}: train on a part of the text, or cut it into shorter words"
        )
    if len(counts) and counts.min() < 1:
        raise TokenizerError(f"a word has the count {counts.min()}; counts must be at least 1")
    if work[at.STATE][at.RULE] != FIRST_SEEN:
        often = np.flatnonzero(counts > 1)
        often = often[np.argsort(-counts[often], kind="stable")]
        order = np.concatenate((often, np.flatnonzero(counts == 1)))
        begins, ends, counts = begins[order], ends[order], counts[order]
    behind = 1 + int(np.flatnonzero(counts > 1).max(initial=-1))
    singles = 1 + int((ends - begins + 1)[:behind].sum())
    work[at.STATE][at.SINGLES] = singles
    cells, weights = np.empty(2 * n_cells, np.int32), np.empty(singles, np.int64)
    cells[0], cells[1] = -1, 0
    _lay_words(symbols, begins, ends, counts, cells, weights)
    work[at.CELLS], work[at.WEIGHTS] = cells, weights


@kernel
def _lay_words(symbols: Ids, begins: Ints, ends: Ints, counts: Ints, cells: Ids, weights: Ints) -> None:
    """Write the cells of all words, each with a separating cell after it, and the weights of repeated words."""
    cell = np.int64(1)
    for word in range(len(counts)):
        for place in range(begins[word], ends[word]):
            cells[2 * cell], cells[2 * cell + at.EXTENT] = symbols[place], 1
            if cell < len(weights):
                weights[cell] = counts[word]
            cell += 1
        cells[2 * cell], cells[2 * cell + at.EXTENT] = -1, 0
        cell += 1


@inline
def stands_at(cells: Ids, position: Int, left: Int, right: Int) -> bool | np.bool_:
    """Whether the token `left` begins at a position and the token `right` follows it."""
    if cells[2 * position] != left:
        return False
    extent = np.int64(cells[2 * position + at.EXTENT])
    return extent > 0 and cells[2 * (position + extent)] == right


@inline
def weight_of(weights: Ints, singles: Int, position: Int) -> np.int64:
    """The count of the word at a position."""
    return weights[position] if position < singles else np.int64(1)


@inline
def merge_at(cells: Ids, position: Int, new: Int) -> np.int64:
    """Replace the token at a position and the next one by the token `new`; return the cell after it."""
    left_extent = np.int64(cells[2 * position + at.EXTENT])
    second = position + left_extent
    extent = left_extent + np.int64(cells[2 * second + at.EXTENT])
    last = position + extent - 1
    cells[2 * second] = -1  # no token begins here any more
    cells[2 * position], cells[2 * position + at.EXTENT] = np.int32(new), np.int32(extent)
    cells[2 * last], cells[2 * last + at.EXTENT] = np.int32(new), np.int32(-extent)
    return last + 1


@inline
def token_before(cells: Ids, position: Int) -> np.int64:
    """The beginning of the token that ends right before a position."""
    return position - abs(np.int64(cells[2 * (position - 1) + at.EXTENT]))
