"""The encoding kernels: text to ids, pre-token by pre-token, through a cache of words.

Where the time goes, and what is done about it:

- English and code are words of ASCII letters. `_plain_word` finds the end of one from sixteen bytes at a time,
  without a loop or a table; all else goes through the state machine of the pattern.
- Text repeats itself: of words up to fifteen bytes, more than 95 % are found in the cache (`word_cache`).
- A long pre-token is cut where no token reaches across two characters (`cutting`), and its parts are looked up
  like words.
- What is in no cache is merged, or walked by `backtracking` where it is long (`uncached`).

Each kernel takes the block of arrays described in `layout`. Texts must be followed by sixteen readable bytes,
and `out` must have room for one id per byte and three more.
"""

from __future__ import annotations

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.cutting import encode_cut
from tokbench_subword.bpe.pretokens import GPT2, O200K, WHOLE, next_pretoken
from tokbench_subword.bpe.tables import NONE
from tokbench_subword.bpe.uncached import encode_uncached, whole_token
from tokbench_subword.bpe.word_cache import SHORT_WORD, WIDE_WORD
from tokbench_subword.bpe.words import short_word, wide_word
from tokbench_subword.kernels.compiling import inline, kernel, subroutine
from tokbench_subword.kernels.pointers import (
    ascii_letters_16,
    ascii_lowercase_16,
    i64_in,
    pointer,
    u8_in,
    u32_in,
    u64_in,
)
from tokbench_subword.kernels.unicode_classes import NEWLINE, NUMBER

_BLANK, _APOSTROPHE = 0x20, 0x27


@inline
def _is_letter(byte):  # type: ignore[no-untyped-def]
    return 97 <= (byte | 32) <= 122


@inline
def _plain_word(machine, text, i, end, classes):  # type: ignore[no-untyped-def]
    """The length of the pre-token at `i` where it is an ASCII word of at most `SHORT_WORD` bytes, else 0.

    0 says only that the state machine has to look; any other answer is what the state machine would say.
    """
    first = text[i]
    letter = _is_letter(first)
    if machine == O200K:
        j = i
        if not letter:
            if first >= 0x80 or classes[first] & (NUMBER | NEWLINE):
                return 0
            j += 1
        if j >= end or not _is_letter(text[j]):
            return 0
        if text[j] < 97:  # a capital, then lower case
            j += 1
        count = ascii_lowercase_16(text, j)
        stop = min(j + count, end)
        if stop <= j or stop - i > SHORT_WORD:
            return 0
        if stop < end and (text[stop] >= 0x80 or text[stop] == _APOSTROPHE):
            return 0
        return stop - i
    if machine == WHOLE:
        return 0
    if not letter:
        if machine == GPT2:
            if first != _BLANK:
                return 0
        elif first >= 0x80 or first == _APOSTROPHE or classes[first] & (NUMBER | NEWLINE):
            return 0
    count = ascii_letters_16(text, i + 1)
    stop = min(i + 1 + count, end)
    if stop - i > SHORT_WORD or not (letter or stop > i + 1):
        return 0
    if stop < end and text[stop] >= 0x80:
        return 0
    return stop - i


@subroutine
def _long_word(block, text, start, length, out, o):  # type: ignore[no-untyped-def]
    """Encode a pre-token of more than `SHORT_WORD` bytes; return the new end of `out`."""
    if length <= WIDE_WORD:
        return wide_word(block, text, start, length, 0, out, o)
    settings = i64_in(block, at.SETTINGS)
    if settings[at.CUT] == 0:
        return encode_uncached(block, text, start, start + length, False, out, o)
    whole = whole_token(block, settings, text, start, length)
    if whole != NONE:
        out[o] = whole
        return o + 1
    return encode_cut(block, text, start, start + length, out, o)


@inline
def _encode(block, settings, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode ``text[start:end]`` by the model's state machine; return the new end of `out`."""
    machine = settings[at.MACHINE]
    mask = i64_in(block, at.CACHE_MASKS)[0]
    classes, slots, arena = u8_in(block, at.CLASSES), u64_in(block, at.SHORT_WORDS), u32_in(block, at.ARENA)
    i = start
    while i < end:
        length = _plain_word(machine, text, i, end, classes)
        if length == 0:
            length = next_pretoken(machine, text, i, end, classes) - i
            if length > SHORT_WORD:
                o = _long_word(block, text, i, length, out, o)
                i += length
                continue
        o = short_word(block, slots, arena, mask, text, i, length, 0, out, o)
        i += length
    return o


@kernel
def encode_documents(block, text, offsets, first, last, out, out_offsets):  # type: ignore[no-untyped-def]
    """Encode documents `first` to `last` of a text cut by `offsets`; ids of all into `out`, end to end.

    ``out_offsets[d + 1]`` receives the end of document d. Returns how many ids were written.
    """
    data, ids, settings = pointer(text), pointer(out), i64_in(block, at.SETTINGS)
    o = 0
    for document in range(first, last):
        o = _encode(block, settings, data, offsets[document], offsets[document + 1], ids, o)
        out_offsets[document + 1] = o
    return o


@kernel
def encode_spans(block, text, spans, first, last, out, out_offsets):  # type: ignore[no-untyped-def]
    """Encode given pre-tokens, int64 ``(n, 2)`` of start and end: for patterns that have no state machine.

    ``out_offsets[p + 1]`` receives the end of pre-token p. Returns how many ids were written.
    """
    data, ids = pointer(text), pointer(out)
    mask = i64_in(block, at.CACHE_MASKS)[0]
    slots, arena = u64_in(block, at.SHORT_WORDS), u32_in(block, at.ARENA)
    o = 0
    for p in range(first, last):
        start, length = spans[p, 0], spans[p, 1] - spans[p, 0]
        if length > SHORT_WORD:
            o = _long_word(block, data, start, length, ids, o)
        elif length > 0:
            o = short_word(block, slots, arena, mask, data, start, length, 0, ids, o)
        out_offsets[p + 1] = o
    return o
