"""PickyBPE (Chizhov et al. 2024): BPE that removes a token when a merge has used up nearly all of it.

After each merge, training checks both sides. If the merge used more than the share `ios` (intersection over
self) of a side's occurrences, that token is removed from the vocabulary, and its other occurrences are split
into the tokens it was merged from. Bytes are never removed. A removed token may be made again later. Merges and
removals form a list of events, which encoding replays. `picky_kernels` applies the events to the words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench_subword.optimal import picky_kernels as kernels
from tokbench_subword.training import layout as at
from tokbench_subword.training.alphabet import byte_symbols
from tokbench_subword.training.pairs import RUN_HEAD
from tokbench_subword.training.session import Growers, MergeSession
from tokbench_subword.training.spelling import make_room_for_spellings
from tokbench_subword.training.ties import BYTES, HF

MOST_EVENTS = 64
"""The most events per wanted token; beyond that, training removes as much as it makes, and gives up."""


@dataclass(frozen=True, slots=True)
class Event:
    """A merge of two symbols into one, or a split of one into several: the symbols before, and after."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """The bytes of all symbols, removed ones included; the events; the symbols that are tokens at the end."""

    symbols: list[bytes]
    events: list[Event]
    present: list[int]


def learn_picky(
    words: WordCounts,
    size: int,
    *,
    ios: float,
    minimum: int = 1,
    forbidden: frozenset[bytes] = frozenset(),
    progress: Callable[[float], None] = lambda share: None,
) -> Picked:
    """Merge until the vocabulary has `size` tokens, or no pair has the count `minimum`.

    Of equally frequent pairs, the one with the lowest symbols is merged first; symbols are numbered in the
    order in which they were made. No token of `forbidden` is made.

    Example:
        >>> picked = learn_picky(WordCounts.of({"abc": 9, "ab": 1}), 258, ios=0.8, minimum=2)
        >>> [picked.symbols[index] for index in picked.present[256:]]  # of ten ab, nine went into abc
        [b'abc']
    """
    session = _PickySession(words, size, ios=ios, minimum=minimum, forbidden=forbidden)
    while session.n_present < size:
        if len(session.events) > MOST_EVENTS * size:
            raise TokenizerError(
                f"pickybpe: after {len(session.events):,} merges and removals there are {session.n_present:,} "
                f"of {size:,} tokens: raise ios above {ios}"
            )
        if not session.merge():
            break
        progress(min(1.0, (session.n_present - 256) / max(1, size - 256)))
    return session.picked()


class _PickySession(MergeSession):
    """One training; it stores each symbol's sides, possible places, count, and whether it is a token."""

    def __init__(
        self, words: WordCounts, size: int, *, ios: float, minimum: int, forbidden: frozenset[bytes]
    ) -> None:
        symbols, starts, self._spelled = byte_symbols(words, HF, None)
        super().__init__(
            symbols,
            starts,
            words.counts,
            tokens=self._spelled,
            n_wanted=min(2 * size, 256 + len(symbols)),  # `_make_room` raises it if there are more symbols
            rule=BYTES,
            minimum=max(minimum, 1),
            forbidden=[*forbidden],
        )
        self.work[at.STATE][at.PAUSE_AT] = np.iinfo(np.int64).max
        self._ios = ios
        self._sides: list[tuple[int, int] | None] = [None] * 256
        self._places: list[list[NDArray[np.int32]]] = [[] for _ in range(256)]
        seen = np.zeros(256, np.int64)
        np.add.at(seen, symbols, np.repeat(words.counts, np.diff(starts)))
        self._seen: list[int] = seen.tolist()
        self._present = [True] * 256
        self.n_present = 256
        self.events: list[Event] = []

    def merge(self) -> bool:
        """Merge the first pair, and remove sides that it used up; return False if there is no pair."""
        state = self.work[at.STATE]
        while (reason := int(kernels.merge_next(self.work.block))) >= 0:
            if reason != at.DONE:
                self.growers()[reason]()
            elif state[at.N_TOKENS] < state[at.N_WANTED]:
                return False
            else:
                self._make_room()
        left, right, new, merged = state[[at.LEFT, at.RIGHT, at.NEW, at.OWN]].tolist()
        places = self.work[at.POSITIONS if state[at.GATHERED] else at.RUNS][state[at.FROM] :]
        places = places[: state[at.N_POSITIONS]].copy()
        self._run(kernels.count_merged, self.growers())
        if new == len(self._spelled):
            self._spelled.append(self._spelled[left] + self._spelled[right])
            self._sides.append((left, right))
            self._places.append([])
            self._present.append(False)
            self._seen.append(0)
        self.n_present += not self._present[new]
        self._present[new] = True
        self._places[new].append(places)
        self.events.append(Event((left, right), (new,)))
        for symbol, more in ((left, -merged), (right, -merged), (new, merged)):
            self._seen[symbol] += more
        for side in dict.fromkeys((left, right)):
            if self._sides[side] is not None and merged > self._ios * (self._seen[side] + merged):
                self._take_back(side)
        return True

    def _take_back(self, token: int) -> None:
        """Remove a token from the vocabulary, and split its occurrences."""
        self._present[token] = False
        self.n_present -= 1
        found = self._parts(token)
        self.events.append(Event((token,), tuple(found)))
        work, parts = self.work, np.array(found, np.int32)
        places = np.unique(np.concatenate(self._places[token]))
        for number, needed in ((at.EVENTS, 2 * len(places)), (at.TOUCHED, 2 * self.n_wanted + len(parts))):
            if len(work[number]) < needed:
                work[number] = np.empty(2 * needed, np.int64)
        places = places[: int(kernels.split_everywhere(work.block, places, token, parts))]
        more = len(parts) * (len(places) + RUN_HEAD)
        growers = {
            **self.growers(),
            at.PAIRS_FULL: lambda: self._grow_pairs(len(parts)),
            at.RUNS_FULL: lambda: self._renew_runs(more),
        }
        self._run(kernels.count_split, growers, places, parts)
        self._run(kernels.count_merged, growers)
        own, at_byte = int(work[at.STATE][at.OWN]), 0
        for part in found:
            self._places[part].append(places + np.int32(at_byte))
            self._seen[part] += own
            at_byte += len(self._spelled[part])
        self._places[token], self._seen[token] = [], 0

    def _run(self, kernel: Callable[..., Any], growers: Growers, *more: Any) -> None:
        """Run a kernel again and again until its arrays have room; it changes nothing before."""
        while (reason := int(kernel(self.work.block, *more))) != at.DONE:
            growers[reason]()

    def _make_room(self) -> None:
        """Make room for more symbols, between two merges."""
        make_room_for_spellings(self.work)
        self.n_wanted = int(self.work[at.STATE][at.N_WANTED])
        self._make_room_beside()

    def _parts(self, token: int) -> list[int]:
        """The tokens that a removed token is split into: its sides, or the parts of a removed side."""
        if self._present[token]:
            return [token]
        sides = self._sides[token]
        assert sides is not None  # bytes are never removed
        return [part for side in sides for part in self._parts(side)]

    def picked(self) -> Picked:
        """The result of the training."""
        return Picked(self._spelled, self.events, [index for index, there in enumerate(self._present) if there])
