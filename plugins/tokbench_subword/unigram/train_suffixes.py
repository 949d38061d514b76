"""The suffix array of words: their suffixes in order, by several threads at once.

Suffixes are packed into 64-bit numbers, some symbols each, and these are sorted. Most suffixes of words differ
within one such number or end in it; only those that do neither are sorted on by the next one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ids, Int, Words
from tokbench.kernels.threads import in_threads
from tokbench_subword.unigram.train_sorting import in_order

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
    bits = max(1, int(n_symbols - 1).bit_length())
    per_key = min(_BITS // bits, max_length)

    def part(limits: tuple[int, int]) -> NDArray[np.int32]:
        places = np.flatnonzero((symbols[:n] >= limits[0]) & (symbols[:n] < limits[1])).astype(np.int32)
        keys = np.empty(len(places), np.uint64)
        _pack(symbols, places, 0, per_key, bits, keys)
        return _sorted(symbols, places, keys, per_key, max_length, bits)

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
    symbols: NDArray[np.int32],
    places: NDArray[np.int32],
    keys: NDArray[np.uint64],
    begin: int,
    length: int,
    bits: int,
) -> NDArray[np.int32]:
    """The suffixes at some places in order; `keys` are of their symbols up to `begin`."""

    def next_keys(suffixes: NDArray[np.int32], most_bits: int) -> tuple[NDArray[np.uint64], int] | None:
        nonlocal begin
        count = min(most_bits // bits, length - begin)
        if count == 0:
            return None
        keys = np.empty(len(suffixes), np.uint64)
        _pack(symbols, suffixes, begin, count, bits, keys)
        begin += count
        return keys, count * bits

    # A suffix that has come to its end does not go on: the last symbol of its key is 0.
    return in_order(places, keys, next_keys, (1 << bits) - 1)


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
