"""The arrays of the merge trainers' kernels, by number, in a block that is the kernels' only argument.

All arrays grow with the text, so no size depends on a corpus. The main ones:

**Cells**, int32 ``(n, 2)``: all words, with one cell for each first symbol, and cells of symbol -1 between
words, before the first and after the last. A token covers as many cells as it has first symbols; this number is
its *extent*. Its first cell contains the symbol and the extent, its last cell (if different) the symbol and the
negated extent. So both neighbours are found without links, and a word fits into one or two cache lines. None of
the cells after the first looks like a first cell. A *position* is the number of a token's first cell.

**Weights**, int64: the count of each cell's word, for the cells before number `SINGLES`; all later words were
seen once. Words are in descending order of counts, except with the rule `first_seen`. Most words are seen once,
so this array is short, and cells that are rewritten often are close together. With a weight for each cell,
training takes 1.2 times as long on 20 MB of 30 languages.

**Pairs**, int64 ``(2**k, 4)``, open addressing: the key ``left << 32 | right`` (-1: free), the weighted count,
the first run of positions (-1: none), and the number of the merge that last added a run.

**Runs**, int32, end to end: the index of the next run of the same pair (-1: none), the number of positions, the
merge that made the run, and the positions, ascending. A run is written once and read once. Positions at which
the pair no longer occurs are skipped when the run is read. They are removed only when the array is full.

**Waiting** entries of the queue, int64 ``(n, 4)``: count, key, extra, and the row of the next entry in the same
list, in multiples of four (-1: none); see `queue`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import block

# The arrays of every training by merges …
CELLS, WEIGHTS, PAIRS, RUNS, POSITIONS, EVENTS, TALLIES, MET, TOUCHED = range(9)
LENGTHS, TOKEN_HASHES, SPELLED, SPELLED_IDS, MERGES, STATE, SIZES = range(9, 16)
HEAP_COUNTS, HEAP_KEYS, HEAP_EXTRAS, STARTS, SPELLING, WAITING, WAITING_LISTS = range(16, 23)
# … and those of a training by likelihood.
SYMBOL_COUNTS, PARTNERS, FIRSTS = range(23, 26)
# … and those of a training for superwords: see `superwords`.
SHAPES = 26
N_ARRAYS = 27

# Fields of a cell, and of a pair's row.
SYMBOL, EXTENT = range(2)
KEY, COUNT, RUN, STAMP = range(4)

(
    # `STATE`, int64: settings …
    RULE,  # which of equally frequent pairs is merged first: a number of `ties`
    MINIMUM,  # the least count of a pair to be merged
    FLOOR,  # the least count of a new pair to be kept: see `session`
    LONGEST,  # two tokens are merged only if together they have fewer first symbols
    MOST_WORDS,  # the most words in a superword; 0: no superwords
    N_WANTED,  # the wanted number of tokens
    PAUSE_AT,  # the number of merges at which to pause
    SINGLES,  # the first cell of the words that were seen once
    # … progress …
    N_PAIRS,
    RUNS_USED,
    HEAP_SIZE,
    N_TOKENS,
    N_MERGES,
    STAGE,
    N_PARTNERS,
    # … waiting entries (see `queue`) …
    LEAST_QUEUED,  # the count below which an entry waits
    MOST_WAITING,  # the list of the highest counts; -1: no entry waits
    WAITING_USED,
    FREE_WAITING,  # the first of the freed rows; -1: there are none
    # … and the current merge.
    LEFT,
    RIGHT,
    NEW,
    GATHERED,  # 1: its positions are in `POSITIONS`; 0: in `RUNS`
    FROM,  # the index of the first of them in that array
    N_POSITIONS,
    OWN,  # its weighted number of occurrences
    N_TOUCHED,  # the number of pairs it made
    N_EVENTS,  # on the left side; the next is for the right side
    _,
    N_MET,  # different left neighbours; the next is for right neighbours
    _,
    SIDE,  # by likelihood: whether pairs of `LEFT` or of `RIGHT` are being queued again
    RESCORED,  # the next of its partners to do
    STATE_SIZE,
) = range(34)

# Stages of the loop.
QUEUING, CHOOSING, APPLYING, RESCORING, DRAINING = range(5)

# Why a kernel stopped: it is done, it pauses for a progress report, or an array is full.
DONE, PAUSED, PAIRS_FULL, RUNS_FULL, POSITIONS_FULL, HEAP_FULL, MERGES_FULL, SPELLING_FULL = range(8)
PARTNERS_FULL, WAITING_FULL = 8, 9


class MergeWorkspace:
    """The arrays, and the `block` of pointers for kernels. The length of array k is ``sizes[k]``."""

    def __init__(self) -> None:
        nothing = np.zeros(1, np.int64)
        self._arrays: list[NDArray[Any]] = [nothing] * N_ARRAYS
        self.block = block(self._arrays)
        self[SIZES] = np.zeros(N_ARRAYS, np.int64)
        self[STATE] = np.zeros(STATE_SIZE, np.int64)

    def __getitem__(self, number: int) -> NDArray[Any]:
        return self._arrays[number]

    def __setitem__(self, number: int, array: NDArray[Any]) -> None:
        """Replace an array by `array` (contiguous, one-dimensional), while no kernel runs."""
        self._arrays[number] = array
        self.block[number : number + 1] = block([array])
        self._arrays[SIZES][number] = len(array)

    def grow(self, number: int, *, unit: int = 1, more: int = 0) -> None:
        """Make an array 1.5 times as long, plus `more`; its rows have `unit` entries."""
        array = self[number]
        rows = len(array) // unit
        larger = np.empty((rows + rows // 2 + 64) * unit + more, array.dtype)
        larger[: len(array)] = array
        self[number] = larger
