"""The n-grams of marked documents, order by order: numbered, counted, and looked up, as kernels over tables.

A symbol is its own number. An n-gram of order n above 1 is a key: the number of its first n - 1 symbols, which
are an n-gram of the order below, and its last one. It gets the next number when it is first seen. `number`
holds, at each place of the text, the number of the n-gram that begins there: first the symbols, then, written
over them, pairs, and so on.

A table does not fit a processor's cache, so a row is prefetched some places before it is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import Floats, Ids, Int, Ints, pointer, prefetch

_AHEAD = 12
"""How many places ahead memory is prefetched: about as many as are done by the time it arrives."""
_NONE = -1
"""The number of what is no n-gram."""


class KeyTable(NamedTuple):
    """Open addressing: `rows` int64 ``(2**k * 2,)`` are keys, each followed by its number; `shift` for hashing.

    Keys and numbers are stored plus one, so that a row of zeros is free: memory of zeros costs nothing before
    it is used.
    """

    rows: Ints
    shift: int


class OrderCounts(NamedTuple):
    """The n-grams of an order, by number: their table, their contexts (int32), how often each was seen (int32).

    `after` (int32) is how many symbols each n-gram of the order below was seen after.
    """

    table: KeyTable
    contexts: Ids
    counts: Ids
    after: Ids


def count_order(symbols: Ids, number: Ids, n: int, begin: int, n_below: int) -> OrderCounts:
    """Count the n-grams of order `n`, 2 or more; `number` holds those of the order below, and then these.

    `begin`, the largest symbol, is the last of no n-gram.

    Example:
        >>> symbols = np.array([5, 0, 1, 0, 1], np.int32)
        >>> pairs = count_order(symbols, symbols.copy(), 2, 5, 6)
        >>> pairs.contexts.tolist(), pairs.counts.tolist(), pairs.after.tolist()  # of 50, 01, 10
        ([5, 0, 1], [1, 2, 1], [2, 1, 0, 0, 0, 0])
    """
    # room for as many n-grams as are common: a table that grows is filled twice, a full one is slow to search
    bits = max(8, min(max(5 * n_below, len(symbols) // 3), 2 * len(symbols)).bit_length())
    contexts = np.empty(len(symbols), np.int32)
    after = np.zeros(n_below, np.int32)
    rows, done, kinds = np.zeros(2 << bits, np.int64), 0, 0
    while True:
        begun = (done, kinds)
        done, kinds = _count(symbols, number, n, begin, rows, 64 - bits, begun, contexts, after)
        if done == len(symbols):
            counts = np.bincount(number[number >= 0], minlength=kinds).astype(np.int32)
            return OrderCounts(KeyTable(rows, 64 - bits), contexts[:kinds], counts, after)
        bits += 1
        larger = np.zeros(2 << bits, np.int64)
        _move(rows, larger, 64 - bits)
        rows = larger


@inline
def _home(key: Int, shift: Int) -> np.int64:
    """The row where a key is looked for first."""
    return np.int64(spread(np.uint64(key)) >> np.uint64(shift)) * 2


@inline
def _row_of(rows: Ints, mask: Int, key: Int, shift: Int) -> np.int64:
    """Where a key stands, or the free row where it would."""
    row = _home(key, shift)
    while rows[row] != key and rows[row] != 0:
        row = (row + 2) & mask
    return row


@inline
def _key(symbols: Ids, number: Ids, place: Int, n: Int, begin: Int) -> np.int64:
    """The key of the n-gram at a place, or 0."""
    context, symbol = np.int64(number[place]), np.int64(symbols[place + n - 1])
    if context < 0 or symbol == begin:
        return np.int64(0)
    return context * (begin + 1) + symbol + 1


@kernel
def _count(
    symbols_: Ids,
    number_: Ids,
    n: Int,
    begin: Int,
    rows_: Ints,
    shift: Int,
    begun: tuple[int, int],
    contexts: Ids,
    after: Ids,
) -> tuple[int, int]:
    """Number the n-grams from the place where the last call stopped, until the table is two thirds full."""
    symbols, number, rows = pointer(symbols_), pointer(number_), pointer(rows_)
    mask, (done, kinds) = np.int64(len(rows_) - 1), begun
    last, most = len(symbols_) - n, len(rows_) // 3
    for place in range(done, last + 1):
        if place + _AHEAD <= last:
            prefetch(rows, _home(_key(symbols, number, place + _AHEAD, n, begin), shift))
        key = _key(symbols, number, place, n, begin)
        if key == 0:
            number[place] = np.int32(_NONE)
            continue
        row = _row_of(rows, mask, key, shift)
        if rows[row] == 0:
            if kinds == most:
                return place, kinds
            contexts[kinds] = number[place]
            after[number[place + 1]] += 1
            kinds += 1
            rows[row], rows[row + 1] = key, kinds
        number[place] = np.int32(rows[row + 1] - 1)
    for place in range(max(last + 1, 0), len(symbols_)):
        number[place] = np.int32(_NONE)
    return len(symbols_), kinds


@kernel
def _move(old_: Ints, new_: Ints, shift: Int) -> None:
    """Enter all keys of one table in another that is empty and larger."""
    old, new, mask = pointer(old_), pointer(new_), np.int64(len(new_) - 1)
    for row in range(0, len(old_), 2):
        if old[row] != 0:
            place = _row_of(new, mask, old[row], shift)
            new[place], new[place + 1] = old[row], old[row + 1]


@kernel
def mix_order(
    symbols_: Ids,
    number_: Ids,
    n: Int,
    begin: Int,
    rows_: Ints,
    shift: Int,
    share_: Floats,
    rest_: Floats,
    chance_: Floats,
) -> None:
    """Mix an order into the `chance` of each symbol: that of the order below times the rest, plus its share.

    `number` holds the n-grams of the order below, and then these, -1 for those that were never seen. A place is
    passed twice: its n-gram is looked up some places before it is mixed in, while its share comes from memory.
    """
    symbols, number, rows, chance = pointer(symbols_), pointer(number_), pointer(rows_), pointer(chance_)
    share, rest, mask, last = pointer(share_), pointer(rest_), np.int64(len(rows_) - 1), len(symbols_) - n
    for place in range(-_AHEAD, last + 1):
        there = place + _AHEAD
        if there + _AHEAD <= last:
            prefetch(rows, _home(_key(symbols, number, there + _AHEAD, n, begin), shift))
        if there <= last:
            key = _key(symbols, number, there, n, begin)
            found = np.int64(_NONE)
            if key != 0:
                found = rows[_row_of(rows, mask, key, shift) + 1] - 1
                at = there + n - 1
                chance[at] *= rest[number[there]]
                prefetch(share, max(found, 0))
            number[there] = np.int32(found)
        if place >= 0 and number[place] >= 0:
            chance[place + n - 1] += share[number[place]]
    for place in range(max(last + 1, 0), len(symbols_)):
        number[place] = np.int32(_NONE)
