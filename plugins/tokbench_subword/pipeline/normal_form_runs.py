"""A run of characters that meet, in a normal form: taken apart, put in order, composed, and written.

Where edits are asked for (`splicing.splice`), they tell as much as can be told: parts that stayed where they
were come from their own character, and what is between from all the characters that it is of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, Keys, i64_in, u8_in, u32_in
from tokbench.kernels.utf8 import code_point, put_character
from tokbench_subword.pipeline import normal_form_tables as at
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.splicing import copy_span, splice

LONGEST = 1024
"""Parts of a run that the kernel normalizes; longer ones, of hundreds of marks, are left to Python."""
ENCODED = 4 * (2 * LONGEST + at.MOST_PARTS) + 16
"""Bytes of `Scratch.encoded`: for a run twice, one more character, and what is read and written beyond."""

_pair_slot = inline(at.pair_slot)


@inline
def composed(first: Int, second: Int, pairs: Ints) -> Int:
    """What two code points compose to, 0 for nothing."""
    if at.FIRST_L <= first < at.FIRST_L + at.N_L and at.FIRST_V <= second < at.FIRST_V + at.N_V:
        return at.FIRST_SYLLABLE + ((first - at.FIRST_L) * at.N_V + second - at.FIRST_V) * at.N_T
    if at.FIRST_SYLLABLE <= first < at.FIRST_SYLLABLE + at.N_SYLLABLES:
        if (first - at.FIRST_SYLLABLE) % at.N_T == 0 and at.BEFORE_T < second < at.BEFORE_T + at.N_T:
            return first + second - at.BEFORE_T
        return np.int64(0)
    key, slot = first << 21 | second, _pair_slot(first, second)
    while pairs[slot] != 0:
        if pairs[slot] >> 21 == key:
            return pairs[slot] & 0x1FFFFF
        slot = (slot + 1) & (at.PAIR_SLOTS - 1)
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
        if count > LONGEST - at.MOST_PARTS:
            return np.int64(-1)
        point, width = code_point(text, begin)
        begin += width
        properties = np.int64(about[point])
        place = properties >> at.PARTS_SHIFT
        syllable = point - at.FIRST_SYLLABLE
        if place > 0:
            for index in range(np.int64(parts[place])):
                part = np.int64(parts[place + 1 + index])
                count = _put_part(part, np.int64(about[part]) & at.CLASS, points, classes, count)
        elif 0 <= syllable < at.N_SYLLABLES:
            count = _put_part(at.FIRST_L + syllable // (at.N_V * at.N_T), 0, points, classes, count)
            count = _put_part(at.FIRST_V + syllable // at.N_T % at.N_V, 0, points, classes, count)
            if syllable % at.N_T:
                count = _put_part(at.BEFORE_T + syllable % at.N_T, 0, points, classes, count)
        else:
            count = _put_part(point, properties & at.CLASS, points, classes, count)
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
    """Pointers: the parts of a run, their classes, where the normal form of each of its characters ends in
    `encoded`, and there, in UTF-8, that of the run and then theirs.
    """

    points: Any
    classes: Any
    ends: Any
    encoded: Any


@subroutine
def write_run(tables: Block, text: Bytes, begin: Int, end: Int, scratch: Scratch, length: Int) -> np.int64:
    """Write the normal form of a run to `encoded` from `length` on; its end, or -1 if it has too many parts."""
    about, parts, pairs = u32_in(tables, at.ABOUT), u32_in(tables, at.PARTS), i64_in(tables, at.PAIRS)
    points, classes, _, encoded = scratch
    count = _take_apart(text, begin, end, about, parts, points, classes)
    if count < 0:
        return np.int64(-1)
    if i64_in(tables, at.COMPOSES)[0] != 0:  # NFC and NFKC
        count = _compose(points, classes, count, pairs)
    for index in range(count):
        length = put_character(points[index], encoded, length)
    return np.int64(length)


@inline
def _alike(encoded: Bytes, length: Int, total: Int) -> tuple[np.int64, np.int64]:
    """How many bytes the text ``encoded[:length]`` and the one of `total` bytes behind it have in common at
    their beginnings, and how many of the rest at their ends: whole characters only.
    """
    begun, ended, most = np.int64(0), np.int64(0), min(length, total)
    while begun < most and encoded[begun] == encoded[length + begun]:
        begun += 1
    while begun < total and encoded[length + begun] & 0xC0 == 0x80:
        begun -= 1
    while begun + ended < most and encoded[length - 1 - ended] == encoded[length + total - 1 - ended]:
        ended += 1
    while ended > 0 and encoded[length - ended] & 0xC0 == 0x80:
        ended -= 1
    return begun, ended


@subroutine
def splice_run(
    tables: Block, batch: Block, begin: Int, end: Int, scratch: Scratch, length: Int, copied: Int, size: Int
) -> np.int64:
    """Splice ``encoded[:length]``, the normal form of a run; the new `size`, or `TOO_SMALL`.

    Where edits are asked for, the normal form of each character by itself is written behind that. What both
    have in common at the beginning and at the end comes from its own character; the rest of the run comes from
    all characters that have a share in the rest of the other.
    """
    numbers, text = i64_in(batch, splicing.NUMBERS), u8_in(batch, splicing.TEXT)
    _, _, ends, encoded = scratch
    none = np.int64(0)
    if numbers[splicing.MOST_EDITS] == 0:
        return splice(batch, copied, begin, end, encoded, none, length, size)
    if size + begin - copied + length + 32 > numbers[splicing.CAPACITY]:  # else there is room for all edits
        return np.int64(splicing.TOO_SMALL)
    size = copy_span(text, copied, begin, u8_in(batch, splicing.OUT), size)
    place, count, total = begin, none, length
    while place < end:
        behind = place + code_point(text, place)[1]
        total = write_run(tables, text, place, behind, scratch, total)
        ends[count] = total
        place, count = behind, count + 1
    total -= length
    begun, ended = _alike(encoded, length, total)
    stop, shift, first = total - ended, length - total, begin
    own = none  # where, behind the run, the normal form of the character at `begin` begins
    for index in range(count):
        behind, until = begin + code_point(text, begin)[1], ends[index] - length
        if own < begun:
            size = splice(batch, begin, begin, behind, encoded, own, min(until, begun), size)
        if own <= begun:
            first = begin
        if begun < stop and own < stop <= until:  # the last character of the rest
            size = splice(batch, first, first, behind, encoded, begun, stop + shift, size)
        if until > stop:
            size = splice(batch, begin, begin, behind, encoded, max(own, stop) + shift, until + shift, size)
        begin, own = behind, until
    return np.int64(size)
