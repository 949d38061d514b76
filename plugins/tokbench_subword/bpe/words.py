"""A word: from the cache, or encoded and entered there."""

from __future__ import annotations

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.cutting import encode_cut
from tokbench_subword.bpe.tables import NONE
from tokbench_subword.bpe.uncached import encode_uncached, whole_token
from tokbench_subword.bpe.word_cache import (
    WIDE_WORD,
    recall_wide,
    remember_short,
    remember_wide,
    wide_key,
)
from tokbench_subword.kernels.compiling import inline, subroutine
from tokbench_subword.kernels.pointers import i64_in

_THREE_BYTES = 0xE0  # first byte of characters from U+0800 on
_HAN, _AFTER_HAN = 0xE3, 0xEA  # first bytes of U+3000 to U+9FFF: kana and Han


@inline
def _script(text, start, length):  # type: ignore[no-untyped-def]
    """The first byte of a word's first character that is not ASCII, where that is its first or second."""
    first = text[start]
    return first if first >= 0x80 or length == 1 else text[start + 1]


@subroutine
def new_word(block, text, start, length, out, o):  # type: ignore[no-untyped-def]
    """Encode a word that is in no cache; return the new end of `out`.

    What has few letters is quickest merged. Scripts of many characters are cut: the parts come again, and most
    are known already.
    """
    settings = i64_in(block, at.SETTINGS)
    whole = whole_token(block, settings, text, start, length)
    if whole != NONE:
        out[o] = whole
        return o + 1
    if settings[at.CUT] == 1 and (length > WIDE_WORD or _script(text, start, length) >= _THREE_BYTES):
        return encode_cut(block, text, start, start + length, out, o)
    return encode_uncached(block, text, start, start + length, out, o)


@subroutine
def new_short_word(block, text, start, length, low, high, out, o):  # type: ignore[no-untyped-def]
    """Encode a word of 1 to `SHORT_WORD` bytes and keep it; return the new end of `out`."""
    after = new_word(block, text, start, length, out, o)
    remember_short(block, low, high, out, o, after - o)
    return after


@subroutine
def long_word(block, text, start, length, out, o):  # type: ignore[no-untyped-def]
    """Encode a word of more than `SHORT_WORD` bytes; return the new end of `out`.

    Phrases of Chinese and Japanese hardly ever come again; they are not kept.
    """
    if length > WIDE_WORD or _HAN <= _script(text, start, length) < _AFTER_HAN:
        return new_word(block, text, start, length, out, o)
    key = wide_key(text, start, length, 0)
    after = recall_wide(block, key, out, o)
    if after < 0:
        after = new_word(block, text, start, length, out, o)
        remember_wide(block, key, out, o, after - o)
    return after
