"""The merge loop: merges the symbols of one pre-token until no merge applies.

Both forms do the same: they merge the neighbouring pair of lowest rank, the leftmost of equals, and repeat.
`merge_short` scans all ranks at every step, which is faster than a queue for up to some hundred symbols (with
the queue for all, a first pass takes 1.3 to 1.4 times as long over Russian and 21 languages, GPT-2 and cl100k).
`merge_long` keeps the pairs in a binary heap, n log n, and skips stale entries when it pops them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.heap import heapify, pop, push
from tokbench.kernels.pointers import Block, Floats, Int, Ints, Keys, keep, pointer, u8_in, u32_in
from tokbench_subword.bpe.tables import NONE, MergeTable, Number, pair_rank

SHORT = 128
"""Up to this many symbols, `merge_short` is faster."""
SHARED = np.uint32(1 << 20)
"""Added to the left symbol of a pair whose rank others share; larger than any symbol of such a model."""
_PLACE_BITS, _PLACE = np.uint32(7), np.uint32(127)


def scratch() -> list[NDArray[Any]]:
    """The scratch arrays of `merge_short`: symbols, their keys, and links to the next and previous one."""
    return [np.zeros(SHORT + 1, dtype) for dtype in (np.uint32, np.uint32, np.uint8, np.uint8)]


@inline
def _pair_key(rank: Number, i: Int) -> np.uint32:
    """Rank and place of a pair in one number, so the least key is the next merge; `NONE` without a rank."""
    if rank == NONE:
        return NONE
    return (rank << _PLACE_BITS) | np.uint32(i)


@inline
def _least(keys: Keys, count: Int) -> np.uint32:
    """The least key of `count` symbols."""
    best = NONE
    for i in range(count - 1):
        best = min(best, keys[i])
    return best


@inline
def _moved_together(symbols: Keys, following: Any, count: Int, sizes: Ints | None) -> np.int64:
    """Move the remaining symbols to the beginning and return their number; `following` links each to the next.

    `sizes`, unless None, receives how many first symbols each consists of.
    """
    left, place = np.int64(0), np.int64(0)
    while place < count:
        symbols[left] = symbols[place]
        if sizes is not None:
            sizes[left] = np.int64(following[place]) - place
        left += 1
        place = np.int64(following[place])
    return left


@inline
def _made(merges: MergeTable, results: Keys, rank: Number, left: Number, right: Number) -> np.uint32:
    """The symbol that a merge results in; see `merge_short`."""
    symbol = results[rank]
    return pair_rank(merges, left | SHARED, right) if symbol == NONE else symbol


@subroutine
def merge_short(
    block: Block, own: Int, count: Int, merges: MergeTable, results: Keys, numbered: np.uint32
) -> np.int64:
    """Merge `count` symbols in place; the remaining ones are moved to the beginning. Returns their number.

    The symbols are in the first array of `scratch`, which is in `block` from `own` on. A rank below `numbered`
    is itself the resulting symbol, as with `pieces`; for others that symbol is ``results[rank]``. If several
    merges share the rank, ``results[rank]`` is `NONE`; the table then has each pair a second time, with
    `SHARED` added to its left symbol, and the "rank" of that entry is the symbol.
    """
    symbols, keys = u32_in(block, own), u32_in(block, own + 1)
    following, before = u8_in(block, own + 2), u8_in(block, own + 3)
    for i in range(count - 1):
        keys[i] = _pair_key(pair_rank(merges, symbols[i], symbols[i + 1]), i)
    for i in range(count):
        following[i] = i + 1
        before[i] = max(i - 1, 0)
    best = _least(keys, count)
    while best != NONE:
        place, rank = np.int64(best & _PLACE), best >> _PLACE_BITS
        joined, previous = np.int64(following[place]), np.int64(before[place])
        after = np.int64(following[joined])
        symbol = rank if rank < numbered else _made(merges, results, rank, symbols[place], symbols[joined])
        symbols[place] = symbol
        following[place] = after
        keys[place] = keys[joined] = keys[previous] = NONE
        best = _least(keys, count)  # of all other pairs, while the lookups of the new pairs wait for memory
        if after < count:
            before[after] = place
            key = _pair_key(pair_rank(merges, symbol, symbols[after]), place)
            keys[place] = key
            best = min(best, key)
        if place > 0:
            key = _pair_key(pair_rank(merges, symbols[previous], symbol), previous)
            keys[previous] = key
            best = min(best, key)
    return _moved_together(symbols, following, count, None)


@subroutine
def merge_long(
    symbols: Keys,
    count: Int,
    merges: MergeTable,
    results: Keys | None = None,
    dropout: float = 0.0,
    uniforms: Floats | None = None,
    rng: np.random.Generator | None = None,
    sizes: Ints | None = None,
) -> np.int64:
    """Merge ``symbols[:count]`` in place, as `merge_short` does.

    Without `results` every rank is itself the resulting symbol. Returns how many symbols remain, moved to the
    beginning; `sizes`, unless None, receives how many first symbols each consists of.

    With `uniforms`, a merge whose number is less than `dropout` is skipped for good, as in sentencepiece. With
    `rng`, a merge whose draw is less is skipped until another merge has been done, as in `tokenizers`.
    """
    following_array, before_array = np.empty(count, np.int64), np.empty(count, np.int64)
    ranks_array, heap_array = np.empty(count, np.uint32), np.empty(3 * count + 4, np.int64)
    following, before, ranks = pointer(following_array), pointer(before_array), pointer(ranks_array)
    heap = pointer(heap_array)  # of rank << 32 | place
    size, drawn = np.int64(0), np.int64(0)
    n_aside, last = np.int64(0), 3 * count + 3  # skipped merges, from the end of `heap` backwards
    for i in range(count):
        following[i], before[i], ranks[i] = i + 1, i - 1, NONE
        if i + 1 < count:
            ranks[i] = pair_rank(merges, symbols[i], symbols[i + 1])
            if ranks[i] != NONE:
                heap[size] = np.int64(ranks[i]) << 32 | i
                size += 1
    heapify(heap, size)
    while size > 0:
        top = pop(heap, size)
        size -= 1
        i = top & 0xFFFFFFFF
        rank = ranks[i]
        if rank == NONE or rank != top >> 32:
            continue  # stale: one of the two has since merged with another symbol
        if uniforms is not None and dropout > 0.0:
            drawn += 1
            if uniforms[drawn - 1] < dropout:
                ranks[i] = NONE
                continue
        if rng is not None and rng.random() < dropout:
            heap[last - n_aside] = top
            n_aside += 1
            continue
        for k in range(n_aside):
            size = push(heap, size, heap[last - k])
        n_aside = np.int64(0)
        j, symbol = following[i], rank
        if results is not None:
            symbol = _made(merges, results, rank, symbols[i], symbols[j])
        after, previous = following[j], before[i]
        symbols[i], following[i] = symbol, after
        ranks[i] = ranks[j] = NONE
        if after < count:
            before[after] = i
            ranks[i] = pair_rank(merges, symbol, symbols[after])
            if ranks[i] != NONE:
                size = push(heap, size, np.int64(ranks[i]) << 32 | i)
        if previous >= 0:
            ranks[previous] = pair_rank(merges, symbols[previous], symbol)
            if ranks[previous] != NONE:
                size = push(heap, size, np.int64(ranks[previous]) << 32 | previous)
    left = _moved_together(symbols, following, count, sizes)
    keep(following_array)
    keep(before_array)
    keep(ranks_array)
    keep(heap_array)
    return left
