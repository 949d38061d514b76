"""The word cache: ids of words met before, found by one probe of one table.

- *Short* words, of up to fifteen bytes: their bytes are two 64-bit words, the length in the top byte. A slot is
  those two and up to four ids: half a line of the processor's cache.
- *Wide* words, of 16 to 31 bytes (Russian and Hindi words, identifiers): four 64-bit words, up to eight ids; a
  slot is a line.

Longer words hardly ever come again, and are not kept. The ids of words that have more than a slot holds stand
in the arena. The tables are of open addressing: a word stands in the slot of its hash or the next free one, so
that the words met first, which are the frequent ones, are found at once. They begin small and grow with what
they are asked to hold (`workspace`); one that fills up before it could grow is emptied.

The top bits of a slot's last word, above the last id, count the ids.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.hashing import first_bytes, mix, spread_two
from tokbench.kernels.pointers import (
    copy_ids_8,
    i64_in,
    load_u64,
    pointer,
    store_u64,
    u32_in,
    u64_in,
)
from tokbench_subword.bpe import layout as at

SHORT_WORD, WIDE_WORD = 15, 31
"""The longest words of either kind, in bytes."""
SHORT_SLOT, WIDE_SLOT = 4, 8
"""Words of 64 bits in a slot."""
PART = 64
"""Flag beside the length: a part of a cut pre-token, which is never taken for a whole token."""
SPARE_IDS = 8
"""How many ids past the end of a word's may be written, and must be readable in the arena."""
_ZERO, _ONE, _HALF = np.uint64(0), np.uint64(1), np.uint64(32)
_TOP = np.uint64(56)
_ID_BITS = 21
_COUNT = np.uint64(32 + _ID_BITS)  # where the count begins
_LAST_IDS = (_ONE << _COUNT) - _ONE
_FEW, _SEVERAL = 4, 8  # ids that a slot holds


@inline
def short_home(low, high, shift):  # type: ignore[no-untyped-def]
    """The slot where a short word is looked for first, as its place in the table."""
    return np.int64(spread_two(low, high) >> shift) << 2


@inline
def _wide_home(a, b, c, d, shift):  # type: ignore[no-untyped-def]
    return np.int64(spread_two(mix(a, b), mix(c, d)) >> shift) << 3


@inline
def _slots(shift):  # type: ignore[no-untyped-def]
    """How many slots a table has."""
    return np.int64(_ONE << (np.uint64(64) - shift))


@inline
def short_key(text, start, length, flag):  # type: ignore[no-untyped-def]
    """The two words of a short word, without a branch on the length, which no predictor could guess."""
    low = first_bytes(load_u64(text, start), min(length, 8))
    high = load_u64(text, start + 8) & ((_ONE << np.uint64(8 * max(length - 8, 0))) - _ONE)
    return low, high | np.uint64(length | flag) << _TOP


@inline
def recall_short(slots, arena, shift, low, high, home, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a short word; return the new end of `out`, or -1. `SPARE_IDS` more may be written."""
    slot = home
    while (slots[slot] ^ low) | (slots[slot + 1] ^ high):
        if slots[slot + 1] == _ZERO:
            return -1
        slot = (slot + SHORT_SLOT) & ((_slots(shift) << 2) - 1)
    return _take(slots, slot + 2, arena, _FEW, out, o)


@inline
def _take(slots, place, arena, most, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids that stand at `place` or, where they are more than `most`, in the arena."""
    last = slots[place + (most >> 1) - 1]
    count = np.int64(last >> _COUNT)
    if count > most:
        first = np.int64(slots[place])
        for i in range(0, count, 8):
            copy_ids_8(arena, first + i, out, o + i)
        return o + count
    for i in range((most >> 1) - 1):
        store_u64(out, o + 2 * i, slots[place + i])
    store_u64(out, o + most - 2, last & _LAST_IDS)
    return o + count


@inline
def wide_key(text, start, length, flag):  # type: ignore[no-untyped-def]
    """The four words of a wide word."""
    third = first_bytes(load_u64(text, start + 16), min(length - 16, 8)) if length > 16 else _ZERO
    fourth = load_u64(text, start + 24) & ((_ONE << np.uint64(8 * max(length - 24, 0))) - _ONE)
    return load_u64(text, start), load_u64(text, start + 8), third, fourth | np.uint64(length | flag) << _TOP


@inline
def recall_wide(block, key, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a wide word; return the new end of `out`, or -1. `SPARE_IDS` more may be written."""
    slots, shift = u64_in(block, at.WIDE_WORDS), u64_in(block, at.CACHE_SHIFTS)[1]
    a, b, c, d = key
    slot = _wide_home(a, b, c, d, shift)
    while (slots[slot] ^ a) | (slots[slot + 1] ^ b) | (slots[slot + 2] ^ c) | (slots[slot + 3] ^ d):
        if slots[slot + 3] == _ZERO:
            return -1
        slot = (slot + WIDE_SLOT) & ((_slots(shift) << 3) - 1)
    return _take(slots, slot + 4, u32_in(block, at.ARENA), _SEVERAL, out, o)


@subroutine
def _forget(block):  # type: ignore[no-untyped-def]
    """Empty both tables and the arena."""
    counters, shifts = i64_in(block, at.COUNTERS), u64_in(block, at.CACHE_SHIFTS)
    short, wide = u64_in(block, at.SHORT_WORDS), u64_in(block, at.WIDE_WORDS)
    for i in range(SHORT_SLOT * _slots(shifts[0])):
        short[i] = _ZERO
    for i in range(WIDE_SLOT * _slots(shifts[1])):
        wide[i] = _ZERO
    counters[at.ARENA_USED] = counters[at.SHORT_HELD] = counters[at.WIDE_HELD] = 0


@inline
def _prepare(block, which, slots, ids, start, count, most):  # type: ignore[no-untyped-def]
    """Make sure of room for one more word of `count` ids; where these go to the arena, put them there.

    Returns where in the arena they begin, or -1. A table is full when three of four slots are taken.
    """
    counters, arena = i64_in(block, at.COUNTERS), u32_in(block, at.ARENA)
    counters[at.SHORT_ENTERED + which] += 1
    outside = count > most or (count == most and (np.uint32(ids[start + most - 1]) >> np.uint32(_ID_BITS)) != 0)
    full = 4 * counters[at.SHORT_HELD + which] >= 3 * slots
    if full or (outside and counters[at.ARENA_USED] + count > at.ARENA_SIZE):
        _forget(block)
    counters[at.SHORT_HELD + which] += 1
    if not outside:
        return np.int64(-1)
    used = counters[at.ARENA_USED]
    for i in range(count):
        arena[used + i] = ids[start + i]
    counters[at.ARENA_USED] = used + count
    return used


@inline
def _put(slots, place, first, ids, start, count, most):  # type: ignore[no-untyped-def]
    """Write the ids, or where they begin in the arena, and their count."""
    if first >= 0:
        slots[place] = np.uint64(first)
        for i in range(1, most >> 1):
            slots[place + i] = _ZERO
    else:
        for i in range(most >> 1):
            left = np.uint64(np.uint32(ids[start + 2 * i])) if 2 * i < count else _ZERO
            right = np.uint64(np.uint32(ids[start + 2 * i + 1])) if 2 * i + 1 < count else _ZERO
            slots[place + i] = left | (right << _HALF)
    slots[place + (most >> 1) - 1] |= np.uint64(count) << _COUNT


@subroutine
def remember_short(block, low, high, ids, start, count):  # type: ignore[no-untyped-def]
    """Enter a short word that is not there, and its ids, ``ids[start:start + count]``."""
    slots, shift = u64_in(block, at.SHORT_WORDS), u64_in(block, at.CACHE_SHIFTS)[0]
    first = _prepare(block, 0, _slots(shift), ids, start, count, _FEW)
    slot = short_home(low, high, shift)
    while slots[slot + 1] != _ZERO:
        slot = (slot + SHORT_SLOT) & ((_slots(shift) << 2) - 1)
    slots[slot], slots[slot + 1] = low, high
    _put(slots, slot + 2, first, ids, start, count, _FEW)


@subroutine
def remember_wide(block, key, ids, start, count):  # type: ignore[no-untyped-def]
    """Enter a wide word that is not there, and its ids, ``ids[start:start + count]``."""
    slots, shift = u64_in(block, at.WIDE_WORDS), u64_in(block, at.CACHE_SHIFTS)[1]
    first = _prepare(block, 1, _slots(shift), ids, start, count, _SEVERAL)
    a, b, c, d = key
    slot = _wide_home(a, b, c, d, shift)
    while slots[slot + 3] != _ZERO:
        slot = (slot + WIDE_SLOT) & ((_slots(shift) << 3) - 1)
    slots[slot], slots[slot + 1], slots[slot + 2], slots[slot + 3] = a, b, c, d
    _put(slots, slot + 4, first, ids, start, count, _SEVERAL)


@kernel
def move_words(old, new, step):  # type: ignore[no-untyped-def]
    """Enter the words of one table in another, empty, larger one; `step` is the size of a slot."""
    source, target = pointer(old), pointer(new)
    shift, n_slots = np.uint64(64), len(new) // step
    while _slots(shift) < n_slots:
        shift -= _ONE
    for slot in range(0, len(old), step):
        if source[slot + step // 2 - 1] == _ZERO:
            continue
        if step == WIDE_SLOT:
            place = _wide_home(source[slot], source[slot + 1], source[slot + 2], source[slot + 3], shift)
        else:
            place = short_home(source[slot], source[slot + 1], shift)
        while target[place + step // 2 - 1] != _ZERO:
            place = (place + step) & (len(new) - 1)
        for i in range(step):
            target[place + i] = source[slot + i]
