"""The word cache as kernels see it: words (any bytes) to the ids they were given, looked up, entered, replaced.

A *slot* is four 64-bit numbers, half a line of the processor's cache:

| | a short word, up to 15 bytes | a long word, up to `LONGEST_WORD` bytes |
|---|---|---|
| 0 | its first eight bytes | a hash of its bytes |
| 1 | its other bytes; above them its length and flag | its length; above it `LONG` and the flag |
| 2, 3 | up to four ids and their number | where its record is, how many ids, `OUTSIDE` |

A *record* is the bytes of a long word and its ids, or the ids of a short word that has more than four. Records
are written to a ring of memory one after another, so that the oldest are overwritten, one by one. A record's
place is counted from the first one ever written, and so tells whether it is overwritten by now.

A word stands in the slot of its hash or one of the seven after it, with no empty slot between. So the words met
first, which are the frequent ones, are found at once. When half of all slots are taken, as many again are put
to use behind them, up to a bound. Where all eight are taken, a new word replaces one of them, in turn, and
leaves the others: of a text whose words are more than the slots some are still known when it comes again (if
the oldest were replaced first, none would be; so it is with records). A word is found by all of its bytes,
never by its hash alone.

`words` is the block of a `WordCache` throughout; texts need `pointers.PADDING` readable bytes after them.
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
    RING_SIZE,  # 64-bit numbers in the ring, a power of two; 0 where no word is to be kept
    WRITTEN,  # and written to it so far
    HELD,  # slots that are not empty
    ENTERED,  # words entered so far
    ENOUGH,  # if more slots than these are held, more should be put to use
    MOST,  # 64-bit numbers in all slots there may be
    N_STATE,
) = range(9)

SHORT_WORD, LONGEST_WORD = 15, 1 << 10
"""The longest words that stand in a slot, and that are kept at all, in bytes."""
SLOT = 4
"""64-bit numbers in a slot."""
NOTED = 3
"""Numbers that `note_key` notes of a word."""
WHOLE, PART, WITHIN = 128, 64, 64 | 16
"""Flags of a key: a word by itself, a part of a word, and a word within one, as `bpe.superwords` has it. None
is ever taken for another, and no key is that of an empty slot, not even the key of no bytes."""
SPARE_IDS = 8
"""How many ids past the end of a word's may be written."""
_WINDOW = 8  # slots where a word may stand
_LONG = 32
_FEW = 4  # ids in a slot
_TOP = np.uint64(56)  # where the length and flags stand
_COUNT = np.uint64(60)  # where the number of ids stands
_LAST_IDS = np.uint64((1 << 60) - 1)
_MOST_LAST = 1 << 28  # ids below this may stand beside the number
_LONG_BIT, _OUTSIDE = np.uint64(_LONG << 56), np.uint64(1 << 63)
_ZERO, _ONE, _TWO, _HALF, _LOW = (np.uint64(number) for number in (0, 1, 2, 32, 0xFFFFFFFF))
_OF_LENGTH = np.array(
    [((1 << 8 * min(n, 8)) - 1, (1 << 8 * max(n - 8, 0)) - 1, n << 56, 0) for n in range(SHORT_WORD + 1)],
    np.uint64,
).reshape(-1)
"""For each length of a short word which bits of 16 bytes are its own, in two numbers, and the length as a key
has it. To shift for these, finding keys takes 1.4 times as long (English, code, 21 languages)."""


@inline
def short_key(text: Bytes, start: Int, length: Int, flag: Int) -> tuple[Word, Word]:
    """The key of a short word, without a branch on the length, which no predictor could guess."""
    row = np.uint64(length << 2)
    low, high = load_u64(text, start) & _OF_LENGTH[row], load_u64(text, start + 8) & _OF_LENGTH[row | _ONE]
    return low, high | _OF_LENGTH[row | _TWO] | np.uint64(flag) << _TOP


@inline
def word_key(text: Bytes, start: Int, length: Int, flag: Int) -> tuple[Word, Word]:
    """The key of a word, two 64-bit numbers; that of one of more than `LONGEST_WORD` bytes is never found."""
    if length <= SHORT_WORD:
        return short_key(text, start, length, flag)
    hashed = hash_bytes(text, start, min(length, LONGEST_WORD))
    return hashed, np.uint64(length) | np.uint64(_LONG | flag) << _TOP


@inline
def _home(low: Word, high: Word, shift: Int) -> np.int64:
    """Where in the slots a word is looked for first."""
    return np.int64(spread_two(low, high) >> np.uint64(shift)) * SLOT


@inline
def note_key(
    slots: Words, shift: Int, keys: Words, k: Int, text: Bytes, start: Int, length: Int, flag: Int
) -> None:
    """Note the key of a word as number `k` of `keys`, and where it is looked for first; its slot is asked for.

    `recall` could tell that place from the key; but after each wrong guess the processor would wait for it, and
    passes over code would take 1.03 to 1.08 times as long (cl100k, r50k).
    """
    low, high = word_key(text, start, length, flag)
    home = _home(low, high, shift)
    keys[NOTED * k], keys[NOTED * k + 1], keys[NOTED * k + 2] = low, high, np.uint64(home)
    prefetch_to_read(slots, home)


@subroutine
def _recall_outside(words: Block, slot: Int, text: Bytes, start: Int, out: Ids, o: Int) -> np.int64:
    """`recall` of a word with a record."""
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
    """Copy the ids of the word whose key is number `k` of those noted; return the new end of `out`, or -1 for a
    word that is not held. `SPARE_IDS` ids past that end may be written.

    `slots` and `state` are those of `words`. A word whose key was noted before they grew is seldom found.
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
    """Write the record of a word; return where it begins, counted from the first."""
    state, ring, ring_ids = i64_in(words, STATE), u64_in(words, RING), u32_in(words, RING_IDS)
    length = np.int64(high & _LOW) if high & _LONG_BIT else np.int64(0)
    n_words = (length + 7) >> 3
    size, needed = state[RING_SIZE], n_words + ((count + 1) >> 1)
    place = state[WRITTEN] & (size - 1)
    if place + needed > size:  # a record lies in one piece
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
    """Ids `i` and ``i + 1`` of a word as one 64-bit number, zero for what it does not have."""
    left = np.uint64(np.uint32(ids[begin + i])) if i < count else _ZERO
    right = np.uint64(np.uint32(ids[begin + i + 1])) if i + 1 < count else _ZERO
    return left | right << _HALF


@subroutine
def remember(
    words: Block, keys: Words, k: Int, text: Bytes, start: Int, ids: Ids, begin: Int, count: Int
) -> None:
    """Enter a word that could not be recalled, by number `k` of the `keys`, with ``ids[begin:begin + count]``.

    One of more than `LONGEST_WORD` ids, for which a record has no room, is left out. A word has 1 to
    `LONGEST_WORD` bytes: the caller sees to that.
    """
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    if count > LONGEST_WORD or state[RING_SIZE] == 0:
        return
    mask, low, high = state[MASK], keys[NOTED * k], keys[NOTED * k + 1]
    slot = home = _home(low, high, state[SHIFT])
    left = _WINDOW
    # a key that is there already is that of a record overwritten, or, of equal hashes, of another word
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
    """Put twice as many slots to use, in place.

    A word whose hash gave slot h has slot 2 h or 2 h + 1 now. Words are moved from the last to the first, so
    that none comes to a slot whose word is still to be moved; of the first few that is not true, and they are
    forgotten. Each takes the very slot of its hash and shifts on what has come there before it: words that were
    met first are still found at once.
    """
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    size, kept = state[MASK] + 1, 2 * _WINDOW * SLOT
    mask, shift, held = 2 * size - 1, state[SHIFT] - 1, np.int64(0)
    for new in range(size, 2 * size):  # also where they are zeros already: a page that is read first and
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
    """Call `grow` if it is time to; a word's place is then another."""
    state = i64_in(words, STATE)
    if state[HELD] > state[ENOUGH]:
        grow(words)
