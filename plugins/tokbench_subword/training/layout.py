"""The arrays that the merge trainers' kernels work on: numbered, in a block that is the kernels' one argument.

All arrays grow with the text, so nothing is tuned to a corpus. The main ones:

**Cells**, int32 ``(n, 2)``: all words, a cell for each first symbol, and one of symbol -1 between words, before
the first and after the last. A token covers as many cells as first symbols it was made of, its *extent*. Its
first cell holds symbol and extent, its last one (if another) symbol and negated extent: so both neighbours are
found without links, and a word lies in one or two cache lines. Cells in between are not looked at; none of them
looks like a first one. A *position* is the number of a token's first cell.

**Weights**, int64: how often the word of a cell was seen, for the cells before number `SINGLES`; all words
behind were seen once. Words lie in descending order of their counts, except for the rule `first_seen`. Most are
seen once, so this array is short; and what is rewritten often lies together. With a weight for each cell,
training takes 1.2 times as long on 20 MB of 30 languages.

**Pairs**, int64 ``(2**k, 4)``, open addressing: the key ``left << 32 | right`` (-1: free), the weighted count,
the first run of its occurrences (-1: none), and the number of the merge that last added a run.

**Runs**, int32, one after another: where the next run of the same pair is (-1: none), how many positions, the
merge that made it, and the positions, ascending. A run is written once and read once. A position where the
pair no longer stands is not taken out, but skipped when the run is read. When the array is full, such positions
are left behind.

**Waiting** entries of the queue, int64 ``(n, 4)``: count, key, extra, and the row of the next one of the same
list, as multiples of four (-1: none); see `queue`.
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
    RULE,  # which of equally frequent pairs goes first: a number of `ties`
    MINIMUM,  # how often a pair must be seen to be merged
    FLOOR,  # how often a pair that a merge makes must be seen for it to be kept: see `session`
    LONGEST,  # together, two tokens have fewer first symbols
    MOST_WORDS,  # that a superword has; 0: no superwords
    N_WANTED,  # tokens
    PAUSE_AT,  # merges
    SINGLES,  # the first cell of the words that were seen once
    # … how far it is …
    N_PAIRS,
    RUNS_USED,
    HEAP_SIZE,
    N_TOKENS,
    N_MERGES,
    STAGE,
    N_PARTNERS,
    # … the entries that wait (see `queue`) …
    LEAST_QUEUED,  # the count below which an entry waits
    MOST_WAITING,  # the list of the highest counts, -1: none waits
    WAITING_USED,
    FREE_WAITING,  # the first of the rows that are free again, -1: none is
    # … and the merge at hand.
    LEFT,
    RIGHT,
    NEW,
    GATHERED,  # 1: its positions are in `POSITIONS`; 0: in `RUNS`
    FROM,  # where they begin there
    N_POSITIONS,
    OWN,  # how often it took place
    N_TOUCHED,  # how many pairs it made
    N_EVENTS,  # before it; and after it
    _,
    N_MET,  # different symbols before it; and after it
    _,
    SIDE,  # by likelihood: whose pairs are queued again, those of `LEFT` or of `RIGHT`
    RESCORED,  # and the next of its partners
    STATE_SIZE,
) = range(34)

# Stages of the loop.
QUEUING, CHOOSING, APPLYING, RESCORING, DRAINING = range(5)

# What a kernel stopped for: it is done, it lets progress be told, or it needs more room.
DONE, PAUSED, PAIRS_FULL, RUNS_FULL, POSITIONS_FULL, HEAP_FULL, MERGES_FULL, SPELLING_FULL = range(8)
PARTNERS_FULL, WAITING_FULL = 8, 9


class MergeWorkspace:
    """The arrays, and the block that kernels get. The length of array k is ``sizes[k]``."""

    def __init__(self) -> None:
        nothing = np.zeros(1, np.int64)
        self._arrays: list[NDArray[Any]] = [nothing] * N_ARRAYS
        self.block = block(self._arrays)
        self[SIZES] = np.zeros(N_ARRAYS, np.int64)
        self[STATE] = np.zeros(STATE_SIZE, np.int64)

    def __getitem__(self, number: int) -> NDArray[Any]:
        return self._arrays[number]

    def __setitem__(self, number: int, array: NDArray[Any]) -> None:
        """Put `array` (contiguous, one-dimensional) in the place of another, while no kernel runs."""
        self._arrays[number] = array
        self.block[number : number + 1] = block([array])
        self._arrays[SIZES][number] = len(array)

    def grow(self, number: int, *, unit: int = 1, more: int = 0) -> None:
        """Make an array half as long again, and `more`; `unit` entries belong together."""
        array = self[number]
        rows = len(array) // unit
        larger = np.empty((rows + rows // 2 + 64) * unit + more, array.dtype)
        larger[: len(array)] = array
        self[number] = larger
