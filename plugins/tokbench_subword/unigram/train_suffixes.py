"""The suffix array of words: their suffixes in order, by several threads at once.

Suffixes are packed into 64-bit numbers, some symbols each, and these are sorted. Most suffixes of words differ
within one such number or end in it; only those that do neither are sorted on by the next one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ids, Int, Ints, Words
from tokbench.kernels.threads import in_threads

_PARTS = 8
"""Parts in which suffixes are sorted at once."""
_BITS = 64


def sorted_suffixes(
    symbols: NDArray[np.int32], n: int, max_length: int, n_symbols: int, threads: int
) -> list[NDArray[np.int32]]:
    """The order of the suffixes of ``symbols[:n]``, each up to the first 0 and to `max_length` symbols.

    They come in parts, one after another in order; no two parts have suffixes that begin with the same symbol,
    and none those that begin with 0.
    Behind the `n` symbols there are `max_length` zeros or more. Equal suffixes are in any order.
    """
    bits = max(1, int(n_symbols - 1).bit_length())

    def part(limits: tuple[int, int]) -> NDArray[np.int32]:
        places = np.flatnonzero((symbols[:n] >= limits[0]) & (symbols[:n] < limits[1])).astype(np.int32)
        return _sorted(symbols, places, max_length, bits)

    return in_threads(part, pairwise(_limits(symbols[:n], n_symbols)), threads)


def _limits(symbols: NDArray[np.int32], n_symbols: int) -> list[int]:
    """The first symbols of parts of about equally many places, and the number of symbols; 0 is in none."""
    counts = np.bincount(symbols, minlength=n_symbols)
    counts[0] = 0
    ends = np.cumsum(counts)
    cuts = np.searchsorted(ends, [ends[-1] * part // _PARTS for part in range(1, _PARTS)]) + 1
    limits: list[int] = np.unique(np.concatenate(([1], cuts, [n_symbols])).clip(1, n_symbols)).tolist()
    return limits


def _sorted(
    symbols: NDArray[np.int32], places: NDArray[np.int32], max_length: int, bits: int
) -> NDArray[np.int32]:
    """The suffixes at some places in order; a symbol takes so many `bits`.

    Those that are equal so far are a group, whose number goes before their next symbols.
    """
    order, equals, ranks = np.empty_like(places), places, np.arange(len(places))
    groups, n_groups, begin = np.zeros(0, np.uint64), 0, 0
    while len(equals) and begin < max_length:
        count = min((_BITS - int(n_groups).bit_length()) // bits, max_length - begin)
        keys = np.empty(len(equals), np.uint64)
        _pack(symbols, equals, begin, count, bits, keys)
        if begin:
            keys |= groups << np.uint64(count * bits)
        begin += count
        by_key = np.argsort(keys)
        order[ranks], keys = equals[by_key], keys[by_key]
        n_equal, n_groups = _still_equal(keys, (1 << bits) - 1, ranks)
        groups, ranks = keys[:n_equal], ranks[:n_equal]
        equals = order[ranks]
    return order


@kernel
def _still_equal(keys: Words, last_symbol: Int, ranks: Ints) -> tuple[int, int]:
    """Keep the ranks of keys that equal a neighbour, not of suffixes that end; how many, in how many groups.

    Of a suffix that ends, the `last_symbol` of its key, under this mask, is 0. The first keys are overwritten
    with the numbers of the groups, from 1 on.
    """
    n, count, n_groups = len(keys), 0, 0
    before, last = np.uint64(0), np.uint64(0)
    for index in range(n):
        key = keys[index]
        equal = (index > 0 and key == before) or (index + 1 < n and key == keys[index + 1])
        if equal and key & np.uint64(last_symbol) != 0:
            if n_groups == 0 or key != last:
                last = key
                n_groups += 1
            keys[count], ranks[count] = n_groups, ranks[index]
            count += 1
        before = key
    return count, n_groups


@kernel
def _pack(symbols: Ids, places: Ids, begin: Int, count: Int, bits: Int, keys: Words) -> None:
    """`count` symbols of each suffix from its symbol `begin` on as one number, zeros from the first 0 on."""
    for index in range(len(places)):
        at, end = np.int64(places[index]) + begin, np.int64(places[index]) + begin + count
        key = np.uint64(0)
        while at < end and symbols[at] != 0:
            key = (key << np.uint64(bits)) | np.uint64(symbols[at])
            at += 1
        while at < end:
            key <<= np.uint64(bits)
            at += 1
        keys[index] = key
