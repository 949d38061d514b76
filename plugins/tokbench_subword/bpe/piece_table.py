"""Pieces by their bytes: a word that is one need not be merged, since merging would make just that of it.

An entry holds the bytes of a piece with its number in two words of 64 bits, so that one line of the processor's
cache answers; a Bloom filter answers most of "no such piece".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import first_bytes, spread_two
from tokbench.kernels.pointers import Bytes, Int, Ints, Keys, Word, Words, load_u64, pointer
from tokbench_subword.bpe.pieces import N_BYTES, Pieces
from tokbench_subword.bpe.tables import FILTER_BITS, NONE, TokenIndex, in_filter, into_filter, power_of_two

LONGEST_PIECE = 13
"""Bytes of the longest pieces that are found."""
_MOST_PIECES = 1 << 20
_LENGTH, _NUMBER = np.uint64(40), np.uint64(44)  # where they stand in the second word, above five bytes
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_KEY = (_ONE << _NUMBER) - _ONE


@inline
def _key(text: Bytes, start: Int, length: Int) -> tuple[Word, Word]:
    """The two words of an entry, without its number."""
    rest = load_u64(text, start + 8) & ((_ONE << np.uint64(8 * max(length - 8, 0))) - _ONE)
    return first_bytes(load_u64(text, start), min(length, 8)), rest | np.uint64(length) << _LENGTH


@inline
def piece_at(table: Words, bloom: Keys, shift: Word, text: Bytes, start: Int, length: Int) -> np.uint32:
    """The number of the piece ``text[start:start + length]``, of 1 to `LONGEST_PIECE` bytes, or `NONE`."""
    low, high = _key(text, start, length)
    hashed = spread_two(low, high)
    if in_filter(bloom, hashed >> (shift - FILTER_BITS)):
        mask = (np.int64(2) << np.int64(np.uint64(64) - shift)) - 1
        i = np.int64(hashed >> shift) << 1
        while table[i + 1] != _ZERO:
            if table[i] == low and table[i + 1] & _KEY == high:
                return np.uint32(table[i + 1] >> _NUMBER)
            i = (i + 2) & mask
    return NONE


@kernel
def _fill(blob: Bytes, starts: Ints, ids: Ints, table_: Words, bloom_: Keys, shift: Word) -> None:
    """Enter all pieces that are short enough, but for bytes."""
    text, table, bloom, mask = pointer(blob), pointer(table_), pointer(bloom_), len(table_) - 1
    for number in range(N_BYTES, len(ids)):
        start = starts[ids[number]]
        length = starts[ids[number] + 1] - start
        if length <= LONGEST_PIECE:
            low, high = _key(text, start, length)
            hashed = spread_two(low, high)
            into_filter(bloom, hashed >> (shift - FILTER_BITS))
            i = np.int64(hashed >> shift) << 1
            while table[i + 1] != _ZERO:
                i = (i + 2) & mask
            table[i], table[i + 1] = low, high | np.uint64(number) << _NUMBER


@dataclass(frozen=True, slots=True, eq=False)
class PieceTable:
    """Pieces by their bytes; see `piece_at`."""

    table: NDArray[np.uint64]
    bloom: NDArray[np.uint32]
    shift: int

    @classmethod
    def of(cls, tokens: TokenIndex, pieces: Pieces) -> PieceTable:
        """The table of the first million pieces of a vocabulary."""
        ids = pieces.ids[:_MOST_PIECES].astype(np.int64)
        size = power_of_two(5 * len(ids) // 4)
        table, shift = np.zeros(2 * size, np.uint64), 64 - (size.bit_length() - 1)
        bloom = np.zeros((size << int(FILTER_BITS)) >> 5, np.uint32)
        _fill(tokens.blob, tokens.starts, ids, table, bloom, np.uint64(shift))
        return cls(table, bloom, shift)
