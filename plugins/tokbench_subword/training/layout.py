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

# `STATE`, int64: settings …
RULE, MINIMUM, LONGEST, N_WANTED, PAUSE_AT = range(5)
# … how far it is …
N_PAIRS, RUNS_USED, HEAP_SIZE, N_TOKENS, N_MERGES, STAGE = range(5, 11)
# … and the merge at hand: what becomes what; where its positions are; how often it took place, and, before and
# after it, how many events and different symbols; how many pairs it made.
LEFT, RIGHT, NEW, GATHERED, FROM, N_POSITIONS, OWN, N_TOUCHED = range(11, 19)
N_EVENTS, N_MET = 19, 21
N_PARTNERS, RESCORED, SIDE = range(23, 26)
SINGLES, LEAST_QUEUED, MOST_WAITING, WAITING_USED, FREE_WAITING = range(26, 31)
# Words that a superword has at the most; 0: no superwords.
MOST_WORDS = 31
# How often a pair that a merge makes must be seen for it to be kept: see `session`.
FLOOR = 32
STATE_SIZE = 33

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
