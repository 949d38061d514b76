"""Kernels that rewrite a batch of UTF-8: code points by a table, literals, the edges of documents, bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.bits import trailing_zeros
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import copy_bytes_16, i32_in, i64_in, keep, load_u64, pointer, u8_in, u64_in
from tokbench.kernels.unicode_classes import SPACE
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.cutting import SPARE, cut_some
from tokbench_subword.pipeline.rewriting import LOOK_UP
from tokbench_subword.pipeline.splicing import (
    CAPACITY,
    DECLINED,
    N_TEXTS,
    NUMBERS,
    OFFSETS,
    OUT,
    OUT_OFFSETS,
    TEXT,
    TOO_SMALL,
    UNCHANGED,
    Writer,
    copy_span,
    finished,
    splice,
)

_DECLINED = -1
"""In place of a position: the text is left to plain Python."""
_PIECES = 64
"""Matches of a pattern that are found at a time."""
_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inline
def _first_changed(text: Any, position: Any, stop: Any, steps: Any, entries: Any) -> Any:
    """Where the first character is that does not stay as it is, `stop` for none."""
    while position < stop:
        if position + 8 <= stop and (
            steps[text[position]] == 1
            and steps[text[position + 1]] == 1
            and steps[text[position + 2]] == 1
            and steps[text[position + 3]] == 1
            and steps[text[position + 4]] == 1
            and steps[text[position + 5]] == 1
            and steps[text[position + 6]] == 1
            and steps[text[position + 7]] == 1
        ):
            position += 8
            continue
        width = np.int64(steps[text[position]])
        if width == 0:
            point, width = code_point(text, position)
            if entries[point] != 0:
                return position
        position += width
    return stop


@inline
def _rewrite_from(
    tables: Any, ordered_from: Any, text: Any, position: Any, stop: Any, out: Any, size: Any, room: Any
) -> Any:
    """Write a text from `position` to `stop` to ``out[size:]``; the new size and position.

    The size is `TOO_SMALL` where it would be more than `room` with the characters still to come, which go up to
    32 bytes beyond. The position is `_DECLINED` where characters meet that are entries from `ordered_from` on,
    or one of them meets one that vanishes: text would be the same, but not what a place is led back to.
    """
    single, steps, entries = u8_in(tables, 0), u8_in(tables, 1), i32_in(tables, 2)
    starts, blob = i32_in(tables, 3), u8_in(tables, 4)
    ordered_end = gone_at = np.int64(-1)  # where one of those ends, and where something vanished last
    while position < stop:
        byte = text[position]
        new = single[byte]
        if new != LOOK_UP:
            out[size] = new
            size += 1
            position += 1
            continue
        width, entry = np.int64(steps[byte]), np.int64(0)
        if width == 0:
            point, width = code_point(text, position)
            entry = np.int64(entries[point])
        if entry == 0:
            for index in range(4):
                out[size + index] = text[position + index]
            size += width
        else:
            place = 2 * abs(entry)
            begin, middle, behind = starts[place], starts[place + 1], starts[place + 2]
            length = np.int64(behind - begin)
            if size + length - position > room:
                return np.int64(TOO_SMALL), position
            copy_bytes_16(blob, begin, out, size)  # nearly always all of it
            if length > 16:
                copy_span(blob, begin + 16, behind, out, size + 16)
            if entry < 0:
                size += middle - begin
                for index in range(4):
                    out[size + index] = text[position + index]
                size = copy_span(blob, middle, behind, out, size + width)
            else:
                size += length
            if entry >= ordered_from or length == 0:
                if size - length == ordered_end or (entry >= ordered_from and size - length == gone_at):
                    return size, np.int64(_DECLINED)
                if length == 0:
                    gone_at = size
                else:
                    ordered_end = size
        position += width
    return size, position


@Writer
def rewrite(tables: Any, batch: Any) -> Any:
    """Write documents with every character as `RewritingTables` have it; see `splicing`.

    Documents are declined where characters meet that are entries from `ordered_from` on.
    """
    steps, entries, ordered_from = u8_in(tables, 1), i32_in(tables, 2), i64_in(tables, 5)[0]
    text, offsets, declined = u8_in(batch, TEXT), i64_in(batch, OFFSETS), u8_in(batch, DECLINED)
    out, out_offsets, numbers = u8_in(batch, OUT), i64_in(batch, OUT_OFFSETS), i64_in(batch, NUMBERS)
    capacity, n_documents = numbers[CAPACITY], numbers[N_TEXTS]
    end = offsets[n_documents]
    position = _first_changed(text, offsets[0], end, steps, entries)
    if position == end:
        return np.int64(UNCHANGED)
    # Held throughout: there is room for the rest as it is, so that only what grows needs a check.
    if end - offsets[0] + 32 > capacity:
        return np.int64(TOO_SMALL)
    size = copy_span(text, offsets[0], position, out, np.int64(0))
    out_offsets[0] = 0
    room = capacity - end - 32
    for document in range(n_documents):
        stop = offsets[document + 1]
        if position < stop:
            size, position = _rewrite_from(tables, ordered_from, text, position, stop, out, size, room)
            if size == TOO_SMALL:
                return size
            if position == _DECLINED:
                declined[document] = 1
                position = stop
        out_offsets[document + 1] = size - (position - stop)
    return size


@kernel
def before_rewriting(tables: Any, data: Any, offsets: Any, ends: Any, declined: Any, places_: Any) -> None:
    """Lead places, int64 ``(n, 2)``, in what `rewrite` has made of texts back into these.

    What it has made of text t ends at ``ends[t + 1]``. Places in texts that it has declined come to be any.
    """
    single, entries, starts = u8_in(tables, 0), i32_in(tables, 2), i32_in(tables, 3)
    text, places, count = pointer(data), pointer(places_), 2 * len(places_)
    begun, ended = np.int64(0), np.int64(1)  # the next to be led back: a begin, and an end
    for t in range(len(offsets) - 1):
        position, stop, size, new_stop = offsets[t], offsets[t + 1], ends[t], ends[t + 1]
        first = position
        while first < stop and single[text[first]] != LOOK_UP:
            first += 1
        shift = position - size
        if first == stop or declined[t]:  # every byte has become one, or it does not matter
            position, size = stop, new_stop
        while begun < count and places[begun] < size:
            places[begun] = min(places[begun] + shift, stop - 1)
            begun += 2
        while ended < count and places[ended] <= size:
            places[ended] = min(places[ended] + shift, stop)
            ended += 2
        while position < stop:
            width = length = np.int64(1)
            if single[text[position]] == LOOK_UP:
                point, width = code_point(text, position)
                entry, length = np.int64(entries[point]), np.int64(width)
                if entry != 0:
                    place = 2 * abs(entry)
                    length = np.int64(starts[place + 2]) - starts[place] + (width if entry < 0 else 0)
            size += length
            while begun < count and places[begun] < size:
                places[begun] = position
                begun += 2
            position += width
            while ended < count and places[ended] <= size:
                places[ended] = position
                ended += 2


@inline
def _equals(word: Any, byte: Any) -> Any:
    """Which bytes of a word equal one, by their high bits; above the first that does, others may be set."""
    difference = word ^ byte * _LOW
    return (difference - _LOW) & ~difference & _HIGH


@Writer
def replace_literal(tables: Any, batch: Any) -> Any:
    """Write documents with one literal in the place of another: both as UTF-8, and how long they are."""
    wanted, new, length, n_new = u8_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0], i64_in(tables, 2)[1]
    text, offsets, out_offsets = u8_in(batch, TEXT), i64_in(batch, OFFSETS), i64_in(batch, OUT_OFFSETS)
    n_documents = i64_in(batch, NUMBERS)[N_TEXTS]
    first, last = np.uint64(wanted[0]), np.uint64(wanted[length - 1])
    out_offsets[0] = 0
    size, copied, none = np.int64(0), offsets[0], np.int64(0)
    for document in range(n_documents):
        position, stop = offsets[document], offsets[document + 1]
        while position + length <= stop:
            found = _equals(load_u64(text, position), first)
            found &= _equals(load_u64(text, position + length - 1), last)
            if found == np.uint64(0):
                position += 8
                continue
            position += trailing_zeros(found) >> 3
            matched = np.int64(0)
            if position + length <= stop:
                while matched < length and text[position + matched] == wanted[matched]:
                    matched += 1
            if matched < length:
                position += 1
                continue
            size = splice(batch, copied, position, position + length, new, none, n_new, size)
            if size < 0:
                return size
            position += length
            copied = position
        out_offsets[document + 1] = size + stop - copied
    return finished(batch, copied, size)


@Writer
def replace_matches(tables: Any, batch: Any) -> Any:
    """Write documents with a text in the place of every piece that a machine of `cutting` keeps.

    The tables: the machine; the text; how long it is.
    """
    machine, new, n_new = u64_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0]
    text, offsets, out_offsets = u8_in(batch, TEXT), i64_in(batch, OFFSETS), i64_in(batch, OUT_OFFSETS)
    n_documents = i64_in(batch, NUMBERS)[N_TEXTS]
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    out_offsets[0] = 0
    size, copied, most, none = np.int64(0), offsets[0], np.int64(_PIECES), np.int64(0)
    for document in range(n_documents):
        i, began, row, end = offsets[document], offsets[document], none, offsets[document + 1]
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, text, i, began, row, end, starts, ends, none, most)
            for k in range(count):
                size = splice(batch, copied, starts[k], ends[k], new, none, n_new, size)
                if size < 0:
                    return size
                copied = ends[k]
        out_offsets[document + 1] = size + end - copied
    keep(pieces)
    return finished(batch, copied, size)


@Writer
def put_before_and_strip(tables: Any, batch: Any) -> Any:
    """Write documents without white space at their edges, and with a text before those that are not empty then.

    The tables: the text; `class_table`; how long the text is, whether the left is stripped, and the right.
    """
    new, kinds, settings = u8_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)
    n_new, left, right, none = settings[0], settings[1] != 0, settings[2] != 0, np.int64(0)
    text, offsets, out_offsets = u8_in(batch, TEXT), i64_in(batch, OFFSETS), i64_in(batch, OUT_OFFSETS)
    n_documents = i64_in(batch, NUMBERS)[N_TEXTS]
    out_offsets[0] = 0
    size, copied = np.int64(0), offsets[0]
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        first, end = begin, stop
        while left and first < end:
            point, width = code_point(text, first)
            if kinds[point] & SPACE == 0:
                break
            first += width
        while right and end > first:
            before = end - 1
            while text[before] & 0xC0 == 0x80:
                before -= 1
            point, _ = code_point(text, before)
            if kinds[point] & SPACE == 0:
                break
            end = before
        if first > begin:
            size = splice(batch, copied, begin, first, new, none, none, size)
            copied = first
        if end > first and n_new > 0 and size >= 0:
            size = splice(batch, copied, first, first, new, none, n_new, size)
            copied = first
        out_offsets[document + 1] = size + end - copied
        if end < stop and size >= 0:
            size = splice(batch, copied, end, stop, new, none, none, size)
            copied = stop
        if size < 0:
            return size
    return finished(batch, copied, size)


@Writer
def spell_bytes(tables: Any, batch: Any) -> Any:
    """Write documents with every byte as its character of the byte alphabet.

    The table is uint8 of shape ``(512,)``: the one or two bytes of each character, 0 for none.
    """
    each, numbers = u8_in(tables, 0), i64_in(batch, NUMBERS)
    text, offsets = u8_in(batch, TEXT), i64_in(batch, OFFSETS)
    out, out_offsets, n_documents = u8_in(batch, OUT), i64_in(batch, OUT_OFFSETS), numbers[N_TEXTS]
    position, end = offsets[0], offsets[n_documents]
    if 2 * (end - position) + 32 > numbers[CAPACITY]:
        return np.int64(TOO_SMALL)
    size = np.int64(0)
    out_offsets[0] = 0
    for document in range(n_documents):
        while position < offsets[document + 1]:
            byte = np.int64(text[position])
            second = each[2 * byte + 1]
            out[size], out[size + 1] = each[2 * byte], second
            size += 2 if second != 0 else 1
            position += 1
        out_offsets[document + 1] = size
    return np.int64(UNCHANGED) if size == end - offsets[0] else size
