"""The kernel that cuts text into pieces, by the tables of a `Machine`.

A piece ends where the table says so. No branch depends on that: where a piece might end is written down at
every character, and counted only if it does, so that the processor has nothing to guess at the ends of words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import i32_in, i64_in, pointer, u8_in, u16_in, u32_in
from tokbench_subword.pipeline.streaming import (
    ACTION,
    BEFORE,
    BEGIN,
    CUT_IF_GAP,
    CUT_IF_MATCH,
    ENDS_MATCHES,
    FIRST_END,
    KEEP,
    KEEP_BEFORE,
    KEEPS_MATCHES,
    N_ENDS,
    READ_ON,
    ROW_SHIFT,
    SINCE,
    SLOW_SHIFT,
    UNTOLD,
    WIDTH,
)

TABLE, ASCII_CLASSES, PAGES, CLASSES, ACTIONS, FOLLOWING, ROWS, GAP_ROWS, MEETINGS, SETTINGS = range(10)
"""Where each array of a `Machine` stands in its block."""
SPARE = 8
"""Pieces that may be written beyond those asked for: as many as end at one character."""
HALF = 512
"""Bytes of each of two places where a long text is cut at once."""
NEAR = 64
"""Bytes among which the second place is looked for."""
SECOND = HALF + SPARE
"""Where the pieces of the second place begin."""
_SLOW = (1 << ROW_SHIFT) - (1 << SLOW_SHIFT)


@inline
def class_of(machine: Any, text: Any, i: Any) -> Any:
    """The class of the character that begins at byte `i`, beyond ASCII, and how many bytes it has."""
    byte = np.int64(text[i])
    second = np.int64(text[i + 1]) & 0x3F
    if byte < 0xE0:
        point, size = ((byte & 0x1F) << 6) | second, np.int64(2)
    else:
        third = np.int64(text[i + 2]) & 0x3F
        if byte < 0xF0:
            point, size = ((byte & 0x0F) << 12) | (second << 6) | third, np.int64(3)
        else:
            fourth = np.int64(text[i + 3]) & 0x3F
            point, size = ((byte & 0x07) << 18) | (second << 12) | (third << 6) | fourth, np.int64(4)
    page = np.int64(u16_in(machine, PAGES)[point >> 8])
    return np.int64(u8_in(machine, CLASSES)[(page << 8) | (point & 255)]), size


@inline
def characters_back(text: Any, i: Any, count: Any) -> Any:
    """Where the character begins that is `count` before the one at byte `i`."""
    for _ in range(count):
        i -= 1
        while (text[i] & 0xC0) == 0x80:
            i -= 1
    return i


@subroutine
def _read_on(machine: Any, text: Any, i: Any, end: Any, state: Any, last: Any, before: Any) -> Any:
    """Where the longest match ends that is told from `state` on until the automaton dies, and the class before.

    The character at byte `i` has led to `state`; `last` and `before` are what is returned if none is told.
    """
    following, ascii_classes = u16_in(machine, FOLLOWING), u8_in(machine, ASCII_CLASSES)
    width = i64_in(machine, SETTINGS)[WIDTH]
    one, size = np.int64(ascii_classes[text[i] & 0x7F]), np.int64(1)
    if text[i] >= 0x80:
        one, size = class_of(machine, text, i)
    i += size
    while state != 0:
        previous = one
        if i >= end:
            one, size = width - 1, np.int64(0)
        elif text[i] < 0x80:
            one, size = np.int64(ascii_classes[text[i]]), np.int64(1)
        else:
            one, size = class_of(machine, text, i)
        entry = np.int64(following[state * width + one])
        if entry & 1:
            last, before = i, previous
        state = entry >> 1
        i += size
    return last, before


@subroutine
def _act(
    machine: Any, text: Any, i: Any, end: Any, began: Any, entry: Any, starts: Any, ends: Any, count: Any
) -> Any:
    """Do what an entry says that is more than the end of a piece.

    Returned are `i`, `began`, `row` and `count`, and whether the next character to read is the one at this `i`,
    not the one behind it.

    The ends listed are written. Where too much has been read since a match was told, or since one might have
    begun, the automaton goes on here, and reading begins anew behind the match, or, where there is none, behind
    the character where it would have begun.
    """
    actions, settings = i32_in(machine, ACTIONS), i64_in(machine, SETTINGS)
    at = ((entry & _SLOW) >> SLOW_SHIFT) * ACTION
    for k in range(actions[at + N_ENDS]):
        place = characters_back(text, i, actions[at + FIRST_END + 2 * k])
        starts[count], ends[count] = began, place
        count += np.int64(actions[at + FIRST_END + 2 * k + 1])
        began = place
    state, flags = np.int64(actions[at + READ_ON]), np.int64(actions[at + UNTOLD])
    if state == 0:
        return i, began, entry >> ROW_SHIFT, count, False
    since, none = characters_back(text, i, actions[at + SINCE]), np.int64(-1)
    last, before = _read_on(
        machine, text, i, end, state, none if flags else since, np.int64(actions[at + BEFORE])
    )
    if flags & (CUT_IF_GAP if last < 0 else CUT_IF_MATCH):
        starts[count], ends[count] = began, since
        count += np.int64(flags & KEEP_BEFORE != 0)
        began = since
    if last < 0:
        one, size = np.int64(u8_in(machine, ASCII_CLASSES)[text[since] & 0x7F]), np.int64(1)
        if text[since] >= 0x80:
            one, size = class_of(machine, text, since)
        return since + size, began, i64_in(machine, GAP_ROWS)[one], count, True
    if settings[ENDS_MATCHES] == 1:
        starts[count], ends[count] = began, last
        count += settings[KEEPS_MATCHES]
        began = last
    return last, began, i64_in(machine, ROWS)[before], count, True


@inline
def _step(
    machine: Any, text: Any, i: Any, began: Any, row: Any, end: Any, starts: Any, ends: Any, count: Any
) -> Any:
    """Read the character at byte `i`, or at `end` that there is none; returns the next `i`, `began`, `row`,
    `count`.

    At the end, `i` stays.
    """
    width = i64_in(machine, SETTINGS)[WIDTH]
    if i < end:
        byte = np.int64(text[i])
        if byte < 0x80:
            one, size = np.int64(u8_in(machine, ASCII_CLASSES)[byte]), np.int64(1)
        else:
            one, size = class_of(machine, text, i)
    else:
        one, size = width - 1, np.int64(0)
    entry = np.int64(u32_in(machine, TABLE)[row + one])
    row = entry >> ROW_SHIFT
    starts[count], ends[count] = began, i
    count += entry & KEEP
    began = i if entry & BEGIN else began
    if entry & _SLOW:
        i, began, row, count, moved = _act(machine, text, i, end, began, entry, starts, ends, count)
        size = np.int64(0) if moved else size
    return i + size, began, row, count


@inline
def cut_some(machine, text, i, began, row, end, starts, ends, count, most):  # type: ignore[no-untyped-def]
    """Write where pieces of a text that ends at byte `end` begin and end, until there are `most` of them.

    `i` is the byte to read next, `began` where the piece at hand begins, `row` the row of the table (0 at the
    beginning of a text); returned are these three and the count, for the next call. The text is done when `i`
    is `end` and `row` is 0. `SPARE` pieces more than `most` may be written, and all text up to ``end + 3`` is
    readable.
    """
    while count < most and (i < end or row != 0):
        i, began, row, count = _step(machine, text, i, began, row, end, starts, ends, count)
    return i, began, row, count


@inline
def _meeting(machine: Any, text: Any, i: Any) -> Any:
    """A place at most `NEAR` behind byte `i` where a piece begins whatever stands before; or -1."""
    ascii_classes, meetings = u8_in(machine, ASCII_CLASSES), u32_in(machine, MEETINGS)
    width = i64_in(machine, SETTINGS)[WIDTH]
    for place in range(i + 1, i + 1 + NEAR):
        if (text[place - 1] | text[place]) < 0x80:
            one, other = np.int64(ascii_classes[text[place - 1]]), np.int64(ascii_classes[text[place]])
            if meetings[one * width + other] != 0:
                return place
    return np.int64(-1)


@subroutine
def cut_twice(machine, text, i, began, row, end, starts, ends):  # type: ignore[no-untyped-def]
    """Cut a long text at two places at once: from `i`, and from a place some hundred bytes on where a piece
    begins.

    What the table says of a character is needed to ask about the next: the processor waits. With two characters
    to ask about it waits half as long: encoding code takes 1.2 of the time without (GPT-2, cl100k).

    Pieces of the first half are written from the beginning of `starts` and `ends`, those of the second from
    `SECOND` on, at most `HALF` and `SPARE` of each. Returned are `i`, `began` and `row` as by `cut_some`, and
    both counts; nothing is done, and the first count -1, where the text is too short or no such place is found.
    The text before `end` is not cut to its end.
    """
    second = np.int64(SECOND)
    count, other_count = np.int64(0), second
    half = min(np.int64(HALF - NEAR), (end - i) >> 1)
    place = _meeting(machine, text, i + half) if half > NEAR else np.int64(-1)  # before `end`
    if place < 0:
        return i, began, row, np.int64(-1), np.int64(0)
    table, ascii_classes = u32_in(machine, TABLE), u8_in(machine, ASCII_CLASSES)
    width, one = i64_in(machine, SETTINGS)[WIDTH], np.int64(ascii_classes[text[place - 1]])
    entry = np.int64(u32_in(machine, MEETINGS)[one * width + np.int64(ascii_classes[text[place]])])
    j, other_began, other_row = place + 1, place, entry >> ROW_SHIFT
    most = second + HALF
    while i <= place and j < end and other_count < most:  # with the one at `place`: a piece ends before it
        byte, other_byte = np.int64(text[i]), np.int64(text[j])
        if (byte | other_byte) < 0x80:
            entry = np.int64(table[row + np.int64(ascii_classes[byte])])
            other = np.int64(table[other_row + np.int64(ascii_classes[other_byte])])
            if (entry | other) & _SLOW == 0:
                row, other_row = entry >> ROW_SHIFT, other >> ROW_SHIFT
                starts[count], ends[count] = began, i
                starts[other_count], ends[other_count] = other_began, j
                count += entry & KEEP
                other_count += other & KEEP
                began = i if entry & BEGIN else began
                other_began = j if other & BEGIN else other_began
                i += 1
                j += 1
                continue
        i, began, row, count = _step(machine, text, i, began, row, end, starts, ends, count)
        j, other_began, other_row, other_count = _step(
            machine, text, j, other_began, other_row, end, starts, ends, other_count
        )
    while i <= place:
        i, began, row, count = _step(machine, text, i, began, row, end, starts, ends, count)
    return j, other_began, other_row, count, other_count - second


@kernel
def cut_texts(machine, text, units, position, starts, ends, counts):  # type: ignore[no-untyped-def]
    """Cut the texts ``text[units[u, 0]:units[u, 1]]``, from where `position` says until `starts` and `ends` are
    full.

    `position`: the text at hand, the byte to read next, where the piece at hand begins, the row of the table;
    it is kept for the next call. ``counts[u + 1]`` is set to the number of pieces, of this call, up to the end
    of text u. Returns the number of pieces; all is done when the text at hand is past the last.
    """
    tables, data, from_, to = pointer(machine), pointer(text), pointer(starts), pointer(ends)
    unit, i, began, row = position[0], position[1], position[2], position[3]
    count, most = np.int64(0), np.int64(len(starts) - SPARE)
    while unit < len(units) and count < most:
        end = units[unit, 1]
        i, began, row, count = cut_some(tables, data, i, began, row, end, from_, to, count, most)
        if i == end and row == 0:
            counts[unit + 1] = count
            unit += 1
            if unit < len(units):
                i = began = units[unit, 0]
    position[0], position[1], position[2], position[3] = unit, i, began, row
    return count
