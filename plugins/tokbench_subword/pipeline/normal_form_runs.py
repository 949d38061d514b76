"""A run of characters that meet, in a normal form: taken apart, put in order, composed, and written.

Where edits are asked for (`splicing.splice`), they tell as much as can be told: parts that stayed where they
were come from their own character, and what is between from all the characters that it is of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, Keys, i64_in, u8_in, u32_in
from tokbench.kernels.utf8 import character_before, code_point, put_character
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.normal_form_tables import (
    ABOUT,
    BEFORE_T,
    CLASS,
    COMPOSES,
    FIRST_L,
    FIRST_SYLLABLE,
    FIRST_V,
    MOST_PARTS,
    N_L,
    N_SYLLABLES,
    N_T,
    N_V,
    PAIR_SLOTS,
    PAIRS,
    PARTS,
    PARTS_SHIFT,
    pair_slot,
)
from tokbench_subword.pipeline.splicing import splice

LONGEST = 1024
"""Parts of a run that the kernel normalizes; longer ones, of hundreds of marks, are left to Python."""

_pair_slot = inline(pair_slot)


@inline
def composed(first: Int, second: Int, pairs: Ints) -> Int:
    """What two code points compose to, 0 for nothing."""
    if FIRST_L <= first < FIRST_L + N_L and FIRST_V <= second < FIRST_V + N_V:
        return FIRST_SYLLABLE + ((first - FIRST_L) * N_V + second - FIRST_V) * N_T
    if FIRST_SYLLABLE <= first < FIRST_SYLLABLE + N_SYLLABLES:
        if (first - FIRST_SYLLABLE) % N_T == 0 and BEFORE_T < second < BEFORE_T + N_T:
            return first + second - BEFORE_T
        return np.int64(0)
    key, slot = first << 21 | second, _pair_slot(first, second)
    while pairs[slot] != 0:
        if pairs[slot] >> 21 == key:
            return pairs[slot] & 0x1FFFFF
        slot = (slot + 1) & (PAIR_SLOTS - 1)
    return np.int64(0)


@inline
def _put_part(part: Int, combining: Int, points: Ints, classes: Ints, count: Int) -> np.int64:
    """Write a part behind those of no higher class; the new number of parts."""
    place = count
    if combining != 0:
        while place > 0 and classes[place - 1] > combining:
            points[place], classes[place] = points[place - 1], classes[place - 1]
            place -= 1
    points[place], classes[place] = part, combining
    return np.int64(count + 1)


@subroutine
def _take_apart(
    text: Bytes, begin: Int, end: Int, about: Keys, parts: Keys, points: Ints, classes: Ints
) -> np.int64:
    """Write the parts of the text from `begin` to `end`, in canonical order; how many, or -1 if too many."""
    count = np.int64(0)
    while begin < end:
        if count > LONGEST - MOST_PARTS:
            return np.int64(-1)
        point, width = code_point(text, begin)
        begin += width
        properties = np.int64(about[point])
        place = properties >> PARTS_SHIFT
        syllable = point - FIRST_SYLLABLE
        if place > 0:
            for index in range(np.int64(parts[place])):
                part = np.int64(parts[place + 1 + index])
                count = _put_part(part, np.int64(about[part]) & CLASS, points, classes, count)
        elif 0 <= syllable < N_SYLLABLES:
            count = _put_part(FIRST_L + syllable // (N_V * N_T), 0, points, classes, count)
            count = _put_part(FIRST_V + syllable // N_T % N_V, 0, points, classes, count)
            if syllable % N_T:
                count = _put_part(BEFORE_T + syllable % N_T, 0, points, classes, count)
        else:
            count = _put_part(point, properties & CLASS, points, classes, count)
    return count


@subroutine
def _compose(points: Ints, classes: Ints, count: Int, pairs: Ints) -> np.int64:
    """Compose parts in place; how many are left."""
    kept, starter, last = np.int64(0), np.int64(-1), np.int64(-1)
    for index in range(count):
        part, combining = points[index], classes[index]
        if starter >= 0 and last < combining:  # nothing between them is in the way
            whole = composed(points[starter], part, pairs)
            if whole != 0:
                points[starter] = whole
                continue
        last = combining
        if combining == 0:
            starter, last = kept, np.int64(-1)
        points[kept], classes[kept] = part, combining
        kept += 1
    return kept


class Scratch(NamedTuple):
    """Pointers: the parts of a run, their classes, and UTF-8 of what becomes of it."""

    points: Any
    classes: Any
    encoded: Any


@subroutine
def write_run(tables: Block, text: Bytes, begin: Int, end: Int, scratch: Scratch, length: Int) -> np.int64:
    """Write the normal form of a run to `encoded` from `length` on; its end, or -1 if it has too many parts."""
    about, parts, pairs = u32_in(tables, ABOUT), u32_in(tables, PARTS), i64_in(tables, PAIRS)
    points, classes, encoded = scratch
    count = _take_apart(text, begin, end, about, parts, points, classes)
    if count < 0:
        return np.int64(-1)
    if i64_in(tables, COMPOSES)[0] != 0:  # NFC and NFKC
        count = _compose(points, classes, count, pairs)
    for index in range(count):
        length = put_character(points[index], encoded, length)
    return np.int64(length)


class _Between(NamedTuple):
    """What is left of a run between the parts at its ends that stayed where they were.

    `first` and `last` are where in the text the characters begin and end that it comes from; `place` and `stop`
    where it begins and ends in what the run became, and `after` where that goes on with the next character.
    """

    first: Any
    last: Any
    place: Any
    stop: Any
    after: Any


@subroutine
def _between(tables: Block, text: Bytes, begin: Int, end: Int, scratch: Scratch, length: Int) -> _Between:
    """What is between in a run whose normal form is ``encoded[:length]``. Parts are those of each character's
    own normal form, one behind the other.
    """
    encoded, first, last = scratch.encoded, np.int64(begin), np.int64(end)
    place, stop, known, most = np.int64(0), np.int64(length), np.int64(0), np.int64(0)
    while first < last:
        behind = first + code_point(text, first)[1]
        size = write_run(tables, text, first, behind, scratch, length) - length
        known, most = np.int64(0), min(size, stop - place)
        while known < most and encoded[length + known] == encoded[place + known]:
            known += 1
        while 0 < known < size and encoded[length + known] & 0xC0 == 0x80:
            known -= 1
        place += known
        if known < size:
            break
        first = behind
    after = stop
    while first < last:
        before = character_before(text, last)
        behind = write_run(tables, text, before, last, scratch, length)
        size, most = np.int64(0), min(behind - length - (known if before == first else 0), stop - place)
        while size < most and encoded[behind - 1 - size] == encoded[stop - 1 - size]:
            size += 1
        while size > 0 and encoded[behind - size] & 0xC0 == 0x80:
            size -= 1
        stop -= size
        if size < behind - length:
            break
        last, after = before, stop
    return _Between(first, last, place, stop, after)


@subroutine
def _splice(
    batch: Block, begin: Int, end: Int, scratch: Scratch, first: Int, last: Int, copied: Int, size: Int
) -> tuple[np.int64, np.int64]:
    """Splice ``encoded[first:last]`` for the text from `begin` to `end`, if it is another; the new `copied` and
    `size`. What comes of the same text as what is before may begin before `copied`.
    """
    encoded, text = scratch.encoded, u8_in(batch, splicing.TEXT)
    same = last - first == end - begin and equal_bytes(encoded, first, text, begin, last - first)
    if size < 0 or (same and copied <= begin):
        return np.int64(copied), np.int64(size)
    size = splice(batch, min(copied, begin), begin, end, encoded, first, last, size)
    return np.int64(end), np.int64(size)


@subroutine
def splice_run(
    tables: Block, batch: Block, begin: Int, end: Int, scratch: Scratch, length: Int, copied: Int, size: Int
) -> tuple[np.int64, np.int64]:
    """Splice the normal form of a run, ``encoded[:length]``; the new `copied` and `size`.

    Where edits are asked for, they tell as much as can be told: parts that stayed where they were come from
    their own character, and what is between from all the characters that it is of.
    """
    text, new = u8_in(batch, splicing.TEXT), np.int64(0)
    if i64_in(batch, splicing.NUMBERS)[splicing.MOST_EDITS] == 0:
        return _splice(batch, begin, end, scratch, new, length, copied, size)
    found = _between(tables, text, begin, end, scratch, length)
    while begin < end:
        if begin == found.first and begin < found.last:
            width = code_point(text, begin)[1]
            if new < found.place:
                copied, size = _splice(batch, begin, begin + width, scratch, new, found.place, copied, size)
            copied, size = _splice(batch, begin, found.last, scratch, found.place, found.stop, copied, size)
            begin, new = found.last, found.after
            if found.stop < new:
                width = begin - character_before(text, begin)
                copied, size = _splice(batch, begin - width, begin, scratch, found.stop, new, copied, size)
        else:
            behind = begin + code_point(text, begin)[1]
            until = new + write_run(tables, text, begin, behind, scratch, length) - length
            copied, size = _splice(batch, begin, behind, scratch, new, until, copied, size)
            begin, new = behind, until
    return np.int64(copied), np.int64(size)
