"""A word: from the cache, or encoded and entered there."""

from __future__ import annotations

from tokbench_subword.bpe.uncached import encode_uncached
from tokbench_subword.bpe.word_cache import (
    recall_short,
    recall_wide,
    remember_short,
    remember_wide,
    short_key,
    wide_key,
)
from tokbench_subword.kernels.compiling import inline, subroutine


@inline
def short_word(block, slots, arena, mask, text, start, length, flag, out, o):  # type: ignore[no-untyped-def]
    """Encode a word of 1 to `SHORT_WORD` bytes; return the new end of `out`; three more may be written."""
    low, high = short_key(text, start, length, flag)
    after = recall_short(slots, arena, mask, low, high, out, o)
    if after < 0:
        after = encode_uncached(block, text, start, start + length, flag != 0, out, o)
        remember_short(block, low, high, out, o, after - o)
    return after


@subroutine
def wide_word(block, text, start, length, flag, out, o):  # type: ignore[no-untyped-def]
    """Encode a word of 16 to `WIDE_WORD` bytes; return the new end of `out`."""
    key = wide_key(text, start, length, flag)
    after = recall_wide(block, key, out, o)
    if after < 0:
        after = encode_uncached(block, text, start, start + length, flag != 0, out, o)
        remember_wide(block, key, out, o, after - o)
    return after
