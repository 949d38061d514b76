"""The suffix array of words: their suffixes in order, by several threads at once.

Suffixes are packed into 64-bit numbers, some symbols each, and these are sorted. Most suffixes of words differ
within one such number or end in it; only those that do neither are sorted on by the next one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ids, Int, Ints, Words, pointer
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
    parts = _in_parts(symbols, n, n_symbols, per_key, bits, threads)
    return in_threads(lambda part: _sorted(symbols, *part, per_key, max_length, bits), parts, threads)


def _in_parts(
    symbols: NDArray[np.int32], n: int, n_symbols: int, per_key: int, bits: int, threads: int
) -> list[tuple[NDArray[np.int32], NDArray[np.uint64]]]:
    """The places of all symbols but 0 with their first keys, in parts of about equal size by their symbols."""
    runs = list(pairwise(n * part // _PARTS for part in range(_PARTS + 1)))
    counts = np.array(in_threads(lambda run: _occurrences(symbols, *run, n_symbols), runs, threads))
    ends = np.cumsum(counts.sum(axis=0))
    cuts = np.searchsorted(ends, [ends[-1] * part // _PARTS for part in range(1, _PARTS)]) + 1
    limits = np.unique(np.concatenate(([1], cuts, [n_symbols])).clip(1, n_symbols))
    part_of = np.searchsorted(limits, np.arange(n_symbols), side="right") - 1
    of_run = np.add.reduceat(counts, limits[:-1], axis=1)  # how many symbols each part has from each run
    begins = np.concatenate(([0], np.cumsum(of_run.sum(axis=0))))
    targets = begins[:-1] + np.cumsum(of_run, axis=0)
    places, keys = np.empty(int(begins[-1]), np.int32), np.empty(int(begins[-1]), np.uint64)

    def distribute(job: tuple[tuple[int, int], NDArray[np.int64]]) -> None:
        _distribute(symbols, *job[0], part_of, job[1], per_key, bits, places, keys)

    in_threads(distribute, zip(runs, targets, strict=True), threads)
    return [(places[low:high], keys[low:high]) for low, high in pairwise(begins.tolist())]


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
def _occurrences(symbols: Ids, low: Int, high: Int, n_symbols: Int) -> Ints:
    """How often each symbol but 0 is in a run of places."""
    counts = np.zeros(n_symbols, np.int64)
    for place in range(low, high):
        counts[symbols[place]] += 1
    counts[0] = 0
    return counts


@kernel
def _distribute(
    symbols_array: Ids,
    low: Int,
    high: Int,
    part_of: Ints,
    ends: Ints,
    per_key: Int,
    bits: Int,
    places: Ids,
    keys: Words,
) -> None:
    """Write the places of a run, and the keys of their suffixes, to the parts that the symbols belong to, from
    the last to the first, before ``ends[part]``. A key is that of the next place with a symbol put in front.
    """
    symbols, key = pointer(symbols_array), np.uint64(0)
    shift, width = np.uint64(bits * (per_key - 1)), np.uint64(bits)
    for back in range(high + per_key - low):
        place = high + per_key - 1 - back
        symbol = np.int64(symbols[place])
        if symbol == 0:
            key = np.uint64(0)
            continue
        key = (np.uint64(symbol) << shift) | (key >> width)
        if place < high:
            part = part_of[symbol]
            ends[part] -= 1
            places[ends[part]], keys[ends[part]] = place, key


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
