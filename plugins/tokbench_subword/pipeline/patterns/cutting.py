"""The kernel that cuts a text into pieces, character by character, by the tables of a `Machine`.

A piece ends where the table says so. No branch depends on that: where a piece might end is written down at
every character, and counted only if it does, so that the processor has nothing to guess at the ends of words.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, i32_in, i64_in, u8_in, u16_in, u32_in
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline.patterns import machine as at

SPARE = 32
"""Pieces that may be written beyond those asked for. A machine may wait with the ends of some four characters,
one made of several with some twelve (`composing`), and then tell all of them at one character."""
SLOW = (1 << at.ROW_SHIFT) - (1 << at.SLOW_SHIFT)
"""What an entry of the table has where `act` is to be called."""


@inline
def class_of(machine: Block, text: Bytes, i: Int) -> tuple[np.int64, np.int64]:
    """The class of the character that begins at byte `i`, beyond ASCII, and how many bytes it has."""
    point, size = code_point(text, i)
    page = np.int64(u16_in(machine, at.PAGES)[point >> 8])
    return np.int64(u8_in(machine, at.CLASSES)[(page << 8) | (point & 255)]), size


@inline
def _class_at(machine: Block, text: Bytes, i: Int, end: Int) -> tuple[np.int64, np.int64]:
    """The class of what is read at byte `i`, a character or the end of the text, and its number of bytes."""
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
    """Where the character begins that is `count` before the one at byte `i`."""
    for _ in range(count):
        i = character_before(text, i)
    return i


@subroutine
def _back_over(machine: Block, text: Bytes, i: Int, some: Int) -> Int:
    """Where the characters before byte `i` begin that are all of the classes of set `some`."""
    over, n_classes = u8_in(machine, at.OVER), i64_in(machine, at.SETTINGS)[at.EDGE] + 1
    before = characters_back(text, i, 1)
    while over[some * n_classes + _class_at(machine, text, before, i)[0]]:
        i, before = before, characters_back(text, before, 1)
    return i


@subroutine
def _read_on(
    machine: Block, text: Bytes, i: Int, end: Int, state: Int, last: Int, before: Int
) -> tuple[Int, Int]:
    """Where the longest match ends that is told from `state` on until the automaton dies, and the class before.

    The character at byte `i` has led to `state`; `last` and `before` are what is returned if none is told.
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
    """Do what an entry says that is more than the end of a piece.

    Returned are `i`, `began`, `row` and `count`, and whether the next character to read is the one at this `i`,
    not the one behind it.

    The ends listed are written. Where too much has been read since a match was told, or since one might have
    begun, the automaton goes on here, and reading begins anew behind the match, or, where there is none, behind
    the character where it would have begun.
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
    """Read the character at byte `i`, or at `end` that there is none; returns the next `i`, `began`, `row`,
    `count`.

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
    """`cut_some`, but up to byte `stop` of a text that ends at `end`, however many pieces that is."""
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
    """Write where pieces of a text that ends at byte `end` begin and end, until there are `most` of them.

    `i` is the byte to read next, `began` where the piece at hand begins, `row` the row of the table (0 at the
    beginning of a text); returned are these three and the count, for the next call. The text is done when `i`
    is `end` and `row` is 0. `SPARE` pieces more than `most` may be written, and all text up to ``end + 3`` is
    readable.
    """
    while count < most and (i < end or row != 0):
        stop = min(i + most - count, end)  # there are no more pieces than bytes: nothing to count on the way
        i, began, row, count = cut_up_to(machine, text, i, began, row, (stop, end), starts, ends, count)
    return np.int64(i), np.int64(began), np.int64(row), np.int64(count)
