"""The word cache: ids of words met before, found by one probe of one table.

- *Short* words, of up to fifteen bytes: their bytes are two 64-bit words, the length in the top byte. A slot is
  those two and up to three ids; a bucket of two slots is one line of the processor's cache.
- *Wide* words, of 16 to 31 bytes (Russian and Hindi words, identifiers): four 64-bit words, up to seven ids; a
  bucket is two lines.

Longer words hardly ever come again, and are not kept. The ids of words that have more than a slot holds stand
in the arena. In a bucket, what was first becomes second when a word is entered, and what was second goes. The
tables begin small and grow with what they are asked to hold (`workspace`), so that a small text never pays for
a large table, and a table is no larger than its words need: it should fit the second-level cache.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe import layout as at
from tokbench_subword.kernels.compiling import inline, kernel, subroutine
from tokbench_subword.kernels.hashing import first_bytes, mix
from tokbench_subword.kernels.pointers import i64_in, load_u64, pointer, u32_in, u64_in

SHORT_WORD, WIDE_WORD = 15, 31
"""The longest words of either kind, in bytes."""
SHORT_BUCKET, WIDE_BUCKET = 8, 16
"""Words of 64 bits in a bucket."""
PART = 64
"""Flag beside the length: a part of a cut pre-token, which is never taken for a whole token."""
_ZERO, _ONE, _HALF = np.uint64(0), np.uint64(1), np.uint64(32)
_TOP = np.uint64(56)
_LOW = np.uint64(0xFFFFFFFF)
_FEW, _SEVERAL = 3, 7  # ids that a slot holds


@inline
def _short_bucket(low, high, mask):  # type: ignore[no-untyped-def]
    return (np.int64(mix(low, high)) & mask) << 3


@inline
def _wide_bucket(a, b, c, d, mask):  # type: ignore[no-untyped-def]
    return (np.int64(mix(mix(a, b), mix(c, d))) & mask) << 4


@inline
def short_key(text, start, length, flag):  # type: ignore[no-untyped-def]
    """The two words of a short word, without a branch on the length, which no predictor could guess."""
    low = first_bytes(load_u64(text, start), min(length, 8))
    high = load_u64(text, start + 8) & ((_ONE << np.uint64(8 * max(length - 8, 0))) - _ONE)
    return low, high | np.uint64(length | flag) << _TOP


@inline
def recall_short(slots, arena, mask, low, high, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a short word; return the new end of `out`, or -1. Three more ids may be written."""
    slot = _short_bucket(low, high, mask)
    if slots[slot] != low or slots[slot + 1] != high:
        slot += 4
        if slots[slot] != low or slots[slot + 1] != high:
            slot ^= SHORT_BUCKET  # what was displaced is in the second slot of the neighbour
            if slots[slot] != low or slots[slot + 1] != high:
                return -1
    ids, rest = slots[slot + 2], slots[slot + 3]
    count = np.int64(rest >> _HALF)
    if count > _FEW:
        first = np.int64(ids & _LOW)
        for i in range(count):
            out[o + i] = arena[first + i]
        return o + count
    out[o] = np.uint32(ids & _LOW)
    out[o + 1] = np.uint32(ids >> _HALF)
    out[o + 2] = np.uint32(rest & _LOW)
    return o + count


@inline
def _to_arena(block, ids, start, count):  # type: ignore[no-untyped-def]
    """Put ids in the arena; return where they begin. Where there is no room, all words are forgotten first."""
    counters = i64_in(block, at.COUNTERS)
    arena, masks = u32_in(block, at.ARENA), i64_in(block, at.CACHE_MASKS)
    if counters[at.ARENA_USED] + count > at.ARENA_SIZE:
        short, wide = u64_in(block, at.SHORT_WORDS), u64_in(block, at.WIDE_WORDS)
        for i in range(SHORT_BUCKET * (masks[0] + 1)):
            short[i] = _ZERO
        for i in range(WIDE_BUCKET * (masks[1] + 1)):
            wide[i] = _ZERO
        counters[at.ARENA_USED] = 0
        counters[at.SHORT_ENTERED] = 0
        counters[at.WIDE_ENTERED] = 0
    used = counters[at.ARENA_USED]
    for i in range(count):
        arena[used + i] = ids[start + i]
    counters[at.ARENA_USED] = used + count
    return used


@subroutine
def remember_short(block, low, high, ids, start, count):  # type: ignore[no-untyped-def]
    """Enter a short word and its ids, ``ids[start:start + count]``."""
    first, second, third = _ZERO, _ZERO, _ZERO
    if count > _FEW:
        first = np.uint64(_to_arena(block, ids, start, count))
    else:
        if count > 0:
            first = np.uint64(np.uint32(ids[start]))
        if count > 1:
            second = np.uint64(np.uint32(ids[start + 1]))
        if count > 2:
            third = np.uint64(np.uint32(ids[start + 2]))
    slots, counters = u64_in(block, at.SHORT_WORDS), i64_in(block, at.COUNTERS)
    slot = _short_bucket(low, high, i64_in(block, at.CACHE_MASKS)[0])
    displaced = (slot + 4) ^ SHORT_BUCKET
    if slots[slot + 5] != _ZERO and slots[displaced + 1] == _ZERO:
        for i in range(4):
            slots[displaced + i] = slots[slot + 4 + i]
    for i in range(4):
        slots[slot + 4 + i] = slots[slot + i]
    slots[slot] = low
    slots[slot + 1] = high
    slots[slot + 2] = first | (second << _HALF)
    slots[slot + 3] = third | (np.uint64(count) << _HALF)
    counters[at.SHORT_ENTERED] += 1


@inline
def wide_key(text, start, length, flag):  # type: ignore[no-untyped-def]
    """The four words of a wide word."""
    third = first_bytes(load_u64(text, start + 16), min(length - 16, 8)) if length > 16 else _ZERO
    fourth = load_u64(text, start + 24) & ((_ONE << np.uint64(8 * max(length - 24, 0))) - _ONE)
    return load_u64(text, start), load_u64(text, start + 8), third, fourth | np.uint64(length | flag) << _TOP


@inline
def recall_wide(block, key, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a wide word; return the new end of `out`, or -1. Seven ids may be written."""
    slots = u64_in(block, at.WIDE_WORDS)
    a, b, c, d = key
    slot = _wide_bucket(a, b, c, d, i64_in(block, at.CACHE_MASKS)[1])
    if slots[slot] != a or slots[slot + 1] != b or slots[slot + 2] != c or slots[slot + 3] != d:
        slot += 8
        if slots[slot] != a or slots[slot + 1] != b or slots[slot + 2] != c or slots[slot + 3] != d:
            return -1
    count = np.int64(slots[slot + 7] >> _HALF)
    if count > _SEVERAL:
        arena, first = u32_in(block, at.ARENA), np.int64(slots[slot + 4])
        for i in range(count):
            out[o + i] = arena[first + i]
        return o + count
    for i in range(3):
        ids = slots[slot + 4 + i]
        out[o + 2 * i] = np.uint32(ids & _LOW)
        out[o + 2 * i + 1] = np.uint32(ids >> _HALF)
    out[o + 6] = np.uint32(slots[slot + 7] & _LOW)
    return o + count


@subroutine
def remember_wide(block, key, ids, start, count):  # type: ignore[no-untyped-def]
    """Enter a wide word and its ids, ``ids[start:start + count]``."""
    slots, counters = u64_in(block, at.WIDE_WORDS), i64_in(block, at.COUNTERS)
    a, b, c, d = key
    first = _to_arena(block, ids, start, count) if count > _SEVERAL else np.int64(-1)
    slot = _wide_bucket(a, b, c, d, i64_in(block, at.CACHE_MASKS)[1])
    for i in range(8):
        slots[slot + 8 + i] = slots[slot + i]
        slots[slot + i] = _ZERO
    slots[slot], slots[slot + 1], slots[slot + 2], slots[slot + 3] = a, b, c, d
    if first >= 0:
        slots[slot + 4] = np.uint64(first)
    else:
        for i in range(count):
            slots[slot + 4 + (i >> 1)] |= np.uint64(np.uint32(ids[start + i])) << np.uint64(32 * (i & 1))
    slots[slot + 7] |= np.uint64(count) << _HALF
    counters[at.WIDE_ENTERED] += 1


@kernel
def move_words(old, new, wide):  # type: ignore[no-untyped-def]
    """Enter the words of one table in another, empty one; return how many. Those without room are lost."""
    count = 0
    source, target = pointer(old), pointer(new)
    step = WIDE_BUCKET // 2 if wide else SHORT_BUCKET // 2
    mask = len(new) // (2 * step) - 1
    for slot in range(0, len(old), step):
        key = slot + step // 2
        if source[key - 1] == _ZERO:
            continue
        if wide:
            place = _wide_bucket(source[slot], source[slot + 1], source[slot + 2], source[slot + 3], mask)
        else:
            place = _short_bucket(source[slot], source[slot + 1], mask)
        if target[place + step // 2 - 1] != _ZERO:
            place += step
        for i in range(step):
            target[place + i] = source[slot + i]
        count += 1
    return count
