"""Long pre-tokens in parts: cut where no token reaches across two characters.

A Chinese sentence is one pre-token, and no sentence comes twice; its words do. Cutting is exact: no merge could
have joined the two sides.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.layout import CUTS, MEMO_BITS
from tokbench_subword.bpe.tables import joins
from tokbench_subword.bpe.uncached import encode_uncached
from tokbench_subword.bpe.word_cache import (
    PART,
    SHORT_WORD,
    WIDE_WORD,
    recall_short,
    recall_wide,
    remember_short,
    remember_wide,
    short_home,
    short_key,
    wide_key,
)
from tokbench_subword.kernels.compiling import inline, subroutine
from tokbench_subword.kernels.hashing import spread
from tokbench_subword.kernels.pointers import i64_in, u8_in, u32_in, u64_in
from tokbench_subword.kernels.utf8 import code_point

_ONE = np.uint64(1)


@inline
def _may_cut(block, settings, text, boundary, point, length, following, following_length):  # type: ignore[no-untyped-def]
    """Whether no token joins two neighbouring characters; answers are remembered by the pair of code points."""
    if point < 128 and following < 128:
        return u8_in(block, at.ASCII_JOINS)[(point << 7) | following] == 0
    memo = u64_in(block, at.JOIN_MEMO)
    key = (np.uint64(point) << np.uint64(21)) | np.uint64(following)
    i = np.int64(spread(key) >> np.uint64(64 - MEMO_BITS))
    if (memo[i] >> _ONE) == key:  # zeros are no pair: the first of the table is ASCII's
        return (memo[i] & _ONE) == 0
    table, bloom, mask = u64_in(block, at.JOINS), u32_in(block, at.JOIN_BLOOM), settings[at.JOIN_MASK]
    joined = joins(table, bloom, mask, text, boundary, length, following_length)
    memo[i] = (key << _ONE) | np.uint64(1 if joined else 0)
    return not joined


@subroutine
def _wide_part(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a part of more than `SHORT_WORD` bytes."""
    length = end - start
    if length > WIDE_WORD:
        return encode_uncached(block, text, start, end, out, o)
    key = wide_key(text, start, length, PART)
    after = recall_wide(block, key, out, o)
    if after < 0:
        after = encode_uncached(block, text, start, end, out, o)
        remember_wide(block, key, out, o, after - o)
    return after


@inline
def _part(block, slots, arena, shift, byte_ids, plain, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a part; where `plain`, every byte is a symbol, and a part of one byte needs no look-up."""
    length = end - start
    if length == 1 and plain:  # a long run of spaces or dashes, in a vocabulary without tokens for it
        out[o] = byte_ids[text[start]]
        return o + 1
    if length > SHORT_WORD:
        return _wide_part(block, text, start, end, out, o)
    low, high = short_key(text, start, length, PART)
    after = recall_short(slots, arena, shift, low, high, short_home(low, high, shift), out, o)
    if after < 0:
        after = encode_uncached(block, text, start, end, out, o)
        remember_short(block, low, high, out, o, after - o)
    return after


@subroutine
def encode_cut(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a pre-token in parts; return the new end of `out`.

    Boundaries are found for `CUTS` bytes at a time, before any part is looked up: their look-ups do not
    depend on each other, and so overlap.
    """
    settings = i64_in(block, at.SETTINGS)
    slots, arena, cuts = u64_in(block, at.SHORT_WORDS), u32_in(block, at.ARENA), i64_in(block, at.CUT_PLACES)
    shift = u64_in(block, at.CACHE_SHIFTS)[0]
    byte_ids, plain = u32_in(block, at.BYTE_IDS), settings[at.BYTE_LEVEL] == 1
    part = start
    point, length = code_point(text, start)
    i = start + length
    while i < end:
        count = 0
        stop = min(end, i + CUTS)
        while i < stop:
            following, following_length = code_point(text, i)
            cuts[count] = i
            if _may_cut(block, settings, text, i, point, length, following, following_length):
                count += 1
            point, length = following, following_length
            i += length
        for k in range(count):
            o = _part(block, slots, arena, shift, byte_ids, plain, text, part, cuts[k], out, o)
            part = cuts[k]
    return _part(block, slots, arena, shift, byte_ids, plain, text, part, end, out, o)
