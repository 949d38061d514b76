"""PickyBPE (Chizhov et al. 2024): BPE that takes a token back when nearly all of it has gone into a longer one.

After each merge both sides are looked at: a side of which the merge took more than the share `ios`
(intersection over self) leaves the vocabulary, and where it still stands it is split into what it was merged
from. Bytes stay. A token that was taken back may be made again. What happened is a list of events, which
encoding replays. What an event does to the words is in `picky_kernels`.
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
"""Events for each token asked for, after which training is given up: it takes back as much as it makes."""


@dataclass(frozen=True, slots=True)
class Event:
    """Two symbols become one, or one becomes several: the symbols before, and those after."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """The bytes of all symbols that ever were, what happened, and which symbols are tokens at the end."""

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
    """Merge until `size` tokens are in the vocabulary, or no pair is seen `minimum` times.

    Of equally frequent pairs that of the lowest symbols is merged, symbols being numbered as they were made. No
    token of `forbidden` is made.

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
    """One training; of each symbol, what it was merged from, where it may stand, and whether it is a token."""

    def __init__(
        self, words: WordCounts, size: int, *, ios: float, minimum: int, forbidden: frozenset[bytes]
    ) -> None:
        symbols, starts, self._spelled = byte_symbols(words, HF, None)
        super().__init__(
            symbols,
            starts,
            words.counts,
            tokens=self._spelled,
            n_wanted=min(2 * size, 256 + len(symbols)),  # there may be more symbols: `_make_room`
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
        """Merge the first pair, and take back sides of which it took nearly all; False where there is none."""
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
        """Leave a token out of the vocabulary, and split it wherever it stands."""
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
        """Run a kernel, which changes nothing until there is room."""
        while (reason := int(kernel(self.work.block, *more))) != at.DONE:
            growers[reason]()

    def _make_room(self) -> None:
        """Have room for more symbols, between two merges."""
        make_room_for_spellings(self.work)
        self.n_wanted = int(self.work[at.STATE][at.N_WANTED])
        self._make_room_beside()

    def _parts(self, token: int) -> list[int]:
        """The tokens that a token taken back is split into: its sides, or those of a side taken back too."""
        if self._present[token]:
            return [token]
        sides = self._sides[token]
        assert sides is not None  # bytes are always there
        return [part for side in sides for part in self._parts(side)]

    def picked(self) -> Picked:
        """What was learned."""
        return Picked(self._spelled, self.events, [index for index, there in enumerate(self._present) if there])
