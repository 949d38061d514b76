"""The encoding kernels: text to ids, pre-token by pre-token, through a cache of words.

Where the time goes, and what is done about it:

- English and code are words of ASCII letters. `_plain_word` finds the end of one from sixteen bytes at a time,
  without a loop or a table; all else goes through the state machine of the pattern.
- Text repeats itself: of words up to fifteen bytes, more than 95 % are found in a cache. Their bytes are two
  64-bit words, the length in the top byte, so one probe is two loads and a compare; a bucket of two slots is
  one cache line; up to three ids stand in the slot itself and are copied without a branch.
- Words of 16 to 64 bytes (words in Devanagari, Thai phrases, identifiers), and parts of cut pre-tokens as long,
  have a cache of their own.
- A long pre-token (a Chinese sentence is one) is cut where no token reaches across two characters, and the
  parts are looked up like words. This is exact: no merge could have joined what is cut.
- What is in no cache is merged (`merging`).

Each kernel takes the block of arrays described in `layout`. Texts must be followed by sixteen readable bytes,
and `out` must have room for one id per byte and three more.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.layout import CACHED, CUTS, FEW_PARTS, LONG_CACHED, MEMO_BITS
from tokbench_subword.bpe.merging import SHORT, merge_long, merge_short
from tokbench_subword.bpe.pretokens import GPT2, O200K, WHOLE, next_pretoken
from tokbench_subword.bpe.tables import NONE, joins, pair_rank, token_id
from tokbench_subword.kernels.compiling import inline, kernel, subroutine
from tokbench_subword.kernels.hashing import equal_bytes, first_bytes, hash_bytes, mix, spread
from tokbench_subword.kernels.pointers import (
    ascii_letters_16,
    ascii_lowercase_16,
    i64_in,
    load_u64,
    pointer,
    u8_in,
    u32_in,
    u64_in,
)
from tokbench_subword.kernels.unicode_classes import NEWLINE, NUMBER
from tokbench_subword.kernels.utf8 import code_point

_ZERO, _ONE, _HALF = np.uint64(0), np.uint64(1), np.uint64(32)
_TOP = np.uint64(56)
_LOW = np.uint64(0xFFFFFFFF)
_PART = 64  # flag beside the length: a part of a cut pre-token, which is never a whole token
_LONG_PART = 128  # the same in the cache of longer words
_BLANK, _APOSTROPHE = 0x20, 0x27


# --- one pre-token, without caches --------------------------------------------------------------------


@inline
def _characters(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    """Write the first symbols of a pre-token at character level; return how many. See `BpeModel`."""
    ids, fallback = u32_in(block, at.CHARACTERS), u32_in(block, at.FALLBACK)
    points, unk = settings[at.POINTS], settings[at.UNK]
    count, pending = 0, False
    i = start
    while i < end:
        point, length = code_point(text, i)
        form = 0
        if settings[at.PREFIX] and i > start:
            form += 1
        if settings[at.SUFFIX] and i + length == end:
            form += 2
        found = NONE
        if point < points:
            found = ids[form * points + point]
        if found != NONE:
            if pending:
                symbols[count] = unk
                count += 1
                pending = False
            symbols[count] = found
            count += 1
        else:
            known = settings[at.BYTE_FALLBACK] != 0
            if known:
                for k in range(length):
                    known = known and fallback[text[i + k]] != NONE
            if known:
                for k in range(length):
                    symbols[count] = fallback[text[i + k]]
                    count += 1
            elif unk >= 0:
                if pending and not settings[at.FUSE_UNK]:
                    symbols[count] = unk
                    count += 1
                pending = True
        i += length
    if pending:
        symbols[count] = unk
        count += 1
    return count


@inline
def _bytes(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    """Write the first symbols of a pre-token at byte level, where some bytes may have no id."""
    ids = u32_in(block, at.BYTE_IDS)
    unk = settings[at.UNK]
    count, pending = 0, False
    for i in range(start, end):
        found = ids[text[i]]
        if found != NONE:
            if pending:
                symbols[count] = unk
                count += 1
                pending = False
            symbols[count] = found
            count += 1
        elif unk >= 0:
            if pending and not settings[at.FUSE_UNK]:
                symbols[count] = unk
                count += 1
            pending = True
    if pending:
        symbols[count] = unk
        count += 1
    return count


@inline
def _first_symbols(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    if settings[at.BYTE_LEVEL] == 1:
        ids = u32_in(block, at.BYTE_IDS)
        for i in range(start, end):
            symbols[i - start] = ids[text[i]]
        return end - start
    if settings[at.BYTE_LEVEL] == 2:
        return _bytes(block, settings, text, start, end, symbols)
    return _characters(block, settings, text, start, end, symbols)


@subroutine
def _merged(block, text, start, end, part, out, o):  # type: ignore[no-untyped-def]
    """Encode ``text[start:end]`` as one pre-token (or a `part` of one), without a cache; return the new end."""
    settings = i64_in(block, at.SETTINGS)
    length = end - start
    if settings[at.WHOLE_TOKENS] and not part and length <= settings[at.LONGEST]:
        tokens, blob = u64_in(block, at.TOKENS), u8_in(block, at.TOKEN_BYTES)
        starts = i64_in(block, at.TOKEN_STARTS)
        whole = token_id(tokens, settings[at.TOKEN_MASK], blob, starts, text, start, length)
        if whole != NONE:
            out[o] = whole
            return o + 1
    pairs, bloom = u64_in(block, at.PAIRS), u32_in(block, at.BLOOM)
    shift, results = np.uint64(settings[at.PAIR_SHIFT]), u32_in(block, at.RESULTS)
    if length > SHORT:
        array = np.empty(length + 1, np.uint32)
        symbols = pointer(array)
        count = _first_symbols(block, settings, text, start, end, symbols)
        count = merge_long(symbols, count, pairs, bloom, shift, results)
        for i in range(count):
            out[o + i] = array[i]
        return o + count
    symbols, ranks = u32_in(block, at.SYMBOLS), u32_in(block, at.RANKS)
    count = _first_symbols(block, settings, text, start, end, symbols)
    if settings[at.BYTE_LEVEL] == 1:
        byte_pairs = u32_in(block, at.BYTE_PAIRS)
        for i in range(count - 1):
            ranks[i] = byte_pairs[(np.int64(text[start + i]) << 8) | text[start + i + 1]]
    else:
        for i in range(count - 1):
            ranks[i] = pair_rank(pairs, bloom, shift, symbols[i], symbols[i + 1])
    count = merge_short(symbols, ranks, count, pairs, bloom, shift, results)
    for i in range(count):
        out[o + i] = symbols[i]
    return o + count


# --- words, through the cache -------------------------------------------------------------------------


@subroutine
def _remember(block, bucket, low, high, ids, start, count):  # type: ignore[no-untyped-def]
    """Enter a word and its ids in a bucket: what was first there becomes second, what was second goes."""
    slots, counters = u64_in(block, at.SLOTS), i64_in(block, at.COUNTERS)
    first, second = np.uint64(ids[start]), np.uint64(0)
    third = np.uint64(0)
    if count == 0:
        first = _ZERO
    if count > 1:
        second = np.uint64(ids[start + 1])
    if count > 2:
        third = np.uint64(ids[start + 2])
    if count > 3:
        settings, arena = i64_in(block, at.SETTINGS), u32_in(block, at.ARENA)
        if counters[at.ARENA_USED] + count > settings[at.ARENA_SIZE]:
            for i in range(8 * (settings[at.BUCKET_MASK] + 1)):
                slots[i] = _ZERO
            counters[at.ARENA_USED] = 0
        used = counters[at.ARENA_USED]
        for i in range(count):
            arena[used + i] = ids[start + i]
        counters[at.ARENA_USED] = used + count
        first, second, third = np.uint64(used), _ZERO, _ZERO
    for i in range(4):
        slots[bucket + 4 + i] = slots[bucket + i]
    slots[bucket] = low
    slots[bucket + 1] = high
    slots[bucket + 2] = first | (second << _HALF)
    slots[bucket + 3] = third | (np.uint64(count) << _HALF)


@inline
def _word(block, slots, arena, bucket_mask, text, start, length, flag, out, o):  # type: ignore[no-untyped-def]
    """Encode a word of 1 to `CACHED` bytes; return the new end of `out`; three more may be written."""
    # Without a branch on the length, which no predictor could guess.
    low = first_bytes(load_u64(text, start), min(length, 8))
    high = load_u64(text, start + 8) & ((_ONE << np.uint64(8 * max(length - 8, 0))) - _ONE)
    high |= np.uint64(length | flag) << _TOP
    bucket = (np.int64(mix(low, high)) & bucket_mask) << 3
    if slots[bucket] != low or slots[bucket + 1] != high:
        if slots[bucket + 4] == low and slots[bucket + 5] == high:
            bucket += 4
        else:
            end = _merged(block, text, start, start + length, flag != 0, out, o)
            _remember(block, bucket, low, high, out, o, end - o)
            return end
    ids, rest = slots[bucket + 2], slots[bucket + 3]
    count = np.int64(rest >> _HALF)
    if count > 3:
        first = np.int64(ids & _LOW)
        for i in range(count):
            out[o + i] = arena[first + i]
        return o + count
    out[o] = np.uint32(ids & _LOW)
    out[o + 1] = np.uint32(ids >> _HALF)
    out[o + 2] = np.uint32(rest & _LOW)
    return o + count


@inline
def _may_cut(block, settings, text, boundary, point, length, following, following_length):  # type: ignore[no-untyped-def]
    """Whether no token joins two neighbouring characters; answers are remembered by the pair of code points."""
    if point < 128 and following < 128:
        return u8_in(block, at.ASCII_JOINS)[(point << 7) | following] == 0
    memo = u64_in(block, at.JOIN_MEMO)
    key = (np.uint64(point) << np.uint64(21)) | np.uint64(following)
    i = np.int64(spread(key) >> np.uint64(64 - MEMO_BITS))
    if (memo[i] >> _ONE) == key:
        return (memo[i] & _ONE) == 0
    table, bloom, mask = u64_in(block, at.JOINS), u32_in(block, at.JOIN_BLOOM), settings[at.JOIN_MASK]
    joined = joins(table, bloom, mask, text, boundary, length, following_length)
    memo[i] = (key << _ONE) | np.uint64(1 if joined else 0)
    return not joined


@subroutine
def _remember_long(block, slot, hashed, text, start, length, flag, ids, first, count):  # type: ignore[no-untyped-def]
    """Enter a longer word, or part, in its slot; where its room is full, all is forgotten first."""
    settings, counters = i64_in(block, at.SETTINGS), i64_in(block, at.COUNTERS)
    slots, kept, arena = u64_in(block, at.LONG_SLOTS), u8_in(block, at.LONG_BYTES), u32_in(block, at.LONG_ARENA)
    if (
        counters[at.LONG_BYTES_USED] + length > settings[at.LONG_BYTES_SIZE]
        or counters[at.LONG_ARENA_USED] + count > settings[at.LONG_ARENA_SIZE]
    ):
        for i in range(4 * (settings[at.LONG_MASK] + 1)):
            slots[i] = _ZERO
        counters[at.LONG_BYTES_USED] = 0
        counters[at.LONG_ARENA_USED] = 0
    bytes_used, ids_used = counters[at.LONG_BYTES_USED], counters[at.LONG_ARENA_USED]
    for i in range(length):
        kept[bytes_used + i] = text[start + i]
    for i in range(count):
        arena[ids_used + i] = ids[first + i]
    slots[slot] = hashed
    slots[slot + 1] = (np.uint64(length | flag) << _HALF) | np.uint64(bytes_used)
    slots[slot + 2] = np.uint64(ids_used)
    slots[slot + 3] = np.uint64(count)
    counters[at.LONG_BYTES_USED] = bytes_used + length
    counters[at.LONG_ARENA_USED] = ids_used + count


@inline
def _recalled(block, slot, hashed, text, start, length, flag, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a longer word, if its slot holds it; return the new end of `out`, or -1."""
    slots = u64_in(block, at.LONG_SLOTS)
    if slots[slot] != hashed or np.int64(slots[slot + 1] >> _HALF) != length | flag:
        return -1
    begin = np.int64(slots[slot + 1] & _LOW)
    if not equal_bytes(u8_in(block, at.LONG_BYTES), begin, text, start, length):
        return -1
    arena = u32_in(block, at.LONG_ARENA)
    first, count = np.int64(slots[slot + 2]), np.int64(slots[slot + 3])
    for i in range(count):
        out[o + i] = arena[first + i]
    return o + count


@subroutine
def _long_part(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a part of more than `CACHED` bytes of a cut pre-token; as `_long_word`, but not cut again."""
    length = end - start
    if length > LONG_CACHED:
        return _merged(block, text, start, end, True, out, o)
    hashed = hash_bytes(text, start, length)
    slot = (np.int64(hashed) & i64_in(block, at.SETTINGS)[at.LONG_MASK]) << 2
    after = _recalled(block, slot, hashed, text, start, length, _LONG_PART, out, o)
    if after < 0:
        after = _merged(block, text, start, end, True, out, o)
        _remember_long(block, slot, hashed, text, start, length, _LONG_PART, out, o, after - o)
    return after


@subroutine
def _cut(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a long pre-token in parts, cut wherever no token joins two characters.

    Boundaries are found for `CUTS` characters at a time, before any part is looked up: their look-ups do not
    depend on each other, and so overlap. Returns the new end of `out`, and how many parts there were.
    """
    settings = i64_in(block, at.SETTINGS)
    slots, arena, cuts = u64_in(block, at.SLOTS), u32_in(block, at.ARENA), i64_in(block, at.CUT_PLACES)
    bucket_mask = settings[at.BUCKET_MASK]
    part, parts = start, 0
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
            cut = cuts[k]
            if cut - part <= CACHED:
                o = _word(block, slots, arena, bucket_mask, text, part, cut - part, _PART, out, o)
            else:
                o = _long_part(block, text, part, cut, out, o)
            part = cut
        parts += count
    if end - part <= CACHED:
        o = _word(block, slots, arena, bucket_mask, text, part, end - part, _PART, out, o)
    else:
        o = _long_part(block, text, part, end, out, o)
    return o, parts + 1


@subroutine
def _long_word(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a pre-token of more than `CACHED` bytes: from the cache of longer words, or cut, or merged."""
    settings = i64_in(block, at.SETTINGS)
    length = end - start
    cached = length <= LONG_CACHED
    slot, hashed = 0, _ZERO
    if cached:
        hashed = hash_bytes(text, start, length)
        slot = (np.int64(hashed) & settings[at.LONG_MASK]) << 2
        after = _recalled(block, slot, hashed, text, start, length, 0, out, o)
        if after >= 0:
            return after
    begin = o
    if settings[at.WHOLE_TOKENS] and length <= settings[at.LONGEST]:
        tokens, blob = u64_in(block, at.TOKENS), u8_in(block, at.TOKEN_BYTES)
        starts = i64_in(block, at.TOKEN_STARTS)
        whole = token_id(tokens, settings[at.TOKEN_MASK], blob, starts, text, start, length)
        if whole != NONE:
            out[o] = whole
            o += 1
    if o == begin:
        if settings[at.CUT]:
            o, parts = _cut(block, text, start, end, out, o)
            cached = cached and parts <= FEW_PARTS
        else:
            o = _merged(block, text, start, end, True, out, o)
    if cached:
        _remember_long(block, slot, hashed, text, start, length, 0, out, begin, o - begin)
    return o


# --- text ---------------------------------------------------------------------------------------------


@inline
def _is_letter(byte):  # type: ignore[no-untyped-def]
    return 97 <= (byte | 32) <= 122


@inline
def _plain_word(machine, text, i, end, classes):  # type: ignore[no-untyped-def]
    """The length of the pre-token at `i` where it is an ASCII word of at most `CACHED` bytes, else 0.

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
        if stop <= j or stop - i > CACHED:
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
    if stop - i > CACHED or not (letter or stop > i + 1):
        return 0
    if stop < end and text[stop] >= 0x80:
        return 0
    return stop - i


@inline
def _encode(block, settings, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode ``text[start:end]`` by the model's state machine; return the new end of `out`."""
    machine = settings[at.MACHINE]
    bucket_mask = settings[at.BUCKET_MASK]
    classes, slots, arena = u8_in(block, at.CLASSES), u64_in(block, at.SLOTS), u32_in(block, at.ARENA)
    i = start
    while i < end:
        length = _plain_word(machine, text, i, end, classes)
        if length == 0:
            stop = next_pretoken(machine, text, i, end, classes)
            length = stop - i
            if length > CACHED:
                o = _long_word(block, text, i, stop, out, o)
                i = stop
                continue
        o = _word(block, slots, arena, bucket_mask, text, i, length, 0, out, o)
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
    data, ids, settings = pointer(text), pointer(out), i64_in(block, at.SETTINGS)
    bucket_mask = settings[at.BUCKET_MASK]
    slots, arena = u64_in(block, at.SLOTS), u32_in(block, at.ARENA)
    o = 0
    for p in range(first, last):
        start, end = spans[p, 0], spans[p, 1]
        if end - start > CACHED:
            o = _long_word(block, data, start, end, ids, o)
        elif end > start:
            o = _word(block, slots, arena, bucket_mask, data, start, end - start, 0, ids, o)
        out_offsets[p + 1] = o
    return o
