"""The normal form of a run of characters that affect each other: decompose, reorder, compose, write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, Keys, i64_in, keep, pointer, u8_in, u32_in
from tokbench.kernels.utf8 import code_point, put_character
from tokbench_subword.pipeline import normal_form_tables as at
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.splicing import copy_span, splice

LONGEST = 1024
"""The longest run, in bytes, for which there is room from the start."""
_FEW_MARKS = 64
"""Up to this many marks in a row are sorted by insertion; more by counting, in linear time."""
_ONE_POINT = (1 << 21) - 1

_pair_slot = inline(at.pair_slot)


class Scratch(NamedTuple):
    """Pointers: the parts of a run, their combining classes, the `ends` of its characters' normal forms in
    `encoded`, and `encoded` itself: in UTF-8, the normal form of the run, then those of its characters.

    While more than a few marks are sorted, `ends` is their scratch space.
    """

    points: Any
    classes: Any
    ends: Any
    encoded: Any


@inline
def scratch_arrays(most: Int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Memory for a run of so many bytes; `scratch_in` makes the pointers.

    A run has no more parts than bytes, apart from those of its first character, since no character that joins
    the text before it has more. The bytes are enough for the run twice, one more character, and padding.
    """
    room = most + at.MOST_PARTS
    return np.empty(3 * room, np.int64), np.empty(4 * (2 * room + at.MOST_PARTS) + 16, np.uint8)


@inline
def scratch_in(numbers: NDArray[np.int64], encoded: NDArray[np.uint8]) -> Scratch:
    """The `Scratch` in the arrays of `scratch_arrays`."""
    room = len(numbers) // 3
    classes, ends = pointer(numbers[room:]), pointer(numbers[2 * room :])
    return Scratch(pointer(numbers), classes, ends, pointer(encoded))


@inline
def composed(first: Int, second: Int, pairs: Ints) -> Int:
    """The code point that two compose to; 0 if they do not compose."""
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
    """Append a part; returns the new number of parts."""
    points[count], classes[count] = part, combining
    return np.int64(count + 1)


@subroutine
def _order_by_counting(points: Ints, classes: Ints, first: Int, last: Int, spare: Ints) -> None:
    """Sort the marks from `first` to `last` by combining class, with a counting sort.

    `spare` has room for as many numbers as there are marks.
    """
    begins = np.zeros(at.CLASS + 2, np.int64)
    places = pointer(begins)
    for index in range(first, last):
        places[classes[index] + 1] += 1
    for combining in range(at.CLASS + 1):
        places[combining + 1] += places[combining]
    for index in range(first, last):
        combining = classes[index]
        spare[places[combining]] = combining << 21 | points[index]
        places[combining] += 1
    for index in range(first, last):
        mark = spare[index - first]
        points[index], classes[index] = mark & _ONE_POINT, mark >> 21
    keep(begins)


@inline
def _put_in_order(points: Ints, classes: Ints, count: Int, spare: Ints) -> None:
    """Put parts in canonical order: marks in a row are sorted by class, in a stable way."""
    first = np.int64(0)
    while first < count:
        if classes[first] == 0:
            first += 1
            continue
        last, in_order = first + 1, True
        while last < count and classes[last] != 0:
            in_order = in_order and classes[last - 1] <= classes[last]
            last += 1
        if not in_order and last - first > _FEW_MARKS:
            _order_by_counting(points, classes, first, last, spare)
        elif not in_order:
            for index in range(first + 1, last):
                point, combining, place = points[index], classes[index], index
                while place > first and classes[place - 1] > combining:
                    points[place], classes[place] = points[place - 1], classes[place - 1]
                    place -= 1
                points[place], classes[place] = point, combining
        first = last


@subroutine
def _take_apart(text: Bytes, begin: Int, end: Int, about: Keys, parts: Keys, scratch: Scratch) -> np.int64:
    """Decompose the text from `begin` to `end` into its parts; returns their number."""
    points, classes, count = scratch.points, scratch.classes, np.int64(0)
    while begin < end:
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
    """Compose parts in place; returns how many are left."""
    kept, starter, last = np.int64(0), np.int64(-1), np.int64(-1)
    for index in range(count):
        part, combining = points[index], classes[index]
        if starter >= 0 and last < combining:  # nothing between them blocks the composition
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


@subroutine
def write_run(tables: Block, text: Bytes, begin: Int, end: Int, scratch: Scratch, length: Int) -> np.int64:
    """Write the normal form of a run to `encoded` from `length` on; returns its end."""
    about, parts, pairs = u32_in(tables, at.ABOUT), u32_in(tables, at.PARTS), i64_in(tables, at.PAIRS)
    points, classes, ends, encoded = scratch.points, scratch.classes, scratch.ends, scratch.encoded
    count = _take_apart(text, begin, end, about, parts, scratch)
    _put_in_order(points, classes, count, ends)
    if i64_in(tables, at.COMPOSES)[0] != 0:  # NFC and NFKC
        count = _compose(points, classes, count, pairs)
    for index in range(count):
        length = put_character(points[index], encoded, length)
    return np.int64(length)


@inline
def _alike(encoded: Bytes, length: Int, total: Int) -> tuple[np.int64, np.int64]:
    """The common prefix of ``encoded[:length]`` and the text of `total` bytes after it, and the common suffix
    of the rest, in bytes; whole characters only.
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
    """Splice ``encoded[:length]``, the normal form of a run; returns the new `size`, or `TOO_SMALL`.

    If edits are noted, the normal form of each character by itself is written after it. In the common prefix
    and suffix of both, each character comes from its own original; everything between comes from all characters
    that are not wholly in the prefix or suffix.
    """
    numbers, text = i64_in(batch, splicing.NUMBERS), u8_in(batch, splicing.TEXT)
    ends, encoded = scratch.ends, scratch.encoded
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
