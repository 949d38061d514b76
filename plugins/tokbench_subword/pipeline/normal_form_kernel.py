"""NFC, NFD, NFKC and NFKD as a kernel over a batch of UTF-8.

Nearly all text is in normal form already. So a quick check goes first (see UAX #15): ASCII by eight bytes,
other characters by a table, and where one could compose with the character before it, as vowel signs of Indic
scripts could, by asking whether it does with that one. Only what fails is taken apart, put in order and
composed: from the last character that begins anew to the next.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.normal_forms import (
    FINALS,
    VOWELS,
    Form,
    combining_classes,
    joining,
    pairs,
    parts_of,
)
from tokbench_subword.pipeline.splicing import (
    Writer,
    documents_of,
    finished,
    put_character,
    splice,
)

(
    STEPS,  # uint8 (256,): the bytes of a character that begins with some byte; 0 where it may be SPECIAL
    ABOUT,  # uint32 (0x110000,): flags, and above them where in PARTS the character's parts stand
    PARTS,  # uint32: the parts of characters, after their number
    PAIRS,  # int64 (`PAIR_SLOTS`,), a hash table: two characters, and above 21 bits what they compose to
    COMPOSES,  # int64 (1,): 0 for NFD and NFKD
) = range(5)
"""The tables of one form."""
CLASS = 0xFF
"""Mask of a character's canonical combining class, in its number of `ABOUT`."""
NEVER, SECOND, FIRST, TAKEN_APART, JOINS = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
"""It never stands in the form; it may compose with one before; with one behind; has parts; or can affect, or be
affected by, what is before it.
"""
SPECIAL = CLASS | NEVER | SECOND | JOINS
"""A character without any of these begins anew: what is before it and what it begins do not meet."""
PARTS_SHIFT = 13
MOST_PARTS = 18
"""Parts of a character, at the most (U+FDFA)."""
PAIR_SLOTS = 4096
LONGEST = 1024
"""Parts of a run that the kernel normalizes; longer ones, of hundreds of marks, are left to Python."""
_HIGH = np.uint64(0x8080808080808080)

FIRST_L, FIRST_V, BEFORE_T, FIRST_SYLLABLE = 0x1100, 0x1161, 0x11A7, 0xAC00
N_L, N_V, N_T = 19, 21, 28
N_SYLLABLES = N_L * N_V * N_T


@lru_cache(maxsize=4)
def normal_form_tables(form: Form) -> tuple[NDArray[Any], ...]:
    """The tables of a form, made once per process (some 20 ms)."""
    composes, compatible = form in ("NFC", "NFKC"), form in ("NFKC", "NFKD")
    classes, taken_apart = combining_classes(), parts_of(compatible=compatible)
    composing = pairs()
    about = np.zeros(N_CODE_POINTS, np.uint32)

    def mark(points: Any, flags: int) -> None:
        about[points] |= np.uint32(flags)

    for character, number in classes.items():
        mark(ord(character), number)
    mark(_points(joining(form)), JOINS)
    syllables = np.arange(FIRST_SYLLABLE, FIRST_SYLLABLE + N_SYLLABLES)
    mark(syllables, TAKEN_APART if composes else TAKEN_APART | NEVER)
    composed: set[str] = set()
    if composes:
        canonical = parts_of(compatible=False)
        composed = {pair[2] for pair in composing if taken_apart[pair[2]] == canonical[pair[2]]}
        mark(_points({pair[0] for pair in composing}), FIRST)
        mark(np.arange(FIRST_L, FIRST_L + N_L), FIRST)
        mark(syllables[::N_T], FIRST)
        mark(_points({*VOWELS, *FINALS, *(pair[1] for pair in composing)}), SECOND)
    parts = [0]
    for character, those in taken_apart.items():
        flags = TAKEN_APART | (0 if character in composed else NEVER)
        about[ord(character)] |= flags | len(parts) << PARTS_SHIFT
        parts += [len(those), *map(ord, those)]
    steps, numbers = lead_steps(about & np.uint32(SPECIAL) != 0), np.array([composes], np.int64)
    return steps, about, np.array(parts, np.uint32), _hashed(composing), numbers


def pair_slot(first: Any, second: Any) -> Any:
    """Where the search for a pair of code points begins."""
    return (first * 2654435761 + second * 40503 >> 8) & (PAIR_SLOTS - 1)


def _points(characters: Any) -> NDArray[np.int64]:
    return np.fromiter(map(ord, characters), np.int64)


def _hashed(composing: list[str]) -> NDArray[np.int64]:
    table = np.zeros(PAIR_SLOTS, np.int64)
    for pair in composing:
        first, second, whole = map(ord, pair)
        slot = pair_slot(first, second)
        while table[slot]:
            slot = (slot + 1) & (PAIR_SLOTS - 1)
        table[slot] = first << 42 | second << 21 | whole
    return table


def lead_steps(special: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """For each byte, how many bytes the characters have that begin with it, or 0 if one of them is special."""
    steps = np.zeros(256, np.uint8)
    for width, firsts, size in ((1, range(0x80), 1), (2, range(0xC2, 0xE0), 64), (3, range(0xE0, 0xF0), 4096)):
        for byte in firsts:
            begin = max((0, 0x80, 0x800)[width - 1], (byte - (0, 0xC0, 0xE0)[width - 1]) * size)
            end = (byte + 1 - (0, 0xC0, 0xE0)[width - 1]) * size
            steps[byte] = 0 if special[begin:end].any() else width
    return steps


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
    about, parts, pairs = u32_in(tables, ABOUT), u32_in(tables, PARTS), i64_in(tables, PAIRS)
    count = _take_apart(text, begin, end, about, parts, points, classes)
    if count < 0:
        return np.int64(-1)
    if i64_in(tables, COMPOSES)[0] != 0:  # NFC and NFKC
        count = _compose(points, classes, count, pairs)
    length = np.int64(0)
    for index in range(count):
        length = put_character(points[index], encoded, length)
    return length


@Writer
def normal_form(tables: Block, batch: Block) -> np.int64:
    """Write the normal form of documents, by `normal_form_tables`; see `splicing`.

    Documents whose runs are too long are copied, in part, and declined.
    """
    steps, about, pairs = u8_in(tables, STEPS), u32_in(tables, ABOUT), i64_in(tables, PAIRS)
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
                if properties & JOINS == 0:
                    boundary = position
                position += width
                after = position
                continue
            if properties & JOINS == 0:
                boundary = position
            position = _next_joining_none(text, position + width, stop, about)
            length = _write_run(tables, text, boundary, position, points, classes, encoded)
            if length < 0:
                u8_in(batch, splicing.DECLINED)[document] = 1
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
