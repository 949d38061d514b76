"""What PickyBPE does to words: merging a pair, or splitting a symbol, at every place where it stands.

Words lie one behind the other in one array, a symbol where it begins. Each pair and each symbol has a list of
its places, used up when the pair is merged or the symbol split; places where it stands no more are passed over.
So what an event costs grows with the places it changes, however long their words are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel, lean_inline, lean_kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import Ids, Int, Ints
from tokbench_subword.optimal.queueing import pop, push

# `PickyWords.state`: how many pairs, nodes of lists, entries of the heap and pairs touched there are; of
# the step at hand, how often it merged its pair, and its number.
N_PAIRS, N_NODES, N_QUEUED, N_TOUCHED, CHANGED, STEP, N_STATE = range(7)
BETWEEN, WITHIN = -1, -2


class PickyWords(NamedTuple):
    """The words of a training as kernels see them: a place for each byte, one between words, and at both ends.

    - `symbols` int32: the symbol that begins there, `BETWEEN` words, or `WITHIN` a symbol;
    - `firsts` int32: at the last place of a symbol, its first; between words, the place itself;
    - `counts` int64: how often the word was seen that the place is in;
    - by symbol: `lengths` int32 in places, how often it was `seen` (int64), where its list of places begins
      (`heads`, int32);
    - `state` int64.
    """

    symbols: NDArray[np.int32]
    firsts: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    seen: NDArray[np.int64]
    heads: NDArray[np.int32]
    state: NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs, and lists of places, which grow between steps: a step finds the room that it may need.

    - `table` int32: open addressing, the number of a pair plus one, 0 where there is none;
    - by number: `keys` int64 (left symbol << 32 | right one), how often it was `seen` and at which count it was
      last `queued` (int64), where its list of places begins (`heads`, int32), at which step it last gained
      (`stamps`, int64);
    - `nodes` int32 ``(n, 2)``: a place, and the next node of the list (-1: none);
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


@lean_inline
def _slot(table: Ids, keys: Ints, key: Int) -> np.int64:
    """Where in the table a pair is, or would be."""
    mask = np.int64(len(table) - 1)
    slot = np.int64(spread(np.uint64(key)) >> np.uint64(32)) & mask
    while table[slot] != 0 and keys[table[slot] - 1] != key:
        slot = (slot + 1) & mask
    return slot


@lean_inline
def _note(heads: Ids, index: Int, nodes: Ids, state: Ints, place: Int) -> None:
    """Put a place into a list."""
    node = state[N_NODES]
    nodes[node, 0], nodes[node, 1] = np.int32(place), heads[index]
    heads[index] = np.int32(node)
    state[N_NODES] = node + 1


@lean_inline
def _number_at(words: PickyWords, pairs: Pairs, place: Int) -> np.int64:
    """The number of the pair that begins at a place, a new one if need be; -1 where none begins."""
    left = np.int64(words.symbols[place])
    if left < 0:
        return np.int64(-1)
    right = np.int64(words.symbols[place + words.lengths[left]])
    if right < 0:
        return np.int64(-1)
    key = left << 32 | right
    slot = _slot(pairs.table, pairs.keys, key)
    if pairs.table[slot] == 0:
        number = words.state[N_PAIRS]
        words.state[N_PAIRS] = number + 1
        pairs.table[slot] = np.int32(number + 1)
        pairs.keys[number], pairs.seen[number], pairs.queued[number] = key, 0, 0
        pairs.heads[number] = np.int32(-1)
    return np.int64(pairs.table[slot]) - 1


@lean_inline
def _lose(words: PickyWords, pairs: Pairs, place: Int) -> None:
    """Take the pair that begins at a place, if any, out of its count."""
    number = _number_at(words, pairs, place)
    if number >= 0:
        pairs.seen[number] -= words.counts[place]


@lean_inline
def _gain(words: PickyWords, pairs: Pairs, place: Int) -> None:
    """Count the pair that begins at a place, if any: the place goes into its list, the pair into `touched`."""
    state, number = words.state, _number_at(words, pairs, place)
    if number < 0:
        return
    pairs.seen[number] += words.counts[place]
    _note(pairs.heads, number, pairs.nodes, state, place)
    if pairs.stamps[number] != state[STEP]:
        pairs.stamps[number] = state[STEP]
        pairs.touched[state[N_TOUCHED]] = np.int32(number)
        state[N_TOUCHED] += 1


@lean_kernel
def count_all(words: PickyWords, pairs: Pairs) -> None:
    """Count all symbols and pairs."""
    for place in range(len(words.symbols)):
        if words.symbols[place] >= 0:
            words.seen[words.symbols[place]] += words.counts[place]
            _gain(words, pairs, place)


@lean_kernel
def join_everywhere(words: PickyWords, pairs: Pairs, places: Ids, symbols: tuple[int, int, int]) -> None:
    """Merge a pair at its places, `CHANGED` times; `symbols` are its two and the new one.

    A place needs three nodes, and there are two new pairs for each symbol at the most.
    """
    state, (left, right, new) = words.state, symbols
    size, behind = np.int64(words.lengths[left]), np.int64(words.lengths[right])
    for index in range(len(places)):
        place = np.int64(places[index])
        middle = place + size
        if words.symbols[place] != left or words.symbols[middle] != right:
            continue
        before = np.int64(words.firsts[place - 1])
        _lose(words, pairs, before)
        _lose(words, pairs, place)
        _lose(words, pairs, middle)
        words.symbols[place], words.symbols[middle] = np.int32(new), np.int32(WITHIN)
        words.firsts[middle + behind - 1] = np.int32(place)
        weight = words.counts[place]
        words.seen[left] -= weight
        words.seen[right] -= weight
        words.seen[new] += weight
        state[CHANGED] += weight
        _note(words.heads, new, pairs.nodes, state, place)
        _gain(words, pairs, before)
        _gain(words, pairs, place)


@lean_kernel
def part_everywhere(words: PickyWords, pairs: Pairs, places: Ids, token: Int, parts: Ids) -> None:
    """Split a symbol into its parts at its places.

    A place needs two nodes for each part and one more; new are two pairs for each symbol at the most, and those
    of the parts.
    """
    for index in range(len(places)):
        place = np.int64(places[index])
        if words.symbols[place] != token:
            continue
        before = np.int64(words.firsts[place - 1])
        _lose(words, pairs, before)
        _lose(words, pairs, place)
        words.seen[token] -= words.counts[place]
        at = place
        for part in parts:
            words.symbols[at] = part
            words.seen[part] += words.counts[place]
            _note(words.heads, part, pairs.nodes, words.state, at)
            words.firsts[at + words.lengths[part] - 1] = np.int32(at)
            at += words.lengths[part]
        _gain(words, pairs, before)
        at = place
        for part in parts:
            _gain(words, pairs, at)
            at += words.lengths[part]


@kernel
def take_places(heads: Ids, index: Int, nodes: Ids) -> Ids:
    """The places of a list, from left to right; the list is emptied."""
    count, node = 0, heads[index]
    while node >= 0:
        count, node = count + 1, nodes[node, 1]
    places, node = np.empty(count, np.int32), heads[index]
    for place in range(count):
        places[place], node = nodes[node, 0], nodes[node, 1]
    heads[index] = -1
    places.sort()
    return places


@lean_inline
def _queue(state: Ints, pairs: Pairs, number: Int) -> None:
    """Queue a pair, if it is seen more often than when it was last queued."""
    if pairs.seen[number] > pairs.queued[number]:
        pairs.queued[number] = pairs.seen[number]
        push(pairs.values, pairs.ties, state[N_QUEUED], pairs.seen[number], pairs.keys[number])
        state[N_QUEUED] += 1


@lean_kernel
def queue_touched(state: Ints, pairs: Pairs) -> None:
    """Queue the pairs that were touched."""
    for index in range(state[N_TOUCHED]):
        _queue(state, pairs, pairs.touched[index])


@lean_kernel
def most_frequent(state: Ints, pairs: Pairs, minimum: Int) -> np.int64:
    """The number of the most frequent pair, -1 where none is seen `minimum` times. It leaves the queue."""
    while state[N_QUEUED] > 0:
        count, key = pairs.values[0], pairs.ties[0]
        pop(pairs.values, pairs.ties, state[N_QUEUED])
        state[N_QUEUED] -= 1
        number = np.int64(pairs.table[_slot(pairs.table, pairs.keys, key)]) - 1
        if count != pairs.queued[number]:
            continue  # it was queued again since, with a higher count
        pairs.queued[number] = 0
        if pairs.seen[number] == count:
            return number if count >= minimum else np.int64(-1)
        _queue(state, pairs, number)
    return np.int64(-1)


@lean_kernel
def fill_table(table: Ids, keys: Ints, count: Int) -> None:
    """Enter the first `count` pairs into an empty table."""
    for number in range(count):
        table[_slot(table, keys, keys[number])] = np.int32(number + 1)
