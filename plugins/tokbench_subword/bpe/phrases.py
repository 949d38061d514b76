"""The cache of phrases: ids of long pre-tokens, kept from the second time they are met.

Chinese, Japanese and Thai are written without spaces, so that a pre-token is a phrase. Most phrases come once;
but a text that comes again (a prompt, a page that is edited) brings all of its own along. So a phrase met for
the first time leaves no more than its hash, which costs next to nothing; its ids are kept when it comes again.

A slot is half of a phrase's hash, and where its record begins, 0 while it was met only once. Four slots are a
line, to which the hash leads; a new phrase takes a free slot, or else that of another met only once, or else
any. A record is where the phrase's bytes are kept, how many bytes and ids it has, and the ids. When there is no
more room, all is forgotten.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import copy_ids_8, i64_in, u8_in, u32_in, u64_in
from tokbench_subword.bpe import layout as at

PHRASE = 1 << 10
"""The longest phrases that are kept, in bytes."""
_LINE = 4
_ZERO, _HALF, _LOW = np.uint64(0), np.uint64(32), np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(66 - at.PHRASE_BITS)
_BYTES_AT, _LENGTH, _COUNT, _IDS = range(4)  # what a record is


@inline
def _line(hashed):  # type: ignore[no-untyped-def]
    return np.int64(hashed >> _SHIFT) * _LINE


@subroutine
def recall_phrase(block, text, start, length, hashed, out, o):  # type: ignore[no-untyped-def]
    """Copy the ids of a phrase; return the new end of `out`, or -1. `SPARE_IDS` more may be written."""
    slots, line = u64_in(block, at.PHRASES), _line(hashed)
    records, kept = u32_in(block, at.PHRASE_IDS), u8_in(block, at.PHRASE_BYTES)
    for slot in range(line, line + _LINE):
        record = np.int64(slots[slot] & _LOW)
        if record == 0 or slots[slot] >> _HALF != hashed & _LOW or records[record + _LENGTH] != length:
            continue
        if equal_bytes(kept, np.int64(records[record + _BYTES_AT]), text, start, length):
            count = np.int64(records[record + _COUNT])
            for i in range(0, count, 8):
                copy_ids_8(records, record + _IDS + i, out, o + i)
            return o + count
    return np.int64(-1)


@inline
def _empty(block):  # type: ignore[no-untyped-def]
    """Forget all phrases."""
    slots, counters = u64_in(block, at.PHRASES), i64_in(block, at.COUNTERS)
    for i in range(1 << at.PHRASE_BITS):
        slots[i] = _ZERO
    counters[at.PHRASE_BYTES_USED] = counters[at.PHRASE_IDS_USED] = 0


@inline
def _keep(block, text, start, length, ids, begin, count):  # type: ignore[no-untyped-def]
    """Write the record of a phrase; return where it begins."""
    counters, records, kept = (
        i64_in(block, at.COUNTERS),
        u32_in(block, at.PHRASE_IDS),
        u8_in(block, at.PHRASE_BYTES),
    )
    place, record = counters[at.PHRASE_BYTES_USED], counters[at.PHRASE_IDS_USED] + 1  # 0 is no record
    for i in range(length):
        kept[place + i] = text[start + i]
    records[record + _BYTES_AT], records[record + _LENGTH], records[record + _COUNT] = place, length, count
    for i in range(count):
        records[record + _IDS + i] = ids[begin + i]
    counters[at.PHRASE_BYTES_USED] += length
    counters[at.PHRASE_IDS_USED] += _IDS + count
    return record


@subroutine
def note_phrase(block, text, start, length, hashed, ids, begin, count):  # type: ignore[no-untyped-def]
    """Note that a phrase was met that could not be recalled; if not for the first time, keep its ids."""
    slots, counters, line = u64_in(block, at.PHRASES), i64_in(block, at.COUNTERS), _line(hashed)
    place, record = line + np.int64((hashed >> _HALF) & np.uint64(_LINE - 1)), np.int64(0)
    for slot in range(line, line + _LINE):
        if slots[slot] == (hashed & _LOW) << _HALF:  # met once
            full = counters[at.PHRASE_BYTES_USED] + length > at.PHRASE_BYTES_SIZE
            if full or counters[at.PHRASE_IDS_USED] + _IDS + count > at.PHRASE_IDS_SIZE:
                _empty(block)
            place, record = slot, _keep(block, text, start, length, ids, begin, count)
            break
        if slots[slot] & _LOW == _ZERO:
            place = slot
            if slots[slot] == _ZERO:  # free, as those after it
                break
    slots[place] = (hashed & _LOW) << _HALF | np.uint64(record)
