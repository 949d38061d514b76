"""PickyBPE (Chizhov et al. 2024): BPE that takes a token back when nearly all of it has gone into a longer one.

After each merge both sides are looked at: a side of which the merge took more than the share `ios`
(intersection over self) leaves the vocabulary, and where it still stands it is split into what it was merged
from. Bytes stay. A token that was taken back may be made again. What happened is a list of events, which
encoding replays.

Words are kept as the symbols they are spelled in. Which words hold a pair, or a symbol, is a list that only
grows: a word in which it is no more is passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import announce, inline, kernel, subroutine
from tokbench_subword.optimal.queueing import pop, push
from tokbench_subword.training.alphabet import byte_symbols
from tokbench_subword.training.ties import HF

MOST_EVENTS = 64
"""Events for each token asked for, after which training is given up: it takes back as much as it makes."""
N_PAIRS, N_NODES, N_QUEUED, N_TOUCHED, NODE, CHANGED, STEP = range(7)
DONE, FULL = range(2)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Words(NamedTuple):
    """The words of a training as kernels see them.

    - `symbols` int32, `starts`, `sizes`, `counts` int64: word w is spelled in ``sizes[w]`` symbols from
      ``starts[w]`` on, and was seen ``counts[w]`` times; `visited` int64 is the last step that came by it;
    - `seen` int64: by symbol, how often it stands; `heads` int32: where its list of words begins;
    - `fresh` uint8: by symbol, whether the step at hand puts it into words;
    - `state` int64.
    """

    symbols: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    visited: NDArray[np.int64]
    seen: NDArray[np.int64]
    heads: NDArray[np.int32]
    fresh: NDArray[np.uint8]
    state: NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs, and lists of words, which grow.

    - `table` int32: open addressing, the number of a pair plus one, 0 where there is none;
    - by number: `keys` int64 (left symbol << 32 | right one), how often it was `seen` and at which count it was
      last `queued` (int64), where its list of words begins (`heads`, int32), at which step it last gained
      (`stamps`, int64);
    - `nodes` int32 ``(n, 2)``: a word, and the next node of the list (-1: none);
    - `values` and `ties` int64: counts and keys of pairs, as a heap;
    - `touched` int32: the pairs that gained in the step at hand.
    """

    table: NDArray[np.int32]
    keys: NDArray[np.int64]
    seen: NDArray[np.int64]
    queued: NDArray[np.int64]
    heads: NDArray[np.int32]
    stamps: NDArray[np.int64]
    nodes: NDArray[np.int32]
    values: NDArray[np.int64]
    ties: NDArray[np.int64]
    touched: NDArray[np.int32]


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
    announce(_join, _part)
    session = _Session(words, ios)
    while session.n_present < size:
        found = session.first(max(minimum, 1))
        if found is None:
            break
        if len(session.events) > MOST_EVENTS * size:
            raise TokenizerError(
                f"pickybpe: after {len(session.events):,} merges and removals there are {session.n_present:,} "
                f"of {size:,} tokens: raise ios above {ios}"
            )
        session.merge(*found, forbidden)
        progress(min(1.0, (session.n_present - 256) / max(1, size - 256)))
    return session.picked()


class _Session:
    """One training: the arrays, what each symbol was merged from, and which are tokens."""

    def __init__(self, words: WordCounts, ios: float) -> None:
        self._ios = ios
        symbols, starts, self._spelled = byte_symbols(words, HF, None)
        self._ids = {token: index for index, token in enumerate(self._spelled)}
        self._sides: list[tuple[int, int] | None] = [None] * 256
        self._present = [True] * 256
        self.n_present = 256
        self.events: list[Event] = []
        room, longest = 1024, int(np.diff(starts).max(initial=0))
        n_pairs = 1 << max(11, (4 * longest).bit_length())  # so many that doubling makes room for any word
        self._words = Words(
            symbols.copy(),
            starts[:-1].astype(np.int64),
            np.diff(starts).astype(np.int64),
            words.counts.astype(np.int64),
            np.full(len(words), -1, np.int64),
            np.zeros(room, np.int64),
            np.full(room, -1, np.int32),
            np.zeros(room, np.uint8),
            np.zeros(7, np.int64),
        )
        self._pairs = Pairs(
            table=np.zeros(2 * n_pairs, np.int32),
            keys=np.zeros(n_pairs, np.int64),
            seen=np.zeros(n_pairs, np.int64),
            queued=np.zeros(n_pairs, np.int64),
            heads=np.full(n_pairs, -1, np.int32),
            stamps=np.full(n_pairs, -1, np.int64),
            nodes=np.empty((len(symbols) + 4 * longest + 64, 2), np.int32),
            values=np.empty(n_pairs, np.int64),
            ties=np.empty(n_pairs, np.int64),
            touched=np.empty(n_pairs, np.int32),
        )
        self._words.fresh[:256] = 1
        self._until_done(lambda: _count_all(self._words, self._pairs))
        self._queue()
        self._words.fresh[:256] = 0

    def first(self, minimum: int) -> tuple[int, int] | None:
        """The most frequent pair, None where none was seen `minimum` times."""
        key = int(_first(self._words.state, self._pairs, minimum))
        return None if key < 0 else (key >> 32, key & 0xFFFFFFFF)

    def merge(self, left: int, right: int, forbidden: frozenset[bytes]) -> None:
        """Merge a pair everywhere, and take back the sides of which it took nearly all."""
        spelling = self._spelled[left] + self._spelled[right]
        if spelling in forbidden:
            _forget(self._pairs, (left << 32) | right)
            return
        new = self._ids.setdefault(spelling, len(self._spelled))
        if new == len(self._spelled):
            self._spelled.append(spelling)
            self._sides.append((left, right))
            self._present.append(False)
            self._make_room(new)
        self.n_present += not self._present[new]
        self._present[new] = True
        self.events.append(Event((left, right), (new,)))
        self._words.fresh[new] = 1
        self._begin(_head_of_pair(self._pairs, (left << 32) | right))
        self._until_done(lambda: _join(self._words, self._pairs, left, right, new))
        self._words.fresh[new] = 0
        merged = int(self._words.state[CHANGED])
        self._queue()
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
        self._words.fresh[parts] = 1
        self._begin(int(self._words.heads[token]))
        self._until_done(lambda: _part(self._words, self._pairs, token, parts))
        self._words.fresh[parts] = 0
        self._queue()

    def _parts(self, token: int) -> list[int]:
        """What a token that is none any more was merged from, as far down as it takes to come to tokens."""
        if self._present[token]:
            return [token]
        sides = self._sides[token]
        assert sides is not None  # bytes are always there
        return [part for side in sides for part in self._parts(side)]

    def picked(self) -> Picked:
        """What was learned."""
        return Picked(self._spelled, self.events, [index for index, there in enumerate(self._present) if there])

    def _begin(self, node: int) -> None:
        state = self._words.state
        state[STEP] += 1
        state[NODE], state[CHANGED], state[N_TOUCHED] = node, 0, 0

    def _until_done(self, step: Callable[[], int]) -> None:
        while step() == FULL:
            self._grow()

    def _queue(self) -> None:
        """Put the pairs that gained into the queue."""
        state = self._words.state
        if state[N_QUEUED] + state[N_TOUCHED] > len(self._pairs.values):
            room = 2 * int(state[N_QUEUED] + state[N_TOUCHED])
            self._pairs = self._pairs._replace(
                values=_longer(self._pairs.values, room), ties=_longer(self._pairs.ties, room)
            )
        _queue_touched(state, self._pairs)

    def _grow(self) -> None:
        """Double what is full: the pairs, or the nodes."""
        pairs, state = self._pairs, self._words.state
        room = 2 * len(pairs.nodes)
        if state[N_NODES] > len(pairs.nodes) // 2:
            pairs = pairs._replace(nodes=_longer(pairs.nodes, room))
        if state[N_PAIRS] > len(pairs.keys) // 2:
            room = 2 * len(pairs.keys)
            pairs = pairs._replace(
                table=np.zeros(2 * len(pairs.table), np.int32),
                **{
                    name: _longer(getattr(pairs, name), room)
                    for name in ("keys", "seen", "queued", "heads", "stamps", "touched")
                },
            )
            pairs.stamps[state[N_PAIRS] :] = -1
            _fill_table(pairs.table, pairs.keys, int(state[N_PAIRS]))
        self._pairs = pairs

    def _make_room(self, symbol: int) -> None:
        """See to it that the arrays by symbol have a place for a new one."""
        words = self._words
        if symbol < len(words.seen):
            words.heads[symbol] = -1
            return
        room = 2 * len(words.seen)
        self._words = words._replace(
            **{name: _longer(getattr(words, name), room) for name in ("seen", "heads", "fresh")}
        )
        self._words.seen[symbol:], self._words.heads[symbol:], self._words.fresh[symbol:] = 0, -1, 0


def _longer(array: NDArray[Any], room: int) -> Any:
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@inline
def _slot(table, keys, key):  # type: ignore[no-untyped-def]
    """Where in the table a pair is, or would be."""
    mask = np.int64(len(table) - 1)
    slot = np.int64((np.uint64(key) * _MULTIPLIER) >> np.uint64(32)) & mask
    while table[slot] != 0 and keys[table[slot] - 1] != key:
        slot = (slot + 1) & mask
    return slot


@inline
def _has_room(words, pairs, size):  # type: ignore[no-untyped-def]
    """Whether a word of so many bytes can be counted, in whatever it is spelled."""
    state = words.state
    full = state[N_PAIRS] + size > len(pairs.keys) or 2 * (state[N_PAIRS] + size) > len(pairs.table)
    return not full and state[N_NODES] + 2 * size <= len(pairs.nodes)


@subroutine
def _count_word(words, pairs, word, sign):  # type: ignore[no-untyped-def]
    """Count the symbols and pairs of a word, or (`sign` -1) take their counts away.

    What holds a fresh symbol has the word put into its list, and, of pairs, is noted as touched.
    """
    start, size, weight, state = words.starts[word], words.sizes[word], words.counts[word], words.state
    for place in range(start, start + size):
        symbol = np.int64(words.symbols[place])
        words.seen[symbol] += sign * weight
        if sign > 0 and symbol >= 256 and words.fresh[symbol] == 1:
            node = state[N_NODES]
            pairs.nodes[node, 0], pairs.nodes[node, 1] = np.int32(word), words.heads[symbol]
            words.heads[symbol] = np.int32(node)
            state[N_NODES] = node + 1
        if place + 1 == start + size:
            break
        following = np.int64(words.symbols[place + 1])
        key = symbol << 32 | following
        slot = _slot(pairs.table, pairs.keys, key)
        number = np.int64(pairs.table[slot]) - 1
        if number < 0:
            number = state[N_PAIRS]
            state[N_PAIRS] = number + 1
            pairs.table[slot] = np.int32(number + 1)
            pairs.keys[number], pairs.seen[number], pairs.queued[number] = key, 0, 0
            pairs.heads[number] = np.int32(-1)
        pairs.seen[number] += sign * weight
        if sign > 0 and (words.fresh[symbol] == 1 or words.fresh[following] == 1):
            node = state[N_NODES]
            pairs.nodes[node, 0], pairs.nodes[node, 1] = np.int32(word), pairs.heads[number]
            pairs.heads[number] = np.int32(node)
            state[N_NODES] = node + 1
            if pairs.stamps[number] != state[STEP]:
                pairs.stamps[number] = state[STEP]
                pairs.touched[state[N_TOUCHED]] = np.int32(number)
                state[N_TOUCHED] += 1


@kernel
def _count_all(words, pairs):  # type: ignore[no-untyped-def]
    """Count every word as it is, from word `NODE` on; `FULL` where there is no room for the next."""
    for word in range(words.state[NODE], len(words.counts)):
        if not _has_room(words, pairs, words.sizes[word]):
            words.state[NODE] = word
            return FULL
        _count_word(words, pairs, word, np.int64(1))
    return DONE


@kernel
def _join(words, pairs, left, right, new):  # type: ignore[no-untyped-def]
    """Merge a pair, from left to right, in the words of the list from `NODE` on; `CHANGED` is how often."""
    state = words.state
    while state[NODE] >= 0:
        word = np.int64(pairs.nodes[state[NODE], 0])
        start, size = words.starts[word], words.sizes[word]
        if not _has_room(words, pairs, size):
            return FULL
        state[NODE] = pairs.nodes[state[NODE], 1]
        if words.visited[word] == state[STEP]:
            continue
        words.visited[word] = state[STEP]
        stands = False
        for place in range(start, start + size - 1):
            stands = stands or (words.symbols[place] == left and words.symbols[place + 1] == right)
        if not stands:
            continue
        _count_word(words, pairs, word, np.int64(-1))
        source, target = start, start
        while source < start + size:
            joins = source + 1 < start + size and words.symbols[source] == left
            if joins and words.symbols[source + 1] == right:
                words.symbols[target] = np.int32(new)
                state[CHANGED] += words.counts[word]
                source += 2
            else:
                words.symbols[target] = words.symbols[source]
                source += 1
            target += 1
        words.sizes[word] = target - start
        _count_word(words, pairs, word, np.int64(1))
    return DONE


@kernel
def _part(words, pairs, token, parts):  # type: ignore[no-untyped-def]
    """Split a symbol into its parts in the words of the list from `NODE` on."""
    state, more = words.state, np.int64(len(parts) - 1)
    while state[NODE] >= 0:
        word = np.int64(pairs.nodes[state[NODE], 0])
        start, size = words.starts[word], words.sizes[word]
        stands = np.int64(0)
        for place in range(start, start + size):
            stands += words.symbols[place] == token
        if not _has_room(words, pairs, size + stands * more):
            return FULL
        state[NODE] = pairs.nodes[state[NODE], 1]
        if stands == 0:
            continue
        _count_word(words, pairs, word, np.int64(-1))
        target = start + size + stands * more
        words.sizes[word] = target - start
        for back in range(size):  # from behind, since the word becomes longer in its place
            symbol = words.symbols[start + size - 1 - back]
            if symbol == token:
                for part in range(more + 1):
                    target -= 1
                    words.symbols[target] = parts[more - part]
            else:
                target -= 1
                words.symbols[target] = symbol
        _count_word(words, pairs, word, np.int64(1))
    return DONE


@kernel
def _queue_touched(state, pairs):  # type: ignore[no-untyped-def]
    """Queue the pairs that were touched, where they are seen more often than when they were last queued."""
    for index in range(state[N_TOUCHED]):
        number = pairs.touched[index]
        if pairs.seen[number] > pairs.queued[number]:
            pairs.queued[number] = pairs.seen[number]
            push(pairs.values, pairs.ties, state[N_QUEUED], pairs.seen[number], pairs.keys[number])
            state[N_QUEUED] += 1
    state[N_TOUCHED] = 0


@kernel
def _first(state, pairs, minimum):  # type: ignore[no-untyped-def]
    """The key of the most frequent pair, -1 where none is seen `minimum` times. It leaves the queue."""
    while state[N_QUEUED] > 0:
        count, key = pairs.values[0], pairs.ties[0]
        pop(pairs.values, pairs.ties, state[N_QUEUED])
        state[N_QUEUED] -= 1
        number = pairs.table[_slot(pairs.table, pairs.keys, key)] - 1
        if count != pairs.queued[number]:
            continue  # it was queued again since, with a higher count
        pairs.queued[number] = 0
        if pairs.seen[number] == count:
            return key if count >= minimum else np.int64(-1)
        if pairs.seen[number] > 0:
            pairs.queued[number] = pairs.seen[number]
            push(pairs.values, pairs.ties, state[N_QUEUED], pairs.seen[number], key)
            state[N_QUEUED] += 1
    return np.int64(-1)


@kernel
def _head_of_pair(pairs, key):  # type: ignore[no-untyped-def]
    """Where the list of words of a pair begins."""
    return np.int64(pairs.heads[pairs.table[_slot(pairs.table, pairs.keys, key)] - 1])


@kernel
def _forget(pairs, key):  # type: ignore[no-untyped-def]
    """Never queue a pair again."""
    pairs.queued[pairs.table[_slot(pairs.table, pairs.keys, key)] - 1] = np.int64(1) << 62


@kernel
def _fill_table(table, keys, count):  # type: ignore[no-untyped-def]
    """Enter the first `count` pairs into an empty table."""
    for number in range(count):
        table[_slot(table, keys, keys[number])] = np.int32(number + 1)
