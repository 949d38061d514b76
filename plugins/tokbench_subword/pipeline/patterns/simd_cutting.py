"""The kernel that cuts many texts into pieces, four parts of text at once.

In `cutting`, each step of a `Machine` depends on the one before, and the processor waits for each lookup. So
`cut_units` reads four parts of 16 bytes at once, each starting from all rows that it could start from
(`lanes`); when the row at its start is known, it picks the results for that row. Texts are read as one, with an
end marker after each. Text that is mostly not ASCII is read character by character, some hundred bytes at a
time.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import ALL, ONE, WINDOW, count_bits, in_range_64, trailing_zeros, write_bits
from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.lanes import LANES, PART, PARTS, first_lanes, look_up_lanes, pick_lanes, store_lanes
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Int,
    Ints,
    Word,
    copy_bytes_64,
    i64_in,
    on_stack,
    pointer,
    u8_in,
    u32_in,
)
from tokbench_subword.pipeline.patterns import machine as at
from tokbench_subword.pipeline.patterns.cutting import SLOW, SPARE, act, class_of, cut_up_to

_STATES = LANES * PART
"""Bytes of the states of a part."""
_ROOM_READ, _ROOM_TOLD, _ROOM_STATES = 2 * WINDOW + SPARE, WINDOW + 1, PARTS * _STATES
_MANY = 12
"""With more non-ASCII characters than this in all parts, reading them one by one is quicker."""
_ALONE = 8 * WINDOW
"""How many bytes are then read character by character."""
BEYOND = _ALONE + SPARE
"""How many pieces more than asked for `cut_units` may write."""
Position = tuple[Int, Int, Int, Int]
"""The current text, the byte to read next, the begin of the current piece, and the row."""


@inline
def _read_characters(machine: Block, text: Bytes, i: Int, beyond: Word, read: Bytes, first: Int) -> None:
    """Replace non-ASCII characters in `read` by their classes.

    From `first` on, `read` has the bytes of the text from `i` on; the mask `beyond` marks those that are not
    ASCII. The first byte of such a character becomes its class, the others `NOTHING`.
    """
    while beyond:
        k = trailing_zeros(beyond)
        one, size = np.int64(at.NOTHING), np.int64(1)
        if text[i + k] >= 0xC0:  # else the rest of a character that began before
            one, size = class_of(machine, text, i + k)
            one += at.WIDE
        read[first + k] = one
        for rest in range(1, size):
            read[first + k + rest] = at.NOTHING
        beyond &= ~((ONE << np.uint64(size)) - ONE << np.uint64(k))


@subroutine
def _gather(machine: Block, text: Bytes, units: Ints, unit: Int, last: Int, i: Int, read: Bytes) -> np.int64:
    """Write the next input to `read`: from byte `i` of text `unit` on, then the texts after it, up to `last`.

    Returns its size, which is `WINDOW` unless the texts end; 0 if much of it is not ASCII. `read` has room for
    twice as much.
    """
    count, many = np.int64(0), np.int64(0)
    edge = at.WIDE + i64_in(machine, at.SETTINGS)[at.EDGE]
    while count < WINDOW and unit < last:
        n = min(WINDOW - count, units[2 * unit + 1] - i)
        if n > 0:
            copy_bytes_64(text, i, read, count)
            beyond = in_range_64(text, i, 0, 0x80, 0x80) & ALL >> np.uint64(WINDOW - n)
            if beyond:
                many += count_bits(beyond & in_range_64(text, i, 0, 0xC0, 0x40))
                if many > _MANY:
                    return np.int64(0)
                _read_characters(machine, text, i, beyond, read, count)
            count += n
        if count < WINDOW:
            read[count] = edge
            count += 1
            unit += 1
            i = units[2 * unit] if unit < last else i
    return count


@inline
def _run(steps: Bytes, read: Bytes, states: Bytes) -> None:
    """Read all parts, each from every row.

    For each part and each of its bytes, `states` receives the next row and its flags, for each of `LANES` rows.
    """
    one = two = three = four = first_lanes()
    for k in range(PART):
        one = look_up_lanes(steps, LANES * np.int64(read[k]), one)
        two = look_up_lanes(steps, LANES * np.int64(read[PART + k]), two)
        three = look_up_lanes(steps, LANES * np.int64(read[2 * PART + k]), three)
        four = look_up_lanes(steps, LANES * np.int64(read[3 * PART + k]), four)
        store_lanes(states, LANES * k, one)
        store_lanes(states, _STATES + LANES * k, two)
        store_lanes(states, 2 * _STATES + LANES * k, three)
        store_lanes(states, 3 * _STATES + LANES * k, four)


@inline
def _choose(states: Bytes, lane: Int, told: Bytes) -> Int:
    """Pick the results of `_run` for a text that begins at row `lane`. Returns the row at its end.

    `told` receives the row at the beginning, then for each byte the row after it, with its flags.
    """
    told[0], last = lane, _STATES - LANES
    one = lane
    two = _STATES + (np.int64(states[one + last]) & (LANES - 1))
    three = 2 * _STATES + (np.int64(states[two + last]) & (LANES - 1))
    four = 3 * _STATES + (np.int64(states[three + last]) & (LANES - 1))
    pick_lanes(states, (one, two, three, four), told, 1)
    return np.int64(states[four + last]) & (LANES - 1)


@subroutine
def _one_by_one(
    machine: Block, text: Bytes, end: Int, place: tuple[Int, Int, Int], starts: Ints, ends: Ints, count: Int
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Read some characters of a text that ends at byte `end`, one after another.

    `place` is the byte to read next, the begin of the current piece, and the row; all are returned, with
    `count`.
    """
    i, began, row = place
    while i < end and text[i] & 0xC0 == 0x80:  # of a character that has been read
        i += 1
    return cut_up_to(machine, text, i, began, row, (min(i + _ALONE, end), end), starts, ends, count)


@subroutine
def cut_units(
    machine: Block,
    text: Bytes,
    units: Ints,
    last: Int,
    position: Position,
    starts: Ints,
    ends: Ints,
    counts: Ints,
    most: Int,
) -> tuple[np.int64, np.int64, np.int64, np.int64, np.int64]:
    """Write the begin and end of the pieces of texts, until there are `most` of them or text `last` is reached.

    Text u is ``text[units[2 * u]:units[2 * u + 1]]``. `position` is the current text, the byte to read next,
    the begin of the current piece, and the row (0 at the beginning of a text). It is returned for the next
    call, with the count. ``counts[u + 1]`` receives the number of pieces up to the end of text u. Up to
    `BEYOND` pieces more than `most` may be written; `PADDING` readable bytes must follow the texts.

    By itself, it takes 0.5 of the time of `cut_some` (English, code; GPT-2, cl100k, o200k), and 0.75 in 21
    languages.
    """
    unit, i, began, row = position
    table, ascii_classes = u32_in(machine, at.TABLE), u8_in(machine, at.ASCII_CLASSES)
    steps, settings = u8_in(machine, at.STEPS), i64_in(machine, at.SETTINGS)
    shift, edge, has_steps = settings[at.SHIFT], at.WIDE + settings[at.EDGE], settings[at.HAS_STEPS] != 0
    read, told, states = on_stack(_ROOM_READ), on_stack(_ROOM_TOLD), on_stack(_ROOM_STATES)
    count = np.int64(0)
    while count < most and unit < last:
        size = _gather(machine, text, units, unit, last, i, read) if has_steps else np.int64(0)
        if size == 0:
            end = units[2 * unit + 1]
            i, began, row, count = _one_by_one(machine, text, end, (i, began, row), starts, ends, count)
            if i == end and row == 0:
                counts[unit + 1] = count
                unit += 1
                i = began = units[2 * unit] if unit < last else i
            continue
        _run(steps, read, states)
        lane = _choose(states, row >> shift, told)
        mask = in_range_64(told, 1, 0, at.MARK, at.MARK) & ALL >> np.uint64(WINDOW - size)
        back = in_range_64(told, 1, 0xFF ^ at.ONE_BACK, 0xFF, 1)
        # seldom: an end that is neither here nor one byte before
        wide = in_range_64(read, 0, 0, at.WIDE, at.WIDE) << ONE | ONE
        seldom = mask & (in_range_64(told, 1, 0xFF ^ at.MORE, 0xFF, 1) | back & wide)
        zero, anew = i, False  # the place in the current text of the first byte read
        while mask and not anew:
            often = mask & (seldom & ~seldom + ONE) - ONE  # up to the next of the others
            if often:
                starts[count] = began
                places = often & ~back | (often & back) >> ONE
                write_bits(starts, count + 1, zero, places)
                count = write_bits(ends, count, zero, places)
                began = ends[count - 1]
                mask ^= often
                if not mask:
                    break
            # the seldom ones are looked up in the table, by the row before and the class read
            k = trailing_zeros(mask)
            mask, seldom, i = mask & mask - ONE, seldom & seldom - ONE, zero + k
            before, symbol = np.int64(told[k]) & (LANES - 1), np.int64(read[k])
            one = np.int64(ascii_classes[symbol]) if symbol < at.WIDE else symbol - at.WIDE
            entry = np.int64(table[(before << shift) + one])
            starts[count], ends[count] = began, i
            count += entry & at.KEEP
            began = i if entry & at.BEGIN else began
            if entry & SLOW:
                end = units[2 * unit + 1]
                i, began, row, count, anew = act(machine, text, i, end, began, entry, starts, ends, count)
            if symbol == edge:
                counts[unit + 1] = count
                unit += 1
                if unit < last:
                    began = units[2 * unit]
                    zero = began - k - 1
        if not anew:
            i, row = zero + size, lane << shift
    return np.int64(unit), np.int64(i), np.int64(began), np.int64(row), np.int64(count)


@kernel
def cut_texts(
    machine: Block, text: Bytes, units: Ints, position: Ints, starts: Ints, ends: Ints, counts: Ints
) -> np.int64:
    """`cut_units` of the texts ``text[units[u, 0]:units[u, 1]]``, as many pieces as `starts` and `ends` hold.

    `position` is updated for the next call. Returns the number of pieces; all texts are done when the current
    text is past the last.
    """
    here = (position[0], position[1], position[2], position[3])
    most = np.int64(len(starts) - BEYOND)
    tables, data, bounds = pointer(machine), pointer(text), pointer(units)
    begins, behind, told = pointer(starts), pointer(ends), pointer(counts)
    unit, i, began, row, count = cut_units(tables, data, bounds, len(units), here, begins, behind, told, most)
    position[0], position[1], position[2], position[3] = unit, i, began, row
    return count
