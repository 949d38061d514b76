"""The kernel that cuts a text into pieces, character by character, by the tables of a `Machine`.

The table decides where a piece ends, but no branch depends on it: at every character a possible end is written,
and it is counted only if the piece does end there. So the ends of words cause no branch mispredictions.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, i32_in, i64_in, u8_in, u16_in, u32_in
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline.patterns import machine as at

SPARE = 32
"""How many pieces more than asked for may be written. A machine may hold back the ends of about four
characters, one composed of several machines those of about twelve, and then report all of them at once."""
SLOW = (1 << at.ROW_SHIFT) - (1 << at.SLOW_SHIFT)
"""The bits of a table entry that are set if `act` has to be called."""


@inline
def class_of(machine: Block, text: Bytes, i: Int) -> tuple[np.int64, np.int64]:
    """The class of the non-ASCII character at byte `i`, and its number of bytes."""
    point, size = code_point(text, i)
    page = np.int64(u16_in(machine, at.PAGES)[point >> 8])
    return np.int64(u8_in(machine, at.CLASSES)[(page << 8) | (point & 255)]), size


@inline
def _class_at(machine: Block, text: Bytes, i: Int, end: Int) -> tuple[np.int64, np.int64]:
    """The class at byte `i`, of a character or of the end of the text, and the number of bytes."""
    if i < end:
        byte = np.int64(text[i])
        if byte < 0x80:
            one, size = np.int64(u8_in(machine, at.ASCII_CLASSES)[byte]), np.int64(1)
        else:
            one, size = class_of(machine, text, i)
    else:
        one, size = i64_in(machine, at.SETTINGS)[at.EDGE], np.int64(0)
    return one, size


@inline
def characters_back(text: Bytes, i: Int, count: Int) -> Int:
    """The begin of the character `count` characters before the one at byte `i`."""
    for _ in range(count):
        i = character_before(text, i)
    return i


@subroutine
def _back_over(machine: Block, text: Bytes, i: Int, some: Int) -> Int:
    """The begin of the run of characters before byte `i` whose classes are all in set `some`."""
    over, n_classes = u8_in(machine, at.OVER), i64_in(machine, at.SETTINGS)[at.EDGE] + 1
    before = characters_back(text, i, 1)
    while over[some * n_classes + _class_at(machine, text, before, i)[0]]:
        i, before = before, characters_back(text, before, 1)
    return i


@subroutine
def _read_on(
    machine: Block, text: Bytes, i: Int, end: Int, state: Int, last: Int, before: Int
) -> tuple[Int, Int]:
    """Follow the automaton from `state` until it dies: the end of the longest match, and the class before that.

    The character at byte `i` has led to `state`. Returns `last` and `before` if no match is found.
    """
    following, n_classes = u16_in(machine, at.FOLLOWING), i64_in(machine, at.SETTINGS)[at.EDGE] + 1
    one, size = _class_at(machine, text, i, end)
    i += size
    while state != 0:
        previous = one
        one, size = _class_at(machine, text, i, end)
        entry = np.int64(following[state * n_classes + one])
        if entry & 1:
            last, before = i, previous
        state = entry >> 1
        i += size
    return last, before


@subroutine
def act(
    machine: Block, text: Bytes, i: Int, end: Int, began: Int, entry: Int, starts: Ints, ends: Ints, count: Int
) -> tuple[np.int64, np.int64, np.int64, np.int64, bool]:
    """Carry out the action of a table entry.

    Writes the ends that the action lists. If too much was read since a match was found, or since one may have
    begun, this follows the automaton to the end; reading then begins again after the match, or, without a
    match, after the character where it would have begun.

    Returns `i`, `began`, `row`, `count`, and whether the next character to read is the one at `i`, not the one
    after it.
    """
    actions, settings = i32_in(machine, at.ACTIONS), i64_in(machine, at.SETTINGS)
    action = ((entry & SLOW) >> at.SLOW_SHIFT) * at.ACTION
    for k in range(actions[action + at.N_ENDS]):
        end_at = action + at.FIRST_END + at.AN_END * k
        place = characters_back(text, i, actions[end_at])
        if actions[end_at + 2] != 0:
            place = _back_over(machine, text, place, np.int64(actions[end_at + 2]))
        starts[count], ends[count] = began, place
        count += np.int64(actions[end_at + 1])
        began = place
    state, flags = np.int64(actions[action + at.READ_ON]), np.int64(actions[action + at.UNTOLD])
    if state == 0:
        return np.int64(i), np.int64(began), np.int64(entry >> at.ROW_SHIFT), np.int64(count), False
    since, none = characters_back(text, i, actions[action + at.SINCE]), np.int64(-1)
    last, before = _read_on(
        machine, text, i, end, state, none if flags else since, np.int64(actions[action + at.BEFORE])
    )
    if flags & (at.CUT_IF_GAP if last < 0 else at.CUT_IF_MATCH):
        starts[count], ends[count] = began, since
        count += np.int64(flags & at.KEEP_BEFORE != 0)
        began = since
    if last < 0:
        one, size = _class_at(machine, text, since, end)
        return np.int64(since + size), np.int64(began), i64_in(machine, at.GAP_ROWS)[one], np.int64(count), True
    if settings[at.ENDS_MATCHES] == 1:
        starts[count], ends[count] = began, last
        count += settings[at.KEEPS_MATCHES]
        began = last
    return np.int64(last), np.int64(began), i64_in(machine, at.ROWS)[before], np.int64(count), True


@inline
def _step(
    machine: Block, text: Bytes, i: Int, began: Int, row: Int, end: Int, starts: Ints, ends: Ints, count: Int
) -> tuple[Int, Int, Int, Int]:
    """Read the character at byte `i`, or the end of the text; returns the next `i`, `began`, `row` and `count`.

    At the end, `i` stays.
    """
    one, size = _class_at(machine, text, i, end)
    entry = np.int64(u32_in(machine, at.TABLE)[row + one])
    row = entry >> at.ROW_SHIFT
    starts[count], ends[count] = began, i
    count += entry & at.KEEP
    began = i if entry & at.BEGIN else began
    if entry & SLOW:
        i, began, row, count, moved = act(machine, text, i, end, began, entry, starts, ends, count)
        size = np.int64(0) if moved else size
    return i + size, began, row, count


@inline
def cut_up_to(
    machine: Block,
    text: Bytes,
    i: Int,
    began: Int,
    row: Int,
    stop_and_end: tuple[Int, Int],
    starts: Ints,
    ends: Ints,
    count: Int,
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """`cut_some`, but up to byte `stop` of a text that ends at `end`, for any number of pieces."""
    stop, end = stop_and_end
    while i < stop or (stop == end and row != 0):
        i, began, row, count = _step(machine, text, i, began, row, end, starts, ends, count)
    return np.int64(i), np.int64(began), np.int64(row), np.int64(count)


@inline
def cut_some(
    machine: Block,
    text: Bytes,
    i: Int,
    began: Int,
    row: Int,
    end: Int,
    starts: Ints,
    ends: Ints,
    count: Int,
    most: Int,
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Write the begin and end of the pieces of a text that ends at byte `end`, until there are `most` of them.

    `i` is the byte to read next, `began` the begin of the current piece, and `row` the row of the table (0 at
    the beginning of a text). Returns these three and the count, for the next call. The text is done when `i` is
    `end` and `row` is 0. Up to `SPARE` pieces more than `most` may be written; the text must be readable up to
    ``end + 3``.
    """
    while count < most and (i < end or row != 0):
        stop = min(i + most - count, end)  # no more pieces than bytes: no count is needed on the way
        i, began, row, count = cut_up_to(machine, text, i, began, row, (stop, end), starts, ends, count)
    return np.int64(i), np.int64(began), np.int64(row), np.int64(count)
