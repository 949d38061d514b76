"""A word that is not in the word cache: encoded, and kept."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.hashing import hash_bytes
from tokbench.kernels.pointers import i64_in, prefetch_to_read, u64_in
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.cutting import encode_cut
from tokbench_subword.bpe.short_tokens import SHORT_TOKEN, short_token_id, token_home, token_key
from tokbench_subword.bpe.tables import NONE
from tokbench_subword.bpe.uncached import encode_uncached, whole_token
from tokbench_subword.words.layout import COUNTERS, FETCHED, HOMES, WORD_KEYS, WORDS
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import LONGEST_WORD, SLOTS, remember

_UNCUT = 31
"""Bytes of words in alphabets of few letters up to which they are quicker merged than cut."""
_THREE_BYTES = 0xE0  # first byte of characters from U+0800 on
_TOP = np.uint64(56)  # where the length of a short word stands in its key


@inline
def _many_characters(text, start, length):  # type: ignore[no-untyped-def]
    """Whether the first of a word's first two characters that is not ASCII is of three bytes or more."""
    first = text[start]
    return (first if first >= 0x80 or length == 1 else text[start + 1]) >= _THREE_BYTES


@inline
def _fetch(block, first, count):  # type: ignore[no-untyped-def]
    """Ask for the memory that the new ones among the words `first` to `count` of the group will need."""
    keys, homes = u64_in(block, WORD_KEYS), i64_in(block, HOMES)
    slots, tokens = u64_in(u64_in(block, WORDS), SLOTS), u64_in(block, at.SHORT_TOKENS)
    shift = np.uint64(i64_in(block, at.SETTINGS)[at.SHORT_TOKEN_SHIFT])
    for k in range(first, count):
        low, high = keys[2 * k], keys[2 * k + 1]
        length = np.int64(high >> _TOP)
        known = slots[homes[k]] == low and slots[homes[k] + 1] == high
        if not known and length <= SHORT_TOKEN:
            prefetch_to_read(tokens, token_home(low, token_key(high, length), shift))


@inline
def _whole(block, settings, text, start, length, low, high):  # type: ignore[no-untyped-def]
    """The id of a word that is one token, or `NONE` where that is not known."""
    if length <= SHORT_TOKEN:
        shift = np.uint64(settings[at.SHORT_TOKEN_SHIFT])
        return short_token_id(u64_in(block, at.SHORT_TOKENS), shift, low, token_key(high, length))
    if settings[at.WHOLE_TOKENS] == 0 or length > settings[at.LONGEST]:
        return NONE
    return whole_token(block, settings, text, start, length, hash_bytes(text, start, length))


@Search
def encode_new(block, text, start, length, k, count, out, o):  # type: ignore[no-untyped-def]
    """Encode word `k` of a group of `count`, and keep it; return the new end of `out`.

    What has few letters is quickest merged. Scripts of many characters are cut: the parts come again, and most
    are known already.
    """
    settings, counters = i64_in(block, at.SETTINGS), i64_in(block, COUNTERS)
    keys = u64_in(block, WORD_KEYS)
    low, high = keys[2 * k], keys[2 * k + 1]
    if counters[FETCHED] == 0:  # one new word seldom comes alone
        counters[FETCHED] = 1
        _fetch(block, k + 1, count)
    whole = _whole(block, settings, text, start, length, low, high)
    if whole != NONE:
        out[o] = whole
        after = o + 1
    elif settings[at.CUT] == 1 and (length > _UNCUT or _many_characters(text, start, length)):
        after = encode_cut(block, text, start, start + length, out, o)
    else:
        after = encode_uncached(block, text, start, start + length, out, o)
    if length <= LONGEST_WORD:
        remember(u64_in(block, WORDS), low, high, text, start, out, o, after - o)
    return after
