"""NFC, NFD, NFKC and NFKD as a kernel over a batch of UTF-8.

Nearly all text is in normal form already. So a quick check goes first (see UAX #15): ASCII by eight bytes,
other characters by a table, and where one could compose with the character before it, as vowel signs of Indic
scripts could, by asking whether it does with that one. Only what fails is taken apart, put in order and
composed: from the last character that begins anew to the next.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import trailing_zeros
from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Int,
    Ints,
    Keys,
    i64_in,
    keep,
    load_u64,
    pointer,
    u8_in,
    u32_in,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.normal_form_tables import (
    BEFORE_T,
    CLASS,
    FIRST,
    FIRST_L,
    FIRST_SYLLABLE,
    FIRST_V,
    JOINS,
    MOST_PARTS,
    N_L,
    N_SYLLABLES,
    N_T,
    N_V,
    NEVER,
    PAIR_SLOTS,
    PARTS_SHIFT,
    SECOND,
    SPECIAL,
    TAKEN_APART,
    pair_slot,
)
from tokbench_subword.pipeline.splicing import (
    DECLINED,
    Writer,
    character_before,
    documents_of,
    finished,
    put_character,
    splice,
)

LONGEST = 1024
"""Parts of a run that the kernel normalizes; longer ones, of hundreds of marks, are left to Python."""
_HIGH = np.uint64(0x8080808080808080)

_pair_slot = inline(pair_slot)


@inline
def _whole(first: Int, second: Int, pairs: Ints) -> Int:
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
            whole = _whole(points[starter], part, pairs)
            if whole != 0:
                points[starter] = whole
                continue
        last = combining
        if combining == 0:
            starter, last = kept, np.int64(-1)
        points[kept], classes[kept] = part, combining
        kept += 1
    return kept


@inline
def _fails(text: Bytes, starter: Int, last: Int, point: Int, properties: Int, about: Keys, pairs: Ints) -> bool:
    """Whether a SPECIAL character, behind text in normal form, may change it or be changed.

    `starter` is where the last starter begins, -1 for none; `last` the combining class just before.
    """
    combining = properties & CLASS
    if properties & NEVER or 0 < combining < last:
        return True
    if properties & SECOND == 0 or starter < 0 or (last != 0 and combining <= last):
        return False
    first, _ = code_point(text, starter)
    of_first = np.int64(about[first])
    if combining != 0 and of_first & TAKEN_APART:  # one of its marks may make way for this one
        return True
    return of_first & FIRST != 0 and _whole(first, point, pairs) != 0


@inline
def _next_special(text: Bytes, position: Int, stop: Int, steps: Bytes) -> np.int64:
    """Where a character begins that may be SPECIAL; `stop` or behind it for none."""
    while position < stop:
        bits = load_u64(text, position) & _HIGH
        if bits == np.uint64(0):
            position += 8
            continue
        position += trailing_zeros(bits) >> 3
        width = np.int64(steps[text[position]])
        if width == 0:
            break
        position += width
    return np.int64(position)


@inline
def _next_joining_none(text: Bytes, position: Int, stop: Int, about: Keys) -> np.int64:
    """Where a character begins that leaves what is before it as it is; `stop` for none."""
    while position < stop:
        point, width = code_point(text, position)
        if np.int64(about[point]) & JOINS == 0:
            break
        position += width
    return np.int64(position)


@inline
def _write_run(
    tables: Block, text: Bytes, begin: Int, end: Int, points: Ints, classes: Ints, encoded: Bytes
) -> np.int64:
    """Write the normal form of a run to `encoded`; how many bytes, or -1 if it has too many parts."""
    about, parts, pairs = u32_in(tables, 1), u32_in(tables, 2), i64_in(tables, 3)
    count = _take_apart(text, begin, end, about, parts, points, classes)
    if count < 0:
        return np.int64(-1)
    if i64_in(tables, 4)[0] != 0:  # NFC and NFKC
        count = _compose(points, classes, count, pairs)
    length = np.int64(0)
    for index in range(count):
        length = put_character(points[index], encoded, length)
    return length


@Writer
def normal_form(tables: Block, batch: Block) -> np.int64:
    """Write the normal form of documents, by `NormalFormTables`; see `splicing`.

    Documents whose runs are too long are copied, in part, and declined.
    """
    steps, about, pairs = u8_in(tables, 0), u32_in(tables, 1), i64_in(tables, 3)
    text, offsets, out_offsets, n_documents = documents_of(batch)
    points, classes = np.empty(LONGEST, np.int64), np.empty(LONGEST, np.int64)
    encoded_array = np.empty(4 * LONGEST + 16, np.uint8)
    encoded = pointer(encoded_array)
    size, copied = np.int64(0), offsets[0]  # the text from `copied` on is still to be copied
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        position, after = begin, np.int64(-1)
        starter = boundary = last = np.int64(-1)
        while True:
            position = _next_special(text, position, stop, steps)
            if position >= stop:
                break
            point, width = code_point(text, position)
            properties = np.int64(about[point])
            if properties & SPECIAL == 0:
                position += width
                continue
            if position != after:  # the character before, if there is one, begins anew
                starter, boundary, last = np.int64(-1), position, np.int64(0)
                if position > begin:
                    starter = boundary = character_before(text, position)
            if not _fails(text, starter, last, point, properties, about, pairs):
                last = properties & CLASS
                if last == 0:
                    starter = position
                position += width
                after = position
                continue
            if properties & JOINS == 0:
                boundary = position
            position = _next_joining_none(text, position + width, stop, about)
            length = _write_run(tables, text, boundary, position, points, classes, encoded)
            if length < 0:
                u8_in(batch, DECLINED)[document] = 1
                break
            if length == position - boundary and equal_bytes(encoded, 0, text, boundary, length):
                continue
            size = splice(batch, copied, boundary, position, encoded, np.int64(0), length, size)
            if size < 0:
                return size
            copied = position
        out_offsets[document + 1] = size + stop - copied
    keep(encoded_array)
    return finished(batch, copied, size)
