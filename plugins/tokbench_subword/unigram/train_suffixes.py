"""The suffix array of words: their suffixes in order, by several threads at once.

Suffixes are packed into 64-bit numbers, some symbols each, and these are sorted. Most suffixes of words differ
within one such number or end in it; only those that do neither are sorted on by the next one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import kernel
from tokbench_subword.kernels.threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    totals = np.bincount(symbols[:n], minlength=n_symbols)
    totals[0] = 0
    ends = np.cumsum(totals)
    cuts = np.searchsorted(ends, [ends[-1] * part // _PARTS for part in range(1, _PARTS)]) + 1
    first_symbols = np.unique(np.concatenate(([1], cuts, [n_symbols])).clip(1, n_symbols))
    bits = max(1, int(n_symbols - 1).bit_length())

    def part(limits: tuple[int, int]) -> NDArray[np.int32]:
        low, high = limits
        places = np.empty(int(totals[low:high].sum()), np.int32)
        _places_of(symbols, n, low, high, places)
        return _sorted(symbols, places, max_length, bits)

    return in_threads(part, pairwise(first_symbols.tolist()), threads)


def _sorted(symbols: NDArray[np.int32], places: NDArray[np.int32], length: int, bits: int) -> NDArray[np.int32]:
    """The suffixes at some places in order."""
    per_key = _BITS // bits
    keys = _packed(symbols, places, 0, min(per_key, length), bits)
    by_key = np.argsort(keys)
    order, keys = places[by_key], keys[by_key]
    groups = np.zeros(len(order), np.int64)
    open_ranks = np.arange(len(order))
    for begin in range(per_key, length, per_key):
        # Of those that are open: equal to a neighbour as yet, and not at their ends.
        new_group = np.ones(len(keys), np.bool_)
        new_group[1:] = (keys[1:] != keys[:-1]) | (groups[1:] != groups[:-1])
        alone = new_group & np.append(new_group[1:], True)
        ended = keys & np.uint64((1 << bits) - 1) == 0
        still_open = ~(alone | ended)
        open_ranks, groups = open_ranks[still_open], np.cumsum(new_group)[still_open]
        if not len(open_ranks):
            break
        suffixes = order[open_ranks]
        keys = _packed(symbols, suffixes, begin, min(per_key, length - begin), bits)
        by_key = np.lexsort((keys, groups))
        order[open_ranks], keys = suffixes[by_key], keys[by_key]
    return order


@kernel
def _places_of(symbols, n, low, high, places):  # type: ignore[no-untyped-def]
    """The places of the symbols from `low` up to `high`."""
    count = 0
    for place in range(n):
        if low <= symbols[place] < high:
            places[count] = place
            count += 1


@kernel
def _pack(symbols, places, begin, count, bits, keys):  # type: ignore[no-untyped-def]
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


def _packed(
    symbols: NDArray[np.int32], places: NDArray[np.int32], begin: int, count: int, bits: int
) -> NDArray[np.uint64]:
    keys = np.empty(len(places), np.uint64)
    _pack(symbols, places, begin, count, bits, keys)
    return keys
