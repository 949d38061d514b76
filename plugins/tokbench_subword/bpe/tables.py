"""The encoder's hash tables: from pairs to ranks, and from whole tokens to ids.

Every table uses open addressing in one numpy array, which a small kernel fills. The tables are built once per
model and shared by all threads.

- `PairTable`: one uint64 per merge, ``left << 43 | right << 22 | rank``, found by a multiplicative hash.
  A Bloom filter with one byte per entry answers most lookups of pairs that do not merge from a near cache.
  Without it a first pass takes 1.15 to 1.20 times as long over Russian (GPT-2, cl100k), 1.06 to 1.10 over 21
  languages.
- `TokenBytes.table_of`: from the bytes of a token to its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import equal_bytes, hash_bytes, spread
from tokbench.kernels.pointers import (
    PADDING,
    Block,
    Bytes,
    Ids,
    Int,
    Ints,
    Keys,
    Word,
    Words,
    pointer,
    u32_in,
    u64_in,
)
from tokbench.kernels.text import end_to_end

NONE = np.uint32(0xFFFFFFFF)
"""No rank, no id."""
Number = int | np.uint32
"""A rank, an id, or a symbol during merging."""
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
RANK_BITS = np.uint64(22)
RANK_MASK = np.uint64((1 << 22) - 1)
MOST_RANKS = (1 << 22) - 1
_TOKEN_BITS = np.uint64(21)
_FILTER_BITS = np.uint64(3)
_FIVE, _LOW5, _ONE = np.uint64(5), np.uint64(31), np.uint32(1)


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least `least`, and at least 16."""
    return max(16, 1 << (int(least) - 1).bit_length())


@inline
def in_filter(bloom: Keys, bit: Word) -> np.bool_:
    """Whether a bit of a Bloom filter is set."""
    return (bloom[np.int64(bit >> _FIVE)] >> np.uint32(bit & _LOW5)) & _ONE != 0


@inline
def into_filter(bloom: Keys, bit: Word) -> None:
    """Set a bit of a Bloom filter."""
    bloom[np.int64(bit >> _FIVE)] |= _ONE << np.uint32(bit & _LOW5)


# --- pairs --------------------------------------------------------------------------------------------


class MergeTable(NamedTuple):
    """A `PairTable` for kernels: pointers to its first two arrays, and the shift."""

    pairs: Any
    bloom: Any
    shift: Any


@inline
def merges_at(block: Block, place: Int) -> MergeTable:
    """The table whose arrays are in a block from `place` on."""
    return MergeTable(u64_in(block, place), u32_in(block, place + 1), u64_in(block, place + 2)[0])


@inline
def merges_in(pairs: PairTable) -> MergeTable:
    """The `MergeTable` of a `PairTable`, which the caller must keep alive."""
    return MergeTable(pointer(pairs.table), pointer(pairs.bloom), pairs.shift[0])


@inline
def pair_rank(merges: MergeTable, left: Number, right: Number) -> np.uint32:
    """The rank of merging `left` and `right`, or `NONE`."""
    table, bloom, shift = merges
    key = (np.uint64(left) << _TOKEN_BITS) | np.uint64(right)
    hashed = spread(key)
    if not in_filter(bloom, hashed >> (shift - _FILTER_BITS)):
        return NONE
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    i = np.int64(hashed >> shift)
    while True:
        entry = table[i]
        if (entry >> RANK_BITS) == key:
            return np.uint32(entry & RANK_MASK)
        if entry == EMPTY:
            return NONE
        i = (i + 1) & mask


@inline
def enter_pair(merges: MergeTable, left: Number, right: Number, rank: Number) -> None:
    """Insert a pair, unless the table already has it."""
    table, bloom, shift = merges
    key = (np.uint64(left) << _TOKEN_BITS) | np.uint64(right)
    hashed = spread(key)
    into_filter(bloom, hashed >> (shift - _FILTER_BITS))
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    i = np.int64(hashed >> shift)
    while table[i] != EMPTY:
        if (table[i] >> RANK_BITS) == key:
            return
        i = (i + 1) & mask
    table[i] = (key << RANK_BITS) | np.uint64(rank)


@kernel
def _fill_pairs(merges: Ids, ranks: Ids, pairs: PairTable) -> None:
    """Insert every merge; if a pair is listed twice, the first entry counts."""
    for m in range(len(merges)):
        enter_pair(merges_in(pairs), merges[m, 0], merges[m, 1], ranks[m])


class PairTable(NamedTuple):
    """A hash table from pairs of ids to ranks, for `pair_rank`; ``hash >> shift[0]`` indexes `table`."""

    table: NDArray[np.uint64]
    bloom: NDArray[np.uint32]
    shift: NDArray[np.uint64]

    @classmethod
    def empty(cls, count: int) -> PairTable:
        """A table with room for `count` pairs."""
        size = power_of_two(5 * count // 4)
        bloom = np.zeros((size << int(_FILTER_BITS)) >> 5, np.uint32)
        return cls(np.full(size, EMPTY, np.uint64), bloom, np.array([65 - size.bit_length()], np.uint64))

    @classmethod
    def of(cls, merges: NDArray[np.int32], ranks: NDArray[np.int32]) -> PairTable:
        """The table of merges ``(n, 3)`` and their ranks ``(n,)``, which must be below `MOST_RANKS`."""
        pairs = cls.empty(len(merges))
        _fill_pairs(merges, ranks, pairs)
        return pairs


# --- whole tokens -------------------------------------------------------------------------------------


@inline
def token_id(
    table: Words, mask: Int, blob: Bytes, starts: Ints, data: Bytes, start: Int, length: Int
) -> np.uint32:
    """The id of the token ``data[start:start + length]``, or `NONE`; all tables are pointers."""
    hashed = hash_bytes(data, start, length)
    tag = np.uint32(hashed >> np.uint64(32))
    i = np.int64(hashed) & mask
    while True:
        entry = table[i]
        if entry == EMPTY:
            return NONE
        if np.uint32(entry >> np.uint64(32)) == tag:
            candidate = np.int64(entry & np.uint64(0xFFFFFFFF))
            begin = starts[candidate]
            if starts[candidate + 1] - begin == length and equal_bytes(blob, begin, data, start, length):
                return np.uint32(candidate)
        i = (i + 1) & mask


@kernel
def _fill_tokens(table: Words, blob: Bytes, starts: Ints, chosen: Ints) -> None:
    mask = len(table) - 1
    bytes_of = pointer(blob)
    for k in range(len(chosen)):
        token = chosen[k]
        hashed = hash_bytes(bytes_of, starts[token], starts[token + 1] - starts[token])
        i = np.int64(hashed) & mask
        while table[i] != EMPTY:
            i = (i + 1) & mask
        table[i] = ((hashed >> np.uint64(32)) << np.uint64(32)) | np.uint64(token)


class TokenBytes(NamedTuple):
    """The bytes of all tokens, end to end: token `id` is ``blob[starts[id]:starts[id + 1]]``."""

    blob: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Sequence[bytes]) -> TokenBytes:
        """The bytes of a vocabulary; an empty entry is not a token."""
        return cls(*end_to_end(vocabulary, PADDING))

    def table_of(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.uint64], int]:
        """A table of the `chosen` tokens for `token_id`, and the length in bytes of the longest of them."""
        sizes = np.diff(self.starts)
        ids = np.flatnonzero(chosen & (sizes > 0))
        table = np.full(power_of_two(2 * len(ids)), EMPTY, np.uint64)
        _fill_tokens(table, self.blob, self.starts, ids)
        return table, int(sizes[ids].max(initial=0))
