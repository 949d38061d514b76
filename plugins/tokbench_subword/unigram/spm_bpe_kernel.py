"""sentencepiece's BPE as kernels: a text, or a part of one, to a path, with dropout or without."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Floats,
    Ids,
    Int,
    Ints,
    Words,
    i32_in,
    i64_in,
    pointer,
    u64_in,
)
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.charsmap_kernels import longest_symbol
from tokbench_subword.unigram.paths import UNKNOWN_PIECE, link, only_piece, width_of, write_rows

NO_RANK = np.iinfo(np.int32).max
"""The rank of a pair that makes nothing."""
_SCANNED = 48  # up to so many symbols, looking at all of them is faster than keeping a heap
_N_FIELDS = 7
_FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASH_SHIFT = np.uint64(32)


@kernel
def fill_pairs(pairs: Ints, keys: Words, values: Ids) -> None:
    """Put rows of (left, right, piece) into a table whose size is a power of two."""
    mask = np.int64(len(keys) - 1)
    for row in range(len(pairs)):
        key = np.uint64(pairs[row, 0]) << np.uint64(32) | np.uint64(pairs[row, 1])
        slot = np.int64(spread(key) >> _HASH_SHIFT) & mask
        while keys[slot] != _FREE:
            slot = (slot + 1) & mask
        keys[slot], values[slot] = key, pairs[row, 2]


@inline
def _pair(keys: Words, values: Ids, mask: Int, left: Int, right: Int) -> np.int64:
    """The piece that two symbols make, or -1."""
    if left < 0 or right < 0:
        return np.int64(-1)
    key = np.uint64(left) << np.uint64(32) | np.uint64(right)
    slot = np.int64(spread(key) >> _HASH_SHIFT) & mask
    while keys[slot] != _FREE:
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + 1) & mask
    return np.int64(-1)


@inline
def _rank(
    block: Block, mask: Int, scratch: Ints, fields: Int, left: Int, right: Int
) -> tuple[np.int64, np.int64]:
    """Look up what the symbols at `left` and `right` make and note it at `left`; its rank."""
    piece = np.int64(-1)
    if right >= 0:
        piece = _pair(
            u64_in(block, at.PAIR_KEYS), i32_in(block, at.PAIR_VALUES), mask,
            scratch[fields + left], scratch[fields + right],
        )  # fmt: skip
    rank = np.int64(NO_RANK)
    if piece >= 0:
        rank = np.int64(i32_in(block, at.RANKS)[piece])
    return piece, rank


@subroutine
def merge_part(block: Block, data: Bytes, begin: Int, size: Int, uniforms: Floats, dropout: float) -> None:
    """Merge ``data[begin:begin + size]`` and fill the links of `block`.

    Each merge is passed over where the next of `uniforms` is less than `dropout`. Fields of symbol k in
    scratch: its start, what it merges as, its id, the rank and piece of the pair with the next one, and its
    neighbours.
    """
    settings, scratch, links = i64_in(block, at.SETTINGS), i64_in(block, at.SCRATCH), i64_in(block, at.LINKS)
    units, defined = u64_in(block, at.UNITS), u64_in(block, at.DEFINED)
    mask, n_pieces = settings[at.PAIR_MASK], settings[at.N_PIECES]
    has_defined = settings[at.N_DEFINED] > 0
    room = size + 1
    symbols, starts, ids, ranks = 0 * room, room, 2 * room, 3 * room
    makes, after, before, heap = 4 * room, 5 * room, 6 * room, _N_FIELDS * room
    count, position, drawn = np.int64(0), np.int64(0), np.int64(0)
    while position < size:
        length = np.int64(0)
        symbol = np.int64(UNKNOWN_PIECE)
        piece = np.int64(UNKNOWN_PIECE)
        if has_defined:
            length = longest_symbol(data, begin + position, begin + size, defined)
        if length > 0:
            piece = only_piece(data, begin + position, length, defined)
        else:
            length = width_of(data[begin + position])
            symbol = only_piece(data, begin + position, length, units)
            if symbol < n_pieces:
                piece = symbol
        scratch[symbols + count], scratch[starts + count], scratch[ids + count] = symbol, position, piece
        scratch[after + count], scratch[before + count] = count + 1, count - 1
        position, count = position + length, count + 1
    scratch[after + count - 1] = -1
    for place in range(count):
        piece, rank = _rank(block, mask, scratch, symbols, place, scratch[after + place])
        scratch[makes + place], scratch[ranks + place] = piece, rank
    heaped = count > _SCANNED
    n_heap = np.int64(0)
    if heaped:
        for place in range(count):
            if scratch[ranks + place] != NO_RANK:
                n_heap = _push(scratch, heap, n_heap, scratch[ranks + place] << 32 | place)
    while True:
        best: Any = np.int64(NO_RANK)
        left = np.int64(-1)
        if heaped:
            while n_heap > 0:
                top = scratch[heap]
                n_heap = _pop(scratch, heap, n_heap)
                if scratch[ranks + (top & 0xFFFFFFFF)] == top >> 32:  # else the pair there has changed since
                    best, left = top >> 32, top & 0xFFFFFFFF
                    break
        else:
            here: Any = np.int64(0)
            while here >= 0:
                if scratch[ranks + here] < best:
                    best, left = scratch[ranks + here], here
                here = scratch[after + here]
        if left < 0:
            break
        if dropout > 0.0:
            drawn += 1
            if uniforms[drawn - 1] < dropout:
                scratch[ranks + left] = NO_RANK
                continue
        right = scratch[after + left]
        piece = scratch[makes + left]
        scratch[symbols + left] = scratch[ids + left] = piece
        following = scratch[after + right]
        scratch[after + left] = following
        scratch[ranks + right] = NO_RANK
        if following >= 0:
            scratch[before + following] = left
        previous = scratch[before + left]
        if previous >= 0:
            piece, rank = _rank(block, mask, scratch, symbols, previous, left)
            scratch[makes + previous], scratch[ranks + previous] = piece, rank
            if heaped and rank != NO_RANK:
                n_heap = _push(scratch, heap, n_heap, rank << 32 | previous)
        piece, rank = _rank(block, mask, scratch, symbols, left, following)
        scratch[makes + left], scratch[ranks + left] = piece, rank
        if heaped and rank != NO_RANK:
            n_heap = _push(scratch, heap, n_heap, rank << 32 | left)
    here = np.int64(0)
    while here >= 0:
        following = scratch[after + here]
        end = scratch[starts + following] if following >= 0 else size
        links[scratch[starts + here]] = link(end, scratch[ids + here])
        here = following


@inline
def _push(scratch: Ints, heap: Int, count: np.int64, value: Int) -> np.int64:
    """Add a value to the binary heap of `count` values at `heap` (smallest first); the new count."""
    place = count
    while place > 0:
        parent = (place - 1) >> 1
        if scratch[heap + parent] <= value:
            break
        scratch[heap + place] = scratch[heap + parent]
        place = parent
    scratch[heap + place] = value
    return count + 1


@inline
def _pop(scratch: Ints, heap: Int, count: np.int64) -> np.int64:
    """Remove the smallest value; the new count."""
    count -= 1
    value, place = scratch[heap + count], np.int64(0)
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and scratch[heap + child + 1] < scratch[heap + child]:
            child += 1
        if scratch[heap + child] >= value:
            break
        scratch[heap + place] = scratch[heap + child]
        place = child
    scratch[heap + place] = value
    return count


@kernel
def merge_all(arrays: Block, source: Bytes, uniforms: Floats, dropout: float, rows: Ints) -> np.int64:
    """Fill `rows` with (start, end, piece) of the whole internal text, padded by 48 bytes; how many."""
    block, size = pointer(arrays), np.int64(len(source) - 48)
    if size == 0:
        return np.int64(0)
    merge_part(block, pointer(source), np.int64(0), size, pointer(uniforms), dropout)
    return write_rows(i64_in(block, at.LINKS), size, rows)
