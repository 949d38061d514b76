"""Which pieces lie where in the words: listed once, and thinned out as pieces go; no trie is walked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

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
    """Which pieces lie where: `lengths` and `pieces` of those that begin at place i of a word, from
    ``bounds[i]`` up to ``bounds[i + 1]``.

    Places come in `runs` that end behind a word: there no piece begins, so there may be a gap between the edges
    of two runs, and each is thinned out where it is.
    """

    bounds: NDArray[np.int64]
    lengths: NDArray[np.uint16]
    pieces: NDArray[np.int32]
    runs: list[tuple[int, int]]


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
    runs, room = _runs(text), _EDGES_A_PLACE
    while True:
        edges = Edges(
            np.zeros(n + 1, np.int64), np.empty(room * n, np.uint16), np.empty(room * n, np.int32), runs
        )
        trie = keys, values, ends, n_symbols, max_length
        if all(in_threads(partial(_list_run, text, edges, room, trie), runs, threads)):
            return edges
        room = 2 * room + 1


def _list_run(text: Text, edges: Edges, room: int, trie: tuple[Any, ...], run: tuple[int, int]) -> bool:
    """List the edges of a run; returns whether so much room a place was enough."""
    return bool(_list_edges(text.symbols, *run, *trie, room, edges.bounds, edges.lengths, edges.pieces))


def thin(edges: Edges, kept: NDArray[np.bool_], threads: int) -> None:
    """Drop the edges of pieces that are not `kept`, and number the others anew."""
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    bounds, lengths, pieces = edges.bounds, edges.lengths, edges.pieces
    in_threads(lambda run: _compact(bounds, *run, lengths, pieces, numbers), edges.runs, threads)


def summed(parts: Sequence[NDArray[np.float64]], threads: int) -> NDArray[np.float64]:
    """The sum of some arrays, added in order."""
    total = np.zeros(len(parts[0]))

    def add(run: tuple[int, int]) -> None:
        for part in parts:
            total[slice(*run)] += part[slice(*run)]

    in_threads(add, pairwise(len(total) * number // CHUNKS for number in range(CHUNKS + 1)), threads)
    return total


def _runs(text: Text) -> list[tuple[int, int]]:
    """Runs of places, of about equally many, from the beginning of a word to behind the end of one."""
    starts = text.starts
    wanted = [int(starts[-1] + text.sizes[-1]) * part // CHUNKS for part in range(1, CHUNKS)]
    cuts = starts[np.searchsorted(starts, wanted).clip(max=len(starts) - 1)]
    end = int(starts[-1] + text.sizes[-1]) + 1
    return list(pairwise(np.unique([int(starts[0]), *cuts.tolist(), end]).tolist()))


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
    room, bounds, lengths, pieces,
):  # fmt: skip
    """List the edges of a run, where there is room for so many a place; returns whether it was enough."""
    keys, values, ends = pointer(keys_array), pointer(values_array), pointer(ends_array)
    symbols, mask = pointer(symbols_array), np.int64(len(keys_array) - 1)
    count, full = np.int64(room * low), np.int64(room * high)
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
                if count == full:
                    return False
                lengths[count], pieces[count] = length, ends[node]
                count += 1
    return True


@kernel
def _compact(bounds_array, low, high, lengths_array, pieces_array, numbers_array):  # type: ignore[no-untyped-def]
    """Move the edges of a run that are kept to the front of theirs. Its last place has none."""
    bounds, lengths, pieces = pointer(bounds_array), pointer(lengths_array), pointer(pieces_array)
    numbers = pointer(numbers_array)
    start = total = bounds[low]
    for place in range(low, high - 1):
        stop = bounds[place + 1]
        bounds[place] = total
        for edge in range(start, stop):
            piece = numbers[pieces[edge]]
            if piece >= 0:
                lengths[total], pieces[total] = lengths[edge], piece
                total += 1
        start = stop
    bounds[high - 1] = total
