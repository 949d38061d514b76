"""Which pieces lie where in the words: listed once, and thinned out as pieces go; no trie is walked again."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer
from tokbench_subword.kernels.threads import in_threads
from tokbench_subword.unigram.train_seeds import Pieces, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = 8
"""Parts of the work over words, whose sums are added in order: the same for any number of threads."""
_EDGES_A_PLACE = 8  # room for so many at first; what is not written takes no memory


@dataclass(slots=True, eq=False)
class Edges:
    """Which pieces lie where: `lengths` and `pieces` of those that begin at place i from ``bounds[i]`` on."""

    bounds: NDArray[np.int64]
    lengths: NDArray[np.uint16]
    pieces: NDArray[np.int32]


def find_edges(text: Text, pieces: Pieces, max_length: int, threads: int) -> Edges:
    """All edges of `text`."""
    n = int(text.starts[-1] + text.sizes[-1]) + 1
    size = 1 << 10
    while size < 2 * (int(pieces.lengths.sum()) + 2):
        size *= 2
    keys, values = np.full(size, -1, np.int64), np.zeros(size, np.int32)
    ends = np.full(int(pieces.lengths.sum()) + 2, -1, np.int32)
    n_symbols = len(text.alphabet) + 1
    _build(text.symbols, pieces.starts, pieces.lengths, keys, values, ends, n_symbols)
    bounds = np.zeros(n + 1, np.int64)

    def listed(run: tuple[int, int]) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
        room = _EDGES_A_PLACE * (run[1] - run[0]) + 64
        while True:
            lengths, found = np.empty(room, np.uint16), np.empty(room, np.int32)
            count = _list_edges(
                text.symbols, *run, keys, values, ends, n_symbols, max_length, bounds, lengths, found
            )
            if count <= room:
                return lengths[:count], found[:count]
            room = int(count)

    runs = _runs(n)
    parts = in_threads(listed, runs, threads)
    base = 0
    for (low, high), (listed_lengths, _) in zip(runs, parts, strict=True):
        bounds[low:high] += base
        base += len(listed_lengths)
    bounds[n] = base
    return Edges(
        bounds, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    )


def thin(edges: Edges, kept: NDArray[np.bool_], threads: int) -> None:
    """Drop the edges of pieces that are not `kept`, and number the others anew."""
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    bounds, lengths, pieces = edges.bounds, edges.lengths, edges.pieces
    runs = _runs(len(bounds) - 1)
    begins = [int(bounds[low]) for low, _ in runs]
    ends = in_threads(lambda run: int(_compact(bounds, *run, lengths, pieces, numbers)), runs, threads)
    total = 0
    for (low, high), begin, end in zip(runs, begins, ends, strict=True):  # close the gaps between runs
        if begin > total:
            lengths[total : total + end - begin] = lengths[begin:end]
            pieces[total : total + end - begin] = pieces[begin:end]
            bounds[low:high] -= begin - total
        total += end - begin
    bounds[-1] = total
    edges.lengths, edges.pieces = lengths[:total], pieces[:total]


def _runs(n: int) -> list[tuple[int, int]]:
    """Runs of about equally many of `n` places."""
    return list(pairwise(n * part // CHUNKS for part in range(CHUNKS + 1)))


def word_chunks(text: Text) -> list[tuple[int, int]]:
    """Runs of words of about equal size in characters."""
    ends = np.cumsum(text.sizes)
    cuts = np.searchsorted(ends, [int(ends[-1]) * part // CHUNKS for part in range(1, CHUNKS)])
    return list(pairwise([0, *cuts.tolist(), len(text.sizes)]))


@inline
def _child(keys, values, mask, node, symbol, n_symbols):  # type: ignore[no-untyped-def]
    """Where the trie's table has the child of `node` by `symbol`: its slot, free or not."""
    key = node * n_symbols + symbol
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot, key


@kernel
def _build(symbols, starts, lengths, keys_array, values_array, ends, n_symbols):  # type: ignore[no-untyped-def]
    """A trie of all pieces in a hash table; ``ends[node]`` is the piece that ends there, or -1."""
    keys, values, mask = pointer(keys_array), pointer(values_array), np.int64(len(keys_array) - 1)
    nodes = 1
    for piece in range(len(starts)):
        node = np.int64(0)
        for index in range(lengths[piece]):
            symbol = np.int64(symbols[starts[piece] + index])
            slot, key = _child(keys, values, mask, node, symbol, n_symbols)
            if keys[slot] == -1:
                keys[slot], values[slot] = key, nodes
                nodes += 1
            node = np.int64(values[slot])
        ends[node] = piece


@kernel
def _list_edges(  # type: ignore[no-untyped-def]
    symbols_array, low, high, keys_array, values_array, ends_array, n_symbols, max_length,
    bounds, lengths, pieces,
):  # fmt: skip
    """List the edges of the places from `low` to `high`, as far as there is room; how many they are.

    `bounds` counts from the first of them.
    """
    keys, values, ends = pointer(keys_array), pointer(values_array), pointer(ends_array)
    symbols, mask, room = pointer(symbols_array), np.int64(len(keys_array) - 1), len(lengths)
    count = np.int64(0)
    for place in range(low, high):
        bounds[place] = count
        node, length = np.int64(0), 0
        while length < max_length:
            symbol = np.int64(symbols[place + length])
            if symbol == 0:
                break
            slot, _ = _child(keys, values, mask, node, symbol, n_symbols)
            if keys[slot] == -1:
                break
            node = np.int64(values[slot])
            length += 1
            if ends[node] >= 0:
                if count < room:
                    lengths[count], pieces[count] = length, ends[node]
                count += 1
    return count


@kernel
def _compact(bounds_array, low, high, lengths_array, pieces_array, numbers_array):  # type: ignore[no-untyped-def]
    """Move the edges of some places that are kept to the front of theirs; returns where they end.

    Another thread may read the first of these bounds meanwhile: it stays as it is.
    """
    bounds, lengths, pieces = pointer(bounds_array), pointer(lengths_array), pointer(pieces_array)
    numbers = pointer(numbers_array)
    start = total = bounds[low]
    for place in range(low, high):
        stop = bounds[place + 1]
        bounds[place] = total
        for edge in range(start, stop):
            piece = numbers[pieces[edge]]
            if piece >= 0:
                lengths[total], pieces[total] = lengths[edge], piece
                total += 1
        start = stop
    return total
