"""The word cache as kernels see it: it maps words (any bytes) to their ids.

A *slot* is four 64-bit numbers, half a line of the processor's cache:

| | a short word, up to 15 bytes | a long word, up to `LONGEST_WORD` bytes |
|---|---|---|
| 0 | its first eight bytes | a hash of its bytes |
| 1 | its other bytes; above them its length and flag | its length; above it `LONG` and the flag |
| 2, 3 | up to four ids and their number | where its record is, how many ids, `OUTSIDE` |

A *record* contains the bytes and ids of a long word, or the ids of a short word that has more than four.
Records are written to a ring of memory one after another, each overwriting the oldest. A record's place is
counted from the first one ever written, so the place shows whether the record has been overwritten.

A word is in the slot of its hash or in one of the seven after it, with no empty slot between. So the words met
first, which are mostly the frequent ones, are found at once. When half of the slots are taken, their number is
doubled, up to a bound. When all eight slots of a word are taken, it replaces one of them, chosen in turn. So if
a text has more words than there are slots, some of its words are still cached when it comes again; if the
oldest were replaced first, as with records, none would be. A word is always compared by all of its bytes, never
by its hash alone.

In this module `words` is the block of a `WordCache`; `pointers.PADDING` readable bytes must follow each text.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import equal_bytes, hash_bytes, spread_two
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Ids,
    Int,
    Ints,
    Word,
    Words,
    copy_ids_8,
    i64_in,
    load_u64,
    prefetch_to_read,
    store_u64,
    u8_in,
    u32_in,
    u64_in,
)

(
    SLOTS,  # uint64
    STATE,  # int64
    RING,  # uint64: the records; the next two are the same memory
    RING_IDS,  # uint32
    RING_BYTES,  # uint8
) = range(5)
(
    MASK,  # 64-bit numbers in the slots in use, less one
    SHIFT,  # how far a hash is shifted to give a slot
    RING_SIZE,  # 64-bit numbers in the ring, a power of two; 0 if the cache is turned off
    WRITTEN,  # 64-bit numbers written to the ring so far
    HELD,  # slots that are not empty
    ENTERED,  # words entered so far
    ENOUGH,  # if more slots than these are held, their number should be doubled
    MOST,  # the most 64-bit numbers that all slots may take
    N_STATE,
) = range(9)

SHORT_WORD, LONGEST_WORD = 15, 1 << 10
"""The longest word that fits into a slot, and the longest that is cached at all, in bytes."""
SLOT = 4
"""64-bit numbers in a slot."""
NOTED = 3
"""How many numbers `note_key` writes for a word."""
WHOLE, PART, WITHIN = 128, 64, 64 | 16
"""Flags of a key: a whole word, a part of a word, and a word within a longer one (`bpe.superwords`). Keys of
different kinds are never equal, and no key, not even that of an empty word, equals an empty slot."""
SPARE_IDS = 8
"""How many ids may be written past the end of a word's ids."""
_WINDOW = 8  # slots in which a word may be
_LONG = 32
_FEW = 4  # ids in a slot
_TOP = np.uint64(56)  # the bit where the length and flags begin
_COUNT = np.uint64(60)  # the bit where the number of ids begins
_LAST_IDS = np.uint64((1 << 60) - 1)
_MOST_LAST = 1 << 28  # only ids below this fit beside their number
_LONG_BIT, _OUTSIDE = np.uint64(_LONG << 56), np.uint64(1 << 63)
_ZERO, _ONE, _TWO, _HALF, _LOW = (np.uint64(number) for number in (0, 1, 2, 32, 0xFFFFFFFF))
_OF_LENGTH = np.array(
    [((1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1, n << 56, 0) for n in range(SHORT_WORD + 1)],
    np.uint64,
).reshape(-1)
"""For each length of a short word: two masks for its bytes among 16, and the length in its place in the key.
With shifts instead of this table, finding keys takes 1.4 times as long (English, code, 21 languages)."""


@inline
def short_key(text: Bytes, start: Int, length: Int, flag: Int) -> tuple[Word, Word]:
    """The key of a short word, without a branch on its length, which is unpredictable."""
    row = np.uint64(length << 2)
    low, high = load_u64(text, start) & _OF_LENGTH[row], load_u64(text, start + 8) & _OF_LENGTH[row | _ONE]
    return low, high | _OF_LENGTH[row | _TWO] | np.uint64(flag) << _TOP


@inline
def word_key(text: Bytes, start: Int, length: Int, flag: Int) -> tuple[Word, Word]:
    """The key of a word, two 64-bit numbers; a word of more than `LONGEST_WORD` bytes is never found by it."""
    if length <= SHORT_WORD:
        return short_key(text, start, length, flag)
    hashed = hash_bytes(text, start, min(length, LONGEST_WORD))
    return hashed, np.uint64(length) | np.uint64(_LONG | flag) << _TOP


@inline
def _home(low: Word, high: Word, shift: Int) -> np.int64:
    """The place of the first slot in which a word is looked for."""
    return np.int64(spread_two(low, high) >> np.uint64(shift)) * SLOT


@inline
def note_key(
    slots: Words, shift: Int, keys: Words, k: Int, text: Bytes, start: Int, length: Int, flag: Int
) -> None:
    """Write the key of a word as number `k` of `keys`, with the place of its first slot, and prefetch that
    slot.

    `recall` could compute the place from the key. But the processor would then wait for it after each branch
    misprediction, and passes over code would take 1.03 to 1.08 times as long (cl100k, r50k).
    """
    low, high = word_key(text, start, length, flag)
    home = _home(low, high, shift)
    keys[NOTED * k], keys[NOTED * k + 1], keys[NOTED * k + 2] = low, high, np.uint64(home)
    prefetch_to_read(slots, home)


@subroutine
def _recall_outside(words: Block, slot: Int, text: Bytes, start: Int, out: Ids, o: Int) -> np.int64:
    """`recall` for a word that has a record."""
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    high, begin, size = slots[slot + 1], np.int64(slots[slot + 2]), state[RING_SIZE]
    if state[WRITTEN] - begin > size:  # overwritten
        return np.int64(-1)
    place = begin & (size - 1)
    if high & _LONG_BIT:
        length = np.int64(high & _LOW)
        if not equal_bytes(u8_in(words, RING_BYTES), 8 * place, text, start, length):
            return np.int64(-1)
        place += (length + 7) >> 3
    count, ids = np.int64(slots[slot + 3] & _LOW), u32_in(words, RING_IDS)
    for i in range(0, count, 8):
        copy_ids_8(ids, 2 * place + i, out, o + i)
    return o + count


@inline
def recall(
    words: Block, slots: Words, state: Ints, keys: Words, k: Int, text: Bytes, start: Int, out: Ids, o: Int
) -> np.int64:
    """Copy the ids of the word with key number `k` to `out`; returns their end, or -1 if it is not cached.

    Up to `SPARE_IDS` ids past that end may be written. `slots` and `state` belong to `words`. If the slots have
    grown since the key was noted, the word is seldom found.
    """
    low, high, slot = keys[NOTED * k], keys[NOTED * k + 1], np.int64(keys[NOTED * k + 2])
    left = _WINDOW
    while (slots[slot] ^ low) | (slots[slot + 1] ^ high):
        left -= 1
        if slots[slot + 1] == _ZERO or left == 0:
            return np.int64(-1)
        slot = (slot + SLOT) & state[MASK]
    last = slots[slot + 3]
    if last & _OUTSIDE:
        return _recall_outside(words, slot, text, start, out, o)
    store_u64(out, o, slots[slot + 2])
    store_u64(out, o + 2, last & _LAST_IDS)
    return o + np.int64(last >> _COUNT)


@inline
def _write_record(
    words: Block, high: Word, text: Bytes, start: Int, ids: Ids, begin: Int, count: Int
) -> np.int64:
    """Write the record of a word; returns its place, counted from the first record ever written."""
    state, ring, ring_ids = i64_in(words, STATE), u64_in(words, RING), u32_in(words, RING_IDS)
    length = np.int64(high & _LOW) if high & _LONG_BIT else np.int64(0)
    n_words = (length + 7) >> 3
    size, needed = state[RING_SIZE], n_words + ((count + 1) >> 1)
    place = state[WRITTEN] & (size - 1)
    if place + needed > size:  # a record must not wrap around
        state[WRITTEN] += size - place
        place = np.int64(0)
    for i in range(n_words):
        ring[place + i] = load_u64(text, start + 8 * i)
    for i in range(count):
        ring_ids[2 * (place + n_words) + i] = ids[begin + i]
    first = state[WRITTEN]
    state[WRITTEN] = first + needed
    return first


@inline
def _pair(ids: Ids, begin: Int, i: Int, count: Int) -> np.uint64:
    """Ids `i` and ``i + 1`` of a word as one 64-bit number; 0 for an id that the word does not have."""
    left = np.uint64(np.uint32(ids[begin + i])) if i < count else _ZERO
    right = np.uint64(np.uint32(ids[begin + i + 1])) if i + 1 < count else _ZERO
    return left | right << _HALF


@subroutine
def remember(
    words: Block, keys: Words, k: Int, text: Bytes, start: Int, ids: Ids, begin: Int, count: Int
) -> None:
    """Enter a word that is not cached: its key is number `k` of `keys`, its ids ``ids[begin:begin + count]``.

    A word with more than `LONGEST_WORD` ids does not fit into a record and is not entered. The caller makes
    sure that the word has 1 to `LONGEST_WORD` bytes.
    """
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    if count > LONGEST_WORD or state[RING_SIZE] == 0:
        return
    mask, low, high = state[MASK], keys[NOTED * k], keys[NOTED * k + 1]
    slot = home = _home(low, high, state[SHIFT])
    left = _WINDOW
    # if the key is there already, its record was overwritten, or another word has the same hash
    while slots[slot + 1] != _ZERO and (slots[slot] ^ low) | (slots[slot + 1] ^ high):
        slot = (slot + SLOT) & mask
        left -= 1
        if left == 0:
            slot = (home + SLOT * (state[ENTERED] % _WINDOW)) & mask
            break
    state[HELD] += slots[slot + 1] == _ZERO
    state[ENTERED] += 1
    few = count < _FEW or (count == _FEW and np.uint32(ids[begin + _FEW - 1]) < _MOST_LAST)
    if few and not high & _LONG_BIT:
        slots[slot + 2] = _pair(ids, begin, 0, count)
        slots[slot + 3] = _pair(ids, begin, 2, count) | np.uint64(count) << _COUNT
    else:
        slots[slot + 2] = np.uint64(_write_record(words, high, text, start, ids, begin, count))
        slots[slot + 3] = np.uint64(count) | _OUTSIDE
    slots[slot], slots[slot + 1] = low, high


@subroutine
def grow(words: Block) -> None:
    """Double the number of slots, in place.

    A word whose hash gave slot h now belongs to slot 2 h or 2 h + 1. Words are moved from the last to the
    first, so that none lands in a slot whose word has not moved yet; the first few slots are an exception, and
    their words are dropped. Each word takes the very slot of its hash and pushes on the words that came there
    before, so the words that were met first are still found at once.
    """
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    size, kept = state[MASK] + 1, 2 * _WINDOW * SLOT
    mask, shift, held = 2 * size - 1, state[SHIFT] - 1, np.int64(0)
    for new in range(size, 2 * size):  # also if they are 0 already: a page that is read first and
        slots[new] = _ZERO  # written later costs two page faults
    for slot in range(0, kept, SLOT):
        slots[slot + 1] = _ZERO
    for slot in range(size - SLOT, kept - SLOT, -SLOT):
        low, high, third, fourth = slots[slot], slots[slot + 1], slots[slot + 2], slots[slot + 3]
        slots[slot + 1] = _ZERO
        held += high != _ZERO
        place, left = _home(low, high, shift), _WINDOW
        while high != _ZERO and left > 0:
            low, slots[place] = slots[place], low
            high, slots[place + 1] = slots[place + 1], high
            third, slots[place + 2] = slots[place + 2], third
            fourth, slots[place + 3] = slots[place + 3], fourth
            place, left = (place + SLOT) & mask, left - 1
        held -= high != _ZERO
    state[MASK], state[SHIFT], state[HELD] = mask, shift, held
    state[ENOUGH] = (mask + 1) // SLOT >> (1 if 2 * (mask + 1) <= state[MOST] else 0)


@inline
def grow_if_full(words: Block) -> None:
    """Call `grow` if enough slots are held; it changes the places of words."""
    state = i64_in(words, STATE)
    if state[HELD] > state[ENOUGH]:
        grow(words)
