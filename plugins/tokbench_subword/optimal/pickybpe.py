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
from tokbench_subword.training.alphabet import byte_symbols
from tokbench_subword.training.ties import HF

_NEVER = 2**62  # more often than anything is seen
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
    session, minimum = _PickySession(words, ios), min(max(minimum, 1), _NEVER)
    while session.n_present < size:
        pair = session.first(minimum)
        if pair < 0:
            break
        if len(session.events) > MOST_EVENTS * size:
            raise TokenizerError(
                f"pickybpe: after {len(session.events):,} merges and removals there are {session.n_present:,} "
                f"of {size:,} tokens: raise ios above {ios}"
            )
        session.merge(pair, forbidden)
        progress(min(1.0, (session.n_present - 256) / max(1, size - 256)))
    return session.picked()


class _PickySession:
    """One training: the arrays, what each symbol was merged from, and which are tokens."""

    def __init__(self, words: WordCounts, ios: float) -> None:
        self._ios = ios
        symbols, starts, self._spelled = byte_symbols(words, HF, None)
        self._ids = {token: index for index, token in enumerate(self._spelled)}
        self._sides: list[tuple[int, int] | None] = [None] * 256
        self._present = [True] * 256
        self.n_present = 256
        self.events: list[Event] = []
        n = len(symbols) + len(words) + 1
        if n >= 2**31:
            raise TokenizerError(
                f"the distinct words have {n:,} bytes, more than pickybpe holds: train on a part"
            )
        places = np.arange(1, len(symbols) + 1) + np.repeat(np.arange(len(words)), np.diff(starts))
        room, n_pairs = 1024, 1 << min(n, 256 * 256).bit_length()
        self._words = kernels.PickyWords(
            np.full(n, kernels.BETWEEN, np.int32),
            np.arange(n, dtype=np.int32),
            np.zeros(n, np.int64),
            np.ones(room, np.int32),
            np.zeros(room, np.int64),
            np.full(room, -1, np.int32),
            np.zeros(kernels.N_STATE, np.int64),
        )
        self._words.symbols[places] = symbols
        self._words.counts[places] = np.repeat(words.counts, np.diff(starts))
        self._pairs = kernels.Pairs(
            table=np.zeros(2 * n_pairs, np.int32),
            keys=np.zeros(n_pairs, np.int64),
            seen=np.zeros(n_pairs, np.int64),
            queued=np.zeros(n_pairs, np.int64),
            heads=np.full(n_pairs, -1, np.int32),
            stamps=np.full(n_pairs, -1, np.int64),
            nodes=np.empty((n, 2), np.int32),
            values=np.empty(n_pairs, np.int64),
            ties=np.empty(n_pairs, np.int64),
            touched=np.empty(n_pairs, np.int32),
        )
        self._happen(lambda: kernels.count_all(self._words, self._pairs))

    def first(self, minimum: int) -> int:
        """The number of the most frequent pair, -1 where none was seen `minimum` times."""
        return int(kernels.most_frequent(self._words.state, self._pairs, minimum))

    def merge(self, pair: int, forbidden: frozenset[bytes]) -> None:
        """Merge a pair everywhere, and take back the sides of which it took nearly all."""
        left, right = divmod(int(self._pairs.keys[pair]), 1 << 32)
        spelling = self._spelled[left] + self._spelled[right]
        if spelling in forbidden:
            self._pairs.queued[pair] = _NEVER  # no count is above it, so it is not queued again
            return
        new = self._ids.setdefault(spelling, len(self._spelled))
        if new == len(self._spelled):
            self._spelled.append(spelling)
            self._sides.append((left, right))
            self._present.append(False)
            self._make_room(new)
            self._words.lengths[new] = len(spelling)
        self.n_present += not self._present[new]
        self._present[new] = True
        self.events.append(Event((left, right), (new,)))
        places = kernels.take_places(self._pairs.heads, pair, self._pairs.nodes)
        self._make_room_for(places, nodes=3, pairs=0)
        self._happen(lambda: kernels.join_everywhere(self._words, self._pairs, places, (left, right, new)))
        merged = int(self._words.state[kernels.CHANGED])
        for side in dict.fromkeys((left, right)):
            rest = int(self._words.seen[side])
            if self._sides[side] is not None and merged > self._ios * (rest + merged):
                self._take_back(side)

    def _take_back(self, token: int) -> None:
        """Leave a token out of the vocabulary, and split it wherever it stands."""
        self._present[token] = False
        self.n_present -= 1
        parts = np.array(self._parts(token), np.int32)
        self.events.append(Event((token,), tuple(parts.tolist())))
        places = kernels.take_places(self._words.heads, token, self._pairs.nodes)
        self._make_room_for(places, nodes=2 * len(parts) + 1, pairs=len(parts))
        self._happen(lambda: kernels.part_everywhere(self._words, self._pairs, places, token, parts))

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

    def _happen(self, step: Callable[[], None]) -> None:
        """Run a step, and queue the pairs that gained."""
        state = self._words.state
        state[kernels.STEP] += 1
        state[kernels.CHANGED] = state[kernels.N_TOUCHED] = 0
        step()
        needed = int(state[kernels.N_QUEUED] + state[kernels.N_TOUCHED])
        if needed > len(self._pairs.values):
            values, ties = (_longer(heap, 2 * needed) for heap in (self._pairs.values, self._pairs.ties))
            self._pairs = self._pairs._replace(values=values, ties=ties)
        kernels.queue_touched(state, self._pairs)

    def _make_room_for(self, places: NDArray[np.int32], *, nodes: int, pairs: int) -> None:
        """Have room for what a step may make: so many nodes for each of its places, and so many pairs, beside
        one with each symbol on either side.
        """
        arrays, state = self._pairs, self._words.state
        n_nodes = int(state[kernels.N_NODES]) + nodes * len(places)
        if n_nodes > len(arrays.nodes):
            arrays = arrays._replace(nodes=_longer(arrays.nodes, 2 * n_nodes))
        n_pairs = int(state[kernels.N_PAIRS]) + pairs + 2 * len(self._spelled)
        if n_pairs > len(arrays.keys):
            room = 1 << n_pairs.bit_length()
            names = ("keys", "seen", "queued", "heads", "stamps", "touched")
            longer = {name: _longer(getattr(arrays, name), room) for name in names}
            arrays = arrays._replace(table=np.zeros(2 * room, np.int32), **longer)
            arrays.stamps[state[kernels.N_PAIRS] :] = -1
            kernels.fill_table(arrays.table, arrays.keys, int(state[kernels.N_PAIRS]))
        self._pairs = arrays

    def _make_room(self, symbol: int) -> None:
        """See to it that the arrays by symbol have a place for a new one."""
        words = self._words
        if symbol < len(words.seen):
            return
        room = 2 * len(words.seen)
        self._words = words._replace(
            **{name: _longer(getattr(words, name), room) for name in ("lengths", "seen", "heads")}
        )
        self._words.seen[symbol:], self._words.heads[symbol:] = 0, -1


def _longer(array: NDArray[Any], room: int) -> Any:
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
