"""Rewrites the characters of a batch of UTF-8 by the tables of a `rewriting.Rewriting`."""

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
"""The tables of a `Rewriting`. An entry of 0 means that the character stays; k, that it becomes
``BLOB[STARTS[2 * k]:STARTS[2 * k + 2]]``; -k, that it stays with these bytes around it: those up to
``STARTS[2 * k + 1]`` before it, the others after it.
"""
LOOK_UP, SHORT = 0xFF, 16
"""In LENGTHS: the byte is not a whole character, or its result has no bytes or more than SHORT."""
_DECLINED = -1
"""Returned instead of a position: the text needs plain Python."""


@inline
def _first_changed(text: Bytes, position: Int, stop: Int, widths: Bytes, entries: Ids) -> np.int64:
    """The place of the first character that changes, `stop` if none does.

    A word without such a character is not rewritten; if all words were, a warm pass of T5 over English would
    take 1.2 times as long.
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
    """Rewrite a text from `position` to `stop` to ``out[size:]``; returns the new size and position.

    The size is `TOO_SMALL` if the result, with up to 32 bytes of padding, could need more than `room`. The
    position is `_DECLINED` if two characters with entries from `ordered_from` on stand side by side, or one of
    them beside a character that vanishes: the text would be right, but places traced back through it would not.

    ASCII is rewritten without a branch. With one, a cold pass of Llama-2, which replaces every space, would
    take 1.15 times as long over English and code, a warm one 1.3 times.
    """
    lengths, widths, entries = u8_in(tables, LENGTHS), u8_in(tables, WIDTHS), i32_in(tables, ENTRIES)
    starts, blob, short = i32_in(tables, STARTS), u8_in(tables, BLOB), u8_in(tables, SHORTS)
    ordered_end = gone_at = np.int64(-1)  # where one of those ends, and where something vanished last
    while position < stop:
        # there is room for this much, whatever it becomes
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
            copy_bytes_16(blob, begin, out, size)  # nearly always the whole result
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
    """Note an edit for every character whose length changed, and one for each declined document as a whole."""
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
    """Rewrite every character of the documents by `rewriting_tables`; see `splicing`.

    `_rewrite_from` decides which documents are declined.
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
    # Always true here: there is room for the rest of the text unchanged, so only growth needs a check.
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
        # `_first_changed` may run into later documents, whose text does not belong to this one
        out_offsets[document + 1] = size - (position - stop)
    if i64_in(batch, splicing.NUMBERS)[splicing.MOST_EDITS] > 0:
        _note_edits(tables, batch)
    return size
