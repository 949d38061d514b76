"""A word that is not among the short ones met before: from the cache of wide words, or encoded and kept."""

from __future__ import annotations

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.cutting import encode_cut
from tokbench_subword.bpe.tables import NONE
from tokbench_subword.bpe.uncached import encode_uncached, whole_token
from tokbench_subword.bpe.word_cache import (
    SHORT_WORD,
    WIDE_WORD,
    recall_wide,
    remember_short,
    remember_wide,
    short_key,
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
def encode_word(block, text, start, length, out, o):  # type: ignore[no-untyped-def]
    """Encode a word that is wide, longer, or short and new, and keep it; return the new end of `out`.

    What has few letters is quickest merged. Scripts of many characters are cut: the parts come again, and most
    are known already. Long phrases of Chinese and Japanese hardly ever come again, and are not kept.
    """
    settings = i64_in(block, at.SETTINGS)
    script = _script(text, start, length)
    wide = SHORT_WORD < length <= WIDE_WORD and not _HAN <= script < _AFTER_HAN
    if wide:
        after = recall_wide(block, wide_key(text, start, length, 0), out, o)
        if after >= 0:
            return after
    whole = whole_token(block, settings, text, start, length)
    if whole != NONE:
        out[o] = whole
        after = o + 1
    elif settings[at.CUT] == 1 and (length > WIDE_WORD or script >= _THREE_BYTES):
        after = encode_cut(block, text, start, start + length, out, o)
    else:
        after = encode_uncached(block, text, start, start + length, out, o)
    if wide:
        remember_wide(block, wide_key(text, start, length, 0), out, o, after - o)
    elif length <= SHORT_WORD:
        low, high = short_key(text, start, length, 0)
        remember_short(block, low, high, out, o, after - o)
    return after
