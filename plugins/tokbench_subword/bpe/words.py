"""A word that is not among the short ones met before: from the cache of wide words, or encoded and kept."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import hash_bytes
from tokbench.kernels.pointers import i64_in, prefetch_u64, u64_in
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.cutting import encode_cut
from tokbench_subword.bpe.phrases import PHRASE, note_phrase, recall_phrase
from tokbench_subword.bpe.short_tokens import SHORT_TOKEN, short_token_id, token_home, token_key
from tokbench_subword.bpe.tables import NONE
from tokbench_subword.bpe.uncached import encode_uncached, whole_token
from tokbench_subword.bpe.word_cache import (
    SHORT_WORD,
    WIDE_WORD,
    recall_wide,
    remember_short,
    remember_wide,
    wide_key,
)

_THREE_BYTES = 0xE0  # first byte of characters from U+0800 on
_TOP = np.uint64(56)  # where the length of a short word stands in its key
_HAN, _AFTER_HAN = 0xE3, 0xEA  # first bytes of U+3000 to U+9FFF: kana and Han


@inline
def _script(text, start, length):  # type: ignore[no-untyped-def]
    """The first byte of a word's first character that is not ASCII, where that is its first or second."""
    first = text[start]
    return first if first >= 0x80 or length == 1 else text[start + 1]


@inline
def _fetch(block, first, count):  # type: ignore[no-untyped-def]
    """Ask for the memory that the new ones among the words `first` to `count` of the group will need."""
    settings = i64_in(block, at.SETTINGS)
    keys, homes = u64_in(block, at.WORD_KEYS), i64_in(block, at.HOMES)
    slots, tokens = u64_in(block, at.SHORT_WORDS), u64_in(block, at.SHORT_TOKENS)
    shift = np.uint64(settings[at.SHORT_TOKEN_SHIFT])
    for k in range(first, count):
        low, high = keys[2 * k], keys[2 * k + 1]
        length = np.int64(high >> _TOP)
        known = slots[homes[k]] == low and slots[homes[k] + 1] == high
        if not known and length <= SHORT_TOKEN:
            prefetch_u64(tokens, token_home(low, token_key(high, length), shift))


@subroutine
def _encode_short(block, text, start, length, k, count, out, o):  # type: ignore[no-untyped-def]
    """Encode word `k` of a group of `count`, which is short and new, and keep it; return the end of `out`."""
    settings, counters = i64_in(block, at.SETTINGS), i64_in(block, at.COUNTERS)
    keys = u64_in(block, at.WORD_KEYS)
    low, high = keys[2 * k], keys[2 * k + 1]
    if counters[at.FETCHED] == 0:  # one new word seldom comes alone
        counters[at.FETCHED] = 1
        _fetch(block, k + 1, count)
    if settings[at.WHOLE_TOKENS] == 1 and length <= SHORT_TOKEN:
        shift = np.uint64(settings[at.SHORT_TOKEN_SHIFT])
        whole = short_token_id(u64_in(block, at.SHORT_TOKENS), shift, low, token_key(high, length))
    else:
        whole = whole_token(block, settings, text, start, length, hash_bytes(text, start, length))
    if whole != NONE:
        out[o] = whole
        after = o + 1
    elif settings[at.CUT] == 1 and _script(text, start, length) >= _THREE_BYTES:
        after = encode_cut(block, text, start, start + length, out, o)
    else:
        after = encode_uncached(block, text, start, start + length, out, o)
    remember_short(block, low, high, out, o, after - o)
    return after


@subroutine
def _encode_longer(block, text, start, length, out, o):  # type: ignore[no-untyped-def]
    """Encode a word longer than `SHORT_WORD`, and keep it where it is wide; return the new end of `out`.

    What has few letters is quickest merged. Scripts of many characters are cut: the parts come again, and most
    are known already. What is longer than a wide word, or as long in Chinese and Japanese, is a phrase.
    """
    settings = i64_in(block, at.SETTINGS)
    script = _script(text, start, length)
    wide = SHORT_WORD < length <= WIDE_WORD and not _HAN <= script < _AFTER_HAN
    phrase = not wide and length <= PHRASE
    if wide:
        after = recall_wide(block, wide_key(text, start, length, 0), out, o)
        if after >= 0:
            return after
    hashed = hash_bytes(text, start, length)
    if phrase:
        after = recall_phrase(block, text, start, length, hashed, out, o)
        if after >= 0:
            return after
    whole = whole_token(block, settings, text, start, length, hashed)
    if whole != NONE:
        out[o] = whole
        after = o + 1
    elif settings[at.CUT] == 1 and (length > WIDE_WORD or script >= _THREE_BYTES):
        after = encode_cut(block, text, start, start + length, out, o)
    else:
        after = encode_uncached(block, text, start, start + length, out, o)
    if wide:
        remember_wide(block, wide_key(text, start, length, 0), out, o, after - o)
    elif phrase:
        note_phrase(block, text, start, length, hashed, out, o, after - o)
    return after


@inline
def encode_new(block, text, start, length, k, count, out, o):  # type: ignore[no-untyped-def]
    """Encode word `k` of a group of `count`, which is longer, or short and new; return the new end of `out`."""
    if length > SHORT_WORD:
        return _encode_longer(block, text, start, length, out, o)
    return _encode_short(block, text, start, length, k, count, out, o)
