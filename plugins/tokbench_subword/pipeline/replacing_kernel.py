"""Kernels that rewrite a batch of UTF-8.

They replace literals or matches of a pattern, strip white space, put a prefix before documents or pieces, turn
each piece into a text of its own, or write bytes in the byte alphabet.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import (
    PADDING,
    Block,
    Bytes,
    Word,
    i64_in,
    keep,
    load_u64,
    pointer,
    u8_in,
    u64_in,
)
from tokbench.kernels.unicode_classes import white_space
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.patterns.cutting import SPARE, cut_some
from tokbench_subword.pipeline.splicing import (
    BoundWriter,
    Writer,
    copy_span,
    documents_of,
    finished,
    note_edit,
    splice,
)

_PIECES = 64
"""How many pieces are searched for at once."""
_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inline
def _equals(word: Word, byte: Word) -> np.uint64:
    """A word whose high bits mark the bytes equal to `byte`; only the lowest mark is reliable."""
    difference = word ^ byte * _LOW
    return (difference - _LOW) & ~difference & _HIGH


@Writer
def replace_literal(tables: Block, batch: Block) -> np.int64:
    """Replace one literal by another in all documents.

    The tables: the old literal and the new one, as UTF-8, and their lengths. With `replace_matches` instead,
    encoding by ALBERT's tokenizer.json, which replaces two literals, takes 1.2 to 1.6 times as long.
    """
    wanted, new, length, n_new = u8_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0], i64_in(tables, 2)[1]
    text, offsets, out_offsets, n_documents = documents_of(batch)
    first, last = np.uint64(wanted[0]), np.uint64(wanted[length - 1])
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
            if position + length > stop or not equal_bytes(text, position, wanted, none, length):
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
def replace_matches(tables: Block, batch: Block) -> np.int64:
    """Replace every piece that a machine of `cutting` keeps by one text.

    The tables: the machine, the text and its length.
    """
    machine, new, n_new = u64_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0]
    text, offsets, out_offsets, n_documents = documents_of(batch)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
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
def write_pieces(machine: Block, batch: Block) -> np.int64:
    """Make each piece that a machine of `cutting` finds a text of its own."""
    source, offsets, new_offsets, n_texts = documents_of(batch)
    numbers, target = i64_in(batch, splicing.NUMBERS), u8_in(batch, splicing.OUT)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    at, written, most, none = np.int64(0), np.int64(0), np.int64(_PIECES), np.int64(0)
    if offsets[n_texts] - offsets[0] + 32 > numbers[splicing.CAPACITY]:
        return np.int64(splicing.TOO_SMALL)
    for s in range(n_texts):
        i, began, row, end = offsets[s], offsets[s], none, offsets[s + 1]
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, source, i, began, row, end, starts, ends, none, most)
            if written + count > numbers[splicing.MOST_TEXTS]:
                return np.int64(splicing.TOO_SMALL)
            for k in range(count):
                at = copy_span(source, starts[k], ends[k], target, at)
                written += 1
                new_offsets[written] = at
    numbers[splicing.N_TEXTS] = written
    keep(pieces)
    return at


@Writer
def prefix_pieces(tables: Block, batch: Block) -> np.int64:
    """Put a prefix before each piece of the texts, and drop what lies between the pieces.

    The tables: a machine of `cutting`; the prefix; its length, and a byte that counts as the prefix. A piece
    that already begins with the prefix or with that byte stays as it is.
    """
    machine, new, n_new, like = u64_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0], i64_in(tables, 2)[1]
    text, offsets, out_offsets, n_documents = documents_of(batch)
    numbers, first = i64_in(batch, splicing.NUMBERS), np.int64(new[0])
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    out, size, most, none = u8_in(batch, splicing.OUT), np.int64(0), np.int64(_PIECES), np.int64(0)
    for document in range(n_documents):
        i, began, row, end = offsets[document], offsets[document], none, offsets[document + 1]
        reached = i  # by the piece before
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, text, i, began, row, end, starts, ends, none, most)
            if count > 0 and size + ends[count - 1] - reached + count * n_new + 32 > numbers[splicing.CAPACITY]:
                return np.int64(splicing.TOO_SMALL)
            for k in range(count):
                begin, gone = starts[k], reached
                reached = ends[k]
                if begin > gone:
                    note_edit(batch, gone, begin, size)
                byte, length = np.int64(text[begin]), reached - begin
                there = byte == first and length >= n_new and equal_bytes(text, begin, new, none, n_new)
                if length > 0 and not there and byte != like:
                    size = copy_span(new, none, n_new, out, size)
                    note_edit(batch, begin, begin, size)
                size = copy_span(text, begin, reached, out, size)
        if end > reached:
            note_edit(batch, reached, end, size)
        out_offsets[document + 1] = size
    keep(pieces)
    return size if numbers[splicing.N_EDITS] > 0 else np.int64(splicing.UNCHANGED)


@Writer
def rewrite_edges(tables: Block, batch: Block) -> np.int64:
    """Strip white space from the edges of documents, and put a prefix before those that are not empty then.

    The tables: the prefix; `white_space`; flags, uint8, of the first documents: 1 if a document gets the prefix
    (all documents after the flagged ones do); and numbers: the prefix's length; whether to strip on the left;
    and on the right; whether a document that already begins with the prefix is left alone; the number of flags.
    """
    new, spaces, wanted, numbers = u8_in(tables, 0), u8_in(tables, 1), u8_in(tables, 2), i64_in(tables, 3)
    n_new, n_wanted = numbers[0], numbers[4]
    left, right, once = numbers[1] != 0, numbers[2] != 0, numbers[3] != 0
    text, offsets, out_offsets, n_documents = documents_of(batch)
    size, copied, none = np.int64(0), offsets[0], np.int64(0)
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        first, end = begin, stop
        while left and first < end:
            point, width = code_point(text, first)
            if spaces[point] == 0:
                break
            first += width
        while right and end > first:
            before = character_before(text, end)
            point, _ = code_point(text, before)
            if spaces[point] == 0:
                break
            end = before
        there = once and end - first >= n_new and equal_bytes(text, first, new, none, n_new)
        n_put = none if first == end or there or (document < n_wanted and wanted[document] == 0) else n_new
        if first > begin or n_put > 0:
            size = splice(batch, copied, begin, first, new, none, n_put, size)
            copied = first
        out_offsets[document + 1] = size + end - copied
        if end < stop and size >= 0:
            size = splice(batch, copied, end, stop, new, none, none, size)
            copied = stop
        if size < 0:
            return np.int64(size)
    return finished(batch, copied, size)


def edges(
    head: bytes = b"",
    *,
    left: bool = False,
    right: bool = False,
    once: bool = False,
    wanted: Bytes | None = None,
) -> BoundWriter:
    """The writer that strips white space on the `left` and on the `right`, then puts `head` before non-empty
    texts.

    With `once`, texts that already begin with `head` are left alone. `wanted`, uint8, flags which of the first
    texts get it.
    """
    spaces = white_space().view(np.uint8) if left or right else np.zeros(1, np.uint8)
    some = np.zeros(0, np.uint8) if wanted is None else wanted
    numbers = np.array([len(head), left, right, once, len(some)], np.int64)
    return BoundWriter(rewrite_edges, [np.frombuffer(head + bytes(PADDING), np.uint8), spaces, some, numbers])


@Writer
def spell_bytes(tables: Block, batch: Block) -> np.int64:
    """Write every byte of the documents as its character in the byte alphabet.

    The table is uint8 of shape ``(512,)``: the one or two UTF-8 bytes of each character, 0 if there is no
    second.
    """
    each, out, numbers = u8_in(tables, 0), u8_in(batch, splicing.OUT), i64_in(batch, splicing.NUMBERS)
    text, offsets, out_offsets, n_documents = documents_of(batch)
    position, end = offsets[0], offsets[n_documents]
    if 2 * (end - position) + 32 > numbers[splicing.CAPACITY]:
        return np.int64(splicing.TOO_SMALL)
    size = np.int64(0)
    for document in range(n_documents):
        while position < offsets[document + 1]:
            byte = np.int64(text[position])
            second = each[2 * byte + 1]
            out[size], out[size + 1] = each[2 * byte], second
            size += 2 if second != 0 else 1
            position += 1
        out_offsets[document + 1] = size
    if size == end - offsets[0]:
        return np.int64(splicing.UNCHANGED)
    if numbers[splicing.MOST_EDITS] > 0:
        longer = np.int64(0)
        for place in range(offsets[0], end):
            if each[2 * np.int64(text[place]) + 1] != 0:
                longer += 1
                note_edit(batch, place, place + 1, place + 1 - offsets[0] + longer)
    return size
