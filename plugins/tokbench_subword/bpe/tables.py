"""The encoder's tables: pairs to ranks, bytes and characters to ids, whole tokens, and where tokens can join.

Every table is an open-addressing hash table in one numpy array, filled by a small kernel. They are built once
per model and shared by all threads.

- `PairTable`: one uint64 per merge, ``left << 43 | right << 22 | rank``, found by a multiplicative hash,
  behind a Bloom filter of 64 kB that answers most "no merge" questions from the first-level cache. Without it a
  first pass takes 1.15 to 1.20 of the time over Russian (GPT-2, cl100k), 1.06 to 1.10 over 21 languages.
- `TokenIndex`: token bytes to id.
- `JoinTable`: for two neighbouring characters, whether any token reaches across their boundary. Where none
  does, a long pre-token may be cut there without changing the result: no merge could ever have joined the
  two sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import equal_bytes, hash_bytes, spread
from tokbench.kernels.pointers import PADDING, Bytes, Ids, Int, Ints, Keys, Word, Words, pointer
from tokbench.kernels.text import end_to_end

NONE = np.uint32(0xFFFFFFFF)
"""No rank, no id."""
Number = int | np.uint32
"""A rank, an id, a symbol of a word under way."""
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
RANK_BITS = np.uint64(22)
RANK_MASK = np.uint64((1 << 22) - 1)
MOST_RANKS = (1 << 22) - 1
_TOKEN_BITS = np.uint64(21)
_BLOOM_BITS = 19
_FILTER_BITS = np.uint64(3)
_BLOOM_SHIFT = np.uint64(64 - _BLOOM_BITS)
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


@inline
def pair_rank(table: Words, bloom: Keys, shift: Word, left: Number, right: Number) -> np.uint32:
    """The rank of merging `left` and `right`, or `NONE`; `table` and `bloom` are pointers."""
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
def enter_pair(table: Words, bloom: Keys, shift: Word, left: Number, right: Number, rank: Number) -> bool:
    """Enter a pair, unless it is there; return whether it was entered. All are as in `pair_rank`."""
    key = (np.uint64(left) << _TOKEN_BITS) | np.uint64(right)
    hashed = spread(key)
    into_filter(bloom, hashed >> (shift - _FILTER_BITS))
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    i = np.int64(hashed >> shift)
    while table[i] != EMPTY:
        if (table[i] >> RANK_BITS) == key:
            return False
        i = (i + 1) & mask
    table[i] = (key << RANK_BITS) | np.uint64(rank)
    return True


@kernel
def _fill_pairs(merges: Ids, ranks: Ids, table: Words, bloom: Keys, shift: Word) -> None:
    """Enter every merge; of two for one pair the first stays."""
    for m in range(len(merges)):
        enter_pair(pointer(table), pointer(bloom), shift, merges[m, 0], merges[m, 1], ranks[m])


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Pairs of ids to ranks; see `pair_rank`."""

    table: NDArray[np.uint64]
    bloom: NDArray[np.uint32]
    shift: int

    @classmethod
    def empty(cls, count: int) -> PairTable:
        """A table with room for `count` pairs."""
        size = power_of_two(5 * count // 4)
        bloom = np.zeros((size << int(_FILTER_BITS)) >> 5, np.uint32)
        return cls(np.full(size, EMPTY, np.uint64), bloom, 64 - (size.bit_length() - 1))

    @classmethod
    def of(cls, merges: NDArray[np.int32], ranks: NDArray[np.int32]) -> PairTable:
        """The table of merges ``(n, 3)`` and their ranks ``(n,)``, which must be below `MOST_RANKS`."""
        pairs = cls.empty(len(merges))
        _fill_pairs(merges, ranks, pairs.table, pairs.bloom, np.uint64(pairs.shift))
        return pairs


# --- whole tokens -------------------------------------------------------------------------------------


@inline
def token_id(
    table: Words, mask: Int, blob: Bytes, starts: Ints, data: Bytes, start: Int, length: Int, hashed: Word
) -> np.uint32:
    """The id of the token that is ``data[start:start + length]``, or `NONE`; all tables are pointers.

    `hashed` is `hash_bytes` of these bytes.
    """
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
def _fill_tokens(table: Words, blob: Bytes, starts: Ints) -> None:
    mask = len(table) - 1
    bytes_of = pointer(blob)
    for token in range(len(starts) - 1):
        length = starts[token + 1] - starts[token]
        if length == 0:
            continue
        hashed = hash_bytes(bytes_of, starts[token], length)
        i = np.int64(hashed) & mask
        while table[i] != EMPTY:
            i = (i + 1) & mask
        table[i] = ((hashed >> np.uint64(32)) << np.uint64(32)) | np.uint64(token)


@dataclass(frozen=True, slots=True, eq=False)
class TokenIndex:
    """Token bytes by id (`blob` from ``starts[id]`` to ``starts[id + 1]``), ids by bytes."""

    blob: NDArray[np.uint8]
    starts: NDArray[np.int64]
    table: NDArray[np.uint64]
    longest: int

    @classmethod
    def of(cls, vocabulary: Sequence[bytes]) -> TokenIndex:
        """The table of a vocabulary; an empty entry is no token."""
        blob, starts = end_to_end(vocabulary, PADDING)
        table = np.full(power_of_two(2 * len(vocabulary)), EMPTY, np.uint64)
        _fill_tokens(table, blob, starts)
        return cls(blob, starts, table, int(np.diff(starts).max(initial=0)))


# --- where tokens can join ----------------------------------------------------------------------------


@inline
def _join_slot(key: Word, mask: Int) -> np.int64:
    return np.int64(spread(key) >> np.uint64(20)) & mask


@inline
def joins(table: Words, bloom: Keys, mask: Int, text: Bytes, at: Int, before: Int, after: Int) -> bool:
    """Whether some token reaches across byte `at` of `text`, between characters of `before` and `after` bytes.

    A token may begin inside the first character or end inside the second, so every such part is asked for.
    """
    for a in range(1, before + 1):
        left = np.uint64(0)
        for i in range(a):
            left = (left << np.uint64(8)) | np.uint64(text[at - a + i])
        right = np.uint64(0)
        for b in range(after):
            right = (right << np.uint64(8)) | np.uint64(text[at + b])
            key = (left << np.uint64(32)) | right
            if not in_filter(bloom, spread(key) >> _BLOOM_SHIFT):
                continue
            slot = _join_slot(key, mask)
            while table[slot] != EMPTY:
                if table[slot] == key:
                    return True
                slot = (slot + 1) & mask
    return False


@kernel
def _fill_joins(blob: Bytes, starts: Ints, table: Words, count_only: bool) -> np.int64:
    """Enter (or only count) the parts of characters on either side of every boundary in every token."""
    mask = len(table) - 1
    count = np.int64(0)
    for token in range(len(starts) - 1):
        begin, end = starts[token], starts[token + 1]
        for at in range(begin + 1, end):
            first = blob[at]
            if 0x80 <= first < 0xC0:
                continue  # inside a character
            count += 1
            if count_only:
                continue
            left = np.uint64(0)
            i = at - 1
            while i > begin and 0x80 <= blob[i] < 0xC0 and at - i < 4:
                i -= 1
            while i < at:
                left = (left << np.uint64(8)) | np.uint64(blob[i])
                i += 1
            length = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
            right = np.uint64(0)
            for i in range(at, min(at + length, end)):
                right = (right << np.uint64(8)) | np.uint64(blob[i])
            key = (left << np.uint64(32)) | right
            slot = _join_slot(key, mask)
            while table[slot] != EMPTY and table[slot] != key:
                slot = (slot + 1) & mask
            table[slot] = key
    return count


@kernel
def _enter_joins(keys: Words, table: Words, bloom: Keys) -> None:
    """Enter distinct keys in a table and its Bloom filter."""
    mask = len(table) - 1
    for k in range(len(keys)):
        into_filter(bloom, spread(keys[k]) >> _BLOOM_SHIFT)
        i = _join_slot(keys[k], mask)
        while table[i] != EMPTY:
            i = (i + 1) & mask
        table[i] = keys[k]


@dataclass(frozen=True, slots=True, eq=False)
class JoinTable:
    """Character boundaries that tokens reach across, behind a Bloom filter; see `joins`.

    `ascii` has those of two ASCII characters: without it a first pass of Llama-2, for which a line is one
    pre-token, takes 1.5 times as long over English. Without the filter, one of GPT-2 or cl100k takes that
    over Chinese, Japanese and Thai.
    """

    table: NDArray[np.uint64]
    bloom: NDArray[np.uint32]
    ascii: NDArray[np.uint8]

    @classmethod
    def of(cls, tokens: TokenIndex) -> JoinTable:
        """The table of all tokens."""
        count = int(_fill_joins(tokens.blob, tokens.starts, np.zeros(1, np.uint64), True))
        every = np.full(power_of_two(2 * count), EMPTY, np.uint64)
        _fill_joins(tokens.blob, tokens.starts, every, False)
        found: Any = every[every != EMPTY]  # most boundaries recur: a table of the distinct ones fits a cache
        table = np.full(power_of_two(2 * len(found)), EMPTY, np.uint64)
        bloom = np.zeros(1 << (_BLOOM_BITS - 5), np.uint32)
        _enter_joins(found, table, bloom)
        left, right = found >> np.uint64(32), found & np.uint64(0xFFFFFFFF)
        both = (left < 128) & (right < 128)
        ascii_joins = np.zeros(128 * 128, np.uint8)
        ascii_joins[(left[both] * np.uint64(128) + right[both]).astype(np.int64)] = 1
        return cls(table, bloom, ascii_joins)
