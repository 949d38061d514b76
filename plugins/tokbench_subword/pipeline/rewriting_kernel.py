"""Kernels that rewrite a batch of UTF-8: code points by a table, literals, the edges of documents, bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.bits import trailing_zeros
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import copy_bytes_16, i32_in, load_u64, pointer, u8_in
from tokbench.kernels.unicode_classes import SPACE
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.rewriting import LOOK_UP
from tokbench_subword.pipeline.splicing import TOO_SMALL, UNCHANGED, copy_span, finished

DECLINED = -1
"""In place of a position: the text is left to plain Python."""
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
def rewrite_from(
    tables: Any, ordered_from: Any, text: Any, position: Any, stop: Any, out: Any, size: Any, room: Any
) -> Any:
    """Write a text from `position` to `stop` to ``out[size:]``; the new size and position.

    The size is `TOO_SMALL` where it would be more than `room` with the characters still to come, which go up to
    32 bytes beyond. The position is `DECLINED` where characters meet that are entries from `ordered_from` on.
    """
    single, steps, entries = u8_in(tables, 0), u8_in(tables, 1), i32_in(tables, 2)
    starts, blob = i32_in(tables, 3), u8_in(tables, 4)
    ordered_end = np.int64(-1)
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
            if entry >= ordered_from:
                if size - length == ordered_end:
                    return size, np.int64(DECLINED)
                ordered_end = size
        position += width
    return size, position


@kernel
def rewrite(
    tables: Any, ordered_from: Any, data: Any, offsets: Any, out_array: Any, out_offsets: Any, declined: Any
) -> Any:
    """Write documents with every character as `RewritingTables` have it; the size, or why not. See `splicing`.

    Documents are declined where characters meet that are entries from `ordered_from` on.
    """
    block, steps, entries = pointer(tables), u8_in(tables, 1), i32_in(tables, 2)
    text, out, capacity = pointer(data), pointer(out_array), np.int64(len(out_array))
    n_documents = len(offsets) - 1
    end = offsets[n_documents]
    position = _first_changed(text, offsets[0], end, steps, entries)
    if position == end:
        return np.int64(UNCHANGED)
    # Held throughout: there is room for the rest as it is, so that only what grows needs a check.
    if end - offsets[0] + 32 > capacity:
        return np.int64(TOO_SMALL)
    size = copy_span(text, offsets[0], position, out, 0)
    out_offsets[0] = 0
    room = capacity - end - 32
    for document in range(n_documents):
        stop = offsets[document + 1]
        if position < stop:
            size, position = rewrite_from(block, ordered_from, text, position, stop, out, size, room)
            if size == TOO_SMALL:
                return size
            if position == DECLINED:
                declined[document] = 1
                position = stop
        out_offsets[document + 1] = size - (position - stop)
    return size


@kernel
def write_origins(
    tables: Any, ordered_from: Any, data: Any, offsets: Any, numbers: Any, begins: Any, known: Any
) -> Any:
    """The character that each byte of a document comes from which `rewrite` writes, to `numbers` (int32).

    ``begins[d + 1]`` is set to where those of document d end, and `known` to False for documents that `rewrite`
    declines. Returns how many there are, or that there is no room for them.
    """
    entries, starts = i32_in(tables, 2), i32_in(tables, 3)
    text, out, size = pointer(data), pointer(numbers), np.int64(0)
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        character, ordered_end = np.int32(0), np.int64(-1)
        while position < stop:
            point, width = code_point(text, position)
            entry, length = np.int64(entries[point]), np.int64(width)
            if entry != 0:
                place = 2 * abs(entry)
                length = np.int64(starts[place + 2]) - starts[place] + (width if entry < 0 else 0)
            if size + length > len(numbers):
                return np.int64(TOO_SMALL)
            if entry >= ordered_from:
                known[document] = known[document] and size != ordered_end
                ordered_end = size + length
            for index in range(length):
                out[size + index] = character
            size += length
            character += np.int32(1)
            position += width
        begins[document + 1] = size
    return size


@inline
def _copy_bytes(source: Any, length: Any, out: Any, size: Any) -> Any:
    """Copy so many bytes, and no more, to ``out[size:]``; the new size."""
    for index in range(length):
        out[size + index] = source[index]
    return size + length


@inline
def _equals(word: Any, byte: Any) -> Any:
    """Which bytes of a word equal one, by their high bits; above the first that does, others may be set."""
    difference = word ^ byte * _LOW
    return (difference - _LOW) & ~difference & _HIGH


@kernel
def replace_literal(
    literal: Any, content: Any, data: Any, offsets: Any, out_array: Any, out_offsets: Any
) -> Any:
    """Write documents with `content` in the place of every `literal`, both UTF-8; the size, or why not."""
    text, out, capacity = pointer(data), pointer(out_array), np.int64(len(out_array))
    wanted, new, length = pointer(literal), pointer(content), np.int64(len(literal))
    first, last = np.uint64(literal[0]), np.uint64(literal[length - 1])
    n_documents = len(offsets) - 1
    out_offsets[0] = 0
    size, copied = np.int64(0), offsets[0]
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
            if size + position - copied + len(content) + 32 > capacity:
                return np.int64(TOO_SMALL)
            size = copy_span(text, copied, position, out, size)
            size = _copy_bytes(new, len(content), out, size)
            position += length
            copied = position
        out_offsets[document + 1] = size + stop - copied
    return finished(text, copied, offsets, out, size, capacity)


@kernel
def replace_spans(
    spans: Any, counts: Any, content: Any, data: Any, offsets: Any, out_array: Any, out_offsets: Any
) -> Any:
    """Write documents with `content` in the place of each of `spans`; the size, or why not.

    `spans` are bytes of `data`, ``(n, 2)``, in order; ``counts[d]`` of them lie before document d.
    """
    text, out, capacity, new = pointer(data), pointer(out_array), np.int64(len(out_array)), pointer(content)
    out_offsets[0] = 0
    size, copied = np.int64(0), offsets[0]
    for document in range(len(offsets) - 1):
        for k in range(counts[document], counts[document + 1]):
            if size + spans[k, 0] - copied + len(content) + 32 > capacity:
                return np.int64(TOO_SMALL)
            size = copy_span(text, copied, spans[k, 0], out, size)
            size = _copy_bytes(new, len(content), out, size)
            copied = spans[k, 1]
        out_offsets[document + 1] = size + offsets[document + 1] - copied
    return finished(text, copied, offsets, out, size, capacity)


@kernel
def put_before_and_strip(
    head: Any, left: Any, right: Any, classes: Any, data: Any, offsets: Any, out_array: Any, out_offsets: Any
) -> Any:
    """Write documents without white space at their `left` and `right`, and `head` before those that have text.

    `classes` is `class_table`. The size, or why not.
    """
    text, out, capacity = pointer(data), pointer(out_array), np.int64(len(out_array))
    new, kinds = pointer(head), pointer(classes)
    n_documents = len(offsets) - 1
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
        length = np.int64(len(head)) if end > first else np.int64(0)
        if first > begin or length > 0:
            if size + begin - copied + length + 32 > capacity:
                return np.int64(TOO_SMALL)
            size = copy_span(text, copied, begin, out, size)
            size = _copy_bytes(new, length, out, size)
            copied = first
        out_offsets[document + 1] = size + end - copied
        if end < stop:
            if size + end - copied + 32 > capacity:
                return np.int64(TOO_SMALL)
            size = copy_span(text, copied, end, out, size)
            copied = stop
    return finished(text, copied, offsets, out, size, capacity)


@kernel
def spell_bytes(spellings: Any, data: Any, offsets: Any, out_array: Any, out_offsets: Any) -> Any:
    """Write documents with every byte as its character of the byte alphabet; the size, or why not.

    `spellings` is uint8 of shape ``(512,)``: the one or two bytes of each character, 0 for none.
    """
    text, out, each = pointer(data), pointer(out_array), pointer(spellings)
    n_documents = len(offsets) - 1
    position, end = offsets[0], offsets[n_documents]
    if 2 * (end - position) + 32 > len(out_array):
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
