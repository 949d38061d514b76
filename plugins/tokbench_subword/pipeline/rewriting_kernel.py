"""Characters looked up in the tables of a `rewriting.Rewriting`, for a batch of UTF-8."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, copy_bytes_16, i32_in, i64_in, u8_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.splicing import Writer, copy_span, documents_of, note_edit

(
    LENGTHS,  # uint8 (256,): how many bytes an ASCII character becomes, those of its row in SHORTS, or LOOK_UP
    WIDTHS,  # uint8 (256,): `widths_by_first_byte`, 0 where a character is changed
    ENTRIES,  # int32 (0x110000,): see below
    STARTS,  # int32
    BLOB,  # uint8
    ORDERED_FROM,  # int64 (1,): characters with entries from this one on must not meet, nor one that vanishes
    SHORTS,  # uint8 (256 * SHORT,)
) = range(7)
"""The tables of a `Rewriting`. Of ENTRIES, 0 says that a character stays; k that it becomes
``BLOB[STARTS[2 * k]:STARTS[2 * k + 2]]``; -k that it stays and that is put around it, the bytes up to
``STARTS[2 * k + 1]`` before it, the others behind it.
"""
LOOK_UP, SHORT = 0xFF, 16
"""In LENGTHS: the byte is no whole character, or becomes nothing or more than SHORT bytes."""
_DECLINED = -1
"""In place of a position: the text is left to plain Python."""


@inline
def _first_changed(text: Bytes, position: Int, stop: Int, widths: Bytes, entries: Ids) -> np.int64:
    """Where the first character is that does not stay as it is, `stop` for none.

    So what replaces spaces leaves words that hold none. If all were written anew, a later pass of T5 over
    English would take 1.2 times as long.
    """
    while position < stop:
        if position + 8 <= stop and (
            widths[text[position]] == 1
            and widths[text[position + 1]] == 1
            and widths[text[position + 2]] == 1
            and widths[text[position + 3]] == 1
            and widths[text[position + 4]] == 1
            and widths[text[position + 5]] == 1
            and widths[text[position + 6]] == 1
            and widths[text[position + 7]] == 1
        ):
            position += 8
            continue
        width = np.int64(widths[text[position]])
        if width == 0:
            point, width = code_point(text, position)
            if entries[point] != 0:
                return np.int64(position)
        position += width
    return np.int64(stop)


@inline
def _rewrite_from(
    tables: Block, ordered_from: Int, text: Bytes, position: Int, stop: Int, out: Bytes, size: Int, room: Int
) -> tuple[np.int64, np.int64]:
    """Write a text from `position` to `stop` to ``out[size:]``; the new size and position.

    The size is `TOO_SMALL` where it would be more than `room` with the characters still to come, which go up to
    32 bytes beyond. The position is `_DECLINED` where characters meet that are entries from `ordered_from` on,
    or one of them meets one that vanishes: the text would be right, but not the places traced back through it.

    What becomes of ASCII is written without a branch. With one, a first pass of Llama-2, which replaces every
    space, would take 1.15 times as long over English and code, a second one 1.3 times.
    """
    lengths, widths, entries = u8_in(tables, LENGTHS), u8_in(tables, WIDTHS), i32_in(tables, ENTRIES)
    starts, blob, short = i32_in(tables, STARTS), u8_in(tables, BLOB), u8_in(tables, SHORTS)
    ordered_end = gone_at = np.int64(-1)  # where one of those ends, and where something vanished last
    while position < stop:
        # so much has room, whatever becomes of it
        until = min(stop, position + (room - size + position) // SHORT)
        while position < until:
            length = np.int64(lengths[text[position]])
            if length == LOOK_UP:
                break
            copy_bytes_16(short, SHORT * np.int64(text[position]), out, size)
            size += length
            position += 1
        if position == stop:
            break
        byte = text[position]
        width, entry = np.int64(widths[byte]), np.int64(0)
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
                return np.int64(splicing.TOO_SMALL), np.int64(position)
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
                    return np.int64(size), np.int64(_DECLINED)
                if length == 0:
                    gone_at = size
                else:
                    ordered_end = size
        position += width
    return np.int64(size), np.int64(position)


@subroutine
def _note_edits(tables: Block, batch: Block) -> None:
    """Note every character that now takes more or fewer bytes, and each declined document as a whole."""
    lengths, entries, starts = u8_in(tables, LENGTHS), i32_in(tables, ENTRIES), i32_in(tables, STARTS)
    text, offsets = u8_in(batch, splicing.TEXT), i64_in(batch, splicing.OFFSETS)
    ends, declined = i64_in(batch, splicing.OUT_OFFSETS), u8_in(batch, splicing.DECLINED)
    for document in range(i64_in(batch, splicing.NUMBERS)[splicing.N_TEXTS]):
        position, stop, size = offsets[document], offsets[document + 1], ends[document]
        if declined[document]:
            note_edit(batch, position, stop, ends[document + 1])
            position = stop
        while position < stop:
            width, length = np.int64(1), np.int64(lengths[text[position]])
            if length == LOOK_UP:
                point, width = code_point(text, position)
                entry, length = np.int64(entries[point]), np.int64(width)
                if entry != 0:
                    place = 2 * abs(entry)
                    length = np.int64(starts[place + 2]) - starts[place] + (width if entry < 0 else 0)
            size += length
            if length != width:
                note_edit(batch, position, position + width, size)
            position += width


@Writer
def rewrite(tables: Block, batch: Block) -> np.int64:
    """Write documents with every character as `rewriting_tables` have it; see `splicing`.

    Documents are declined where `_rewrite_from` says so.
    """
    widths, entries = u8_in(tables, WIDTHS), i32_in(tables, ENTRIES)
    ordered_from = i64_in(tables, ORDERED_FROM)[0]
    text, offsets, out_offsets, n_documents = documents_of(batch)
    out, declined = u8_in(batch, splicing.OUT), u8_in(batch, splicing.DECLINED)
    capacity = i64_in(batch, splicing.NUMBERS)[splicing.CAPACITY]
    end = offsets[n_documents]
    position = _first_changed(text, offsets[0], end, widths, entries)
    if position == end:
        return np.int64(splicing.UNCHANGED)
    # Held throughout: there is room for the rest as it is, so that only what grows needs a check.
    if end - offsets[0] + 32 > capacity:
        return np.int64(splicing.TOO_SMALL)
    size = copy_span(text, offsets[0], position, out, np.int64(0))
    room = capacity - end - 32
    for document in range(n_documents):
        stop = offsets[document + 1]
        if position < stop:
            size, position = _rewrite_from(tables, ordered_from, text, position, stop, out, size, room)
            if size == splicing.TOO_SMALL:
                return np.int64(splicing.TOO_SMALL)
            if position == _DECLINED:
                declined[document] = 1
                position = stop
        # `_first_changed` goes on into later documents: what it has copied of them is not of this one
        out_offsets[document + 1] = size - (position - stop)
    if i64_in(batch, splicing.NUMBERS)[splicing.MOST_EDITS] > 0:
        _note_edits(tables, batch)
    return size
