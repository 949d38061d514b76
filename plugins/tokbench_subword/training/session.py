"""`MergeSession`: one training by merges; it grows the kernel's arrays on demand and returns the merges.

The steps of a training: distinct words and their counts (`counting`) become symbols (`alphabet`) and are
written end to end (`cells`). Their pairs are counted (`initial_pairs`, `pairs`) and queued (`queue`). Then the
loop of `merges` repeatedly takes the first pair, and `rewrite` merges it.

Only counting uses several threads. Two threads that each merged in half of the words, and synchronized every
few merges, made training 1.0 to 1.15 times as fast at 32,000 tokens, 0.6 to 1.0 times at 128,000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.training import layout as at
from tokbench_subword.training.alphabet import byte_order
from tokbench_subword.training.cells import fill_cells
from tokbench_subword.training.initial_pairs import fill_pairs, likely_pairs, pair_table, table_bits
from tokbench_subword.training.layout import MergeWorkspace
from tokbench_subword.training.merges import learn_merges
from tokbench_subword.training.pairs import RUN_HEAD, alive_pairs, compact_runs, rehash
from tokbench_subword.training.queue import N_LISTS
from tokbench_subword.training.spelling import fill_spellings
from tokbench_subword.training.superwords import shapes_of
from tokbench_subword.training.ties import GREATEST, HF, LEXICOGRAPHIC

PAUSE = 2000
"""Merges between two reports of progress."""
_NEVER = 2**62
"""Larger than any count, and than the number of symbols of any token."""
_HEAP = (at.HEAP_COUNTS, at.HEAP_KEYS, at.HEAP_EXTRAS)

Growers = dict[int, Callable[[], None]]
"""The functions that grow arrays, by the kernel's reason for stopping."""


class MergeSession:
    """Learns merges over words of symbols by `kernel`, in arrays that grow on demand.

    `symbols` is int32, the symbols of all words end to end; `starts` and `counts` are as in `WordCounts`.
    ``tokens[i]`` has the bytes of symbol i; a token loses its `prefix` when it is joined to a token before it.
    No merge results in one of `forbidden`. Two tokens that together have `longest` first symbols or more are
    not merged, unless both are first symbols (as in `tokenizers`). With `most_words`, merges make only tokens
    that `superwords` allows. With `made_once`, the caller expects that no two merges make the same token. Then
    a new pair with a count below `minimum` is dropped, since no later merge can raise its count. Keeping such
    pairs takes 1.25 times the time and memory for superwords of English.
    """

    kernel: Callable[[Any], Any] = staticmethod(learn_merges)

    def __init__(
        self,
        symbols: NDArray[np.int32],
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        tokens: Sequence[bytes],
        n_wanted: int,
        rule: int,
        minimum: int = 0,
        longest: int | None = None,
        prefix: bytes = b"",
        most_words: int = 0,
        made_once: bool = False,
        forbidden: Sequence[bytes] = (),
    ) -> None:
        self.n_first, self.n_wanted = len(tokens), max(n_wanted, len(tokens))
        self.work = work = MergeWorkspace()
        state = work[at.STATE]
        state[at.RULE], state[at.N_WANTED] = rule, self.n_wanted
        state[at.LEAST_QUEUED], state[at.MOST_WAITING], state[at.FREE_WAITING] = _NEVER, -1, -1
        for number in _HEAP:
            work[number] = np.empty(1024, np.int64)
        work[at.WAITING_LISTS] = np.full(N_LISTS, -1)
        state[at.MINIMUM], state[at.N_TOKENS] = min(minimum, _NEVER), len(tokens)
        state[at.LONGEST] = _NEVER if longest is None else min(longest, _NEVER)
        fill_cells(work, symbols, starts[:-1], starts[1:], counts)
        fill_pairs(work, room=0 if made_once else likely_pairs(work))
        fill_spellings(work, tokens, prefix, forbidden)
        state[at.MOST_WORDS], state[at.FLOOR] = most_words, state[at.MINIMUM] if made_once else 0
        if most_words:
            work[at.SHAPES] = shapes_of(tokens, n_wanted)
        n_waiting = 2 * int(state[at.N_PAIRS]) + likely_pairs(work) + n_wanted
        work[at.WAITING] = np.empty(4 * n_waiting, np.int64)  # unwritten entries take no memory
        work[at.POSITIONS], work[at.EVENTS] = np.empty(1024, np.int32), np.empty(4096, np.int64)
        self._make_room_beside()
        work[at.MERGES] = np.empty(3 * (self.n_wanted - len(tokens) + 1024), np.int32)
        if rule in (LEXICOGRAPHIC, GREATEST):
            work[at.STARTS] = np.zeros(self.n_wanted + 1, np.int64)
            work[at.STARTS][1 : len(tokens) + 1] = np.cumsum([len(token) for token in tokens])
            # Bytes by value or, as `tokenizers` compares them, in the order of the byte alphabet.
            joined = b"".join(tokens)
            order = bytes(np.argsort(byte_order(HF)).astype(np.uint8)) if rule == GREATEST else None
            work[at.SPELLING] = np.frombuffer(joined.translate(order), np.uint8)

    def run(self, progress: Callable[[float], None] = lambda fraction: None) -> NDArray[np.int32]:
        """Learn up to the wanted number of tokens; return `merges`."""
        state = self.work[at.STATE]
        progress(0.0)
        state[at.PAUSE_AT] = PAUSE
        growers = self.growers()
        while (reason := int(self.kernel(self.work.block))) != at.DONE:
            if reason == at.PAUSED:
                state[at.PAUSE_AT] += PAUSE
                progress(self.done)
            else:
                growers[reason]()
        progress(1.0)
        return self.merges()

    @property
    def done(self) -> float:
        """The fraction of the wanted tokens that are made."""
        return (int(self.work[at.STATE][at.N_TOKENS]) - self.n_first) / max(1, self.n_wanted - self.n_first)

    def merges(self) -> NDArray[np.int32]:
        """The merges so far, int32 ``(n, 3)``: left, right, result; ids count from the first symbols on."""
        return self.work[at.MERGES][: 3 * int(self.work[at.STATE][at.N_MERGES])].reshape(-1, 3).copy()

    def growers(self) -> Growers:
        """The functions that grow arrays, by the kernel's reason for stopping."""
        return {
            at.PAIRS_FULL: self._grow_pairs,
            at.HEAP_FULL: self._grow_heap,
            at.WAITING_FULL: lambda: self.work.grow(at.WAITING, unit=4, more=4 * self._n_touched),
            at.RUNS_FULL: self._renew_runs,
            at.POSITIONS_FULL: self._grow_positions,
            at.MERGES_FULL: lambda: self.work.grow(at.MERGES, unit=3),
            at.SPELLING_FULL: lambda: self.work.grow(at.SPELLING, more=4096),
        }

    @property
    def _n_touched(self) -> int:
        return int(self.work[at.STATE][at.N_TOUCHED])

    def _make_room_beside(self) -> None:
        """Set the arrays for the neighbours of a merge, with room for every token on both sides."""
        self.work[at.TALLIES] = np.zeros(4 * self.n_wanted, np.int64)
        self.work[at.MET] = np.empty(2 * self.n_wanted, np.int32)
        self.work[at.TOUCHED] = np.empty(2 * self.n_wanted, np.int64)

    def _grow_pairs(self, more: int = 0) -> None:
        """Move the pairs that still occur to a new table, of which they fill less than a third.

        The table has room for the pairs that a merge makes, and for `more`.
        """
        pairs = self.work[at.PAIRS]
        alive, most_new = int(alive_pairs(pairs)), max(2 * self.n_wanted, self._n_touched) + more
        bits = max((3 * max(alive, most_new)).bit_length(), table_bits(alive + most_new))
        renewed = pair_table(bits)
        rehash(pairs, renewed, self.work[at.STATE])
        self.work[at.PAIRS] = renewed

    def _grow_heap(self) -> None:
        for number in _HEAP:
            self.work.grow(number, more=self._n_touched)

    def _renew_runs(self, more: int = 0) -> None:
        """Remove outdated positions; make room for half as many again, the current merge, and `more`."""
        state, needed = self.work[at.STATE], len(self.work[at.EVENTS]) + 2 * RUN_HEAD * self.n_wanted + more
        used = int(state[at.RUNS_USED])
        target = np.empty(used + used // 2 + needed, np.int32)  # unwritten entries take no memory
        compact_runs(self.work.block, target)
        used = int(state[at.RUNS_USED])
        self.work[at.RUNS] = target[: used + used // 2 + needed]

    def _grow_positions(self) -> None:
        self.work.grow(at.POSITIONS)
        self.work.grow(at.EVENTS, more=2 * int(self.work[at.STATE][at.N_POSITIONS]))
