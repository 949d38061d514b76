"""sentencepiece's normalizer as a kernel: the map, then the rules for spaces (see `charsmap`)."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Int,
    Keys,
    i64_in,
    u8_in,
    u32_in,
    u64_in,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.character_map import rule_step, trie_root
from tokbench_subword.pipeline.splicing import Writer, before_edits, copy_span, documents_of, note_edit
from tokbench_subword.pipeline.trie import longest_below, root_of
from tokbench_subword.sentencepiece.charsmap_classes import JOINED, SPECIAL
from tokbench_subword.sentencepiece.charsmap_search import (
    CLASSES,
    DUMMY,
    ESCAPE,
    FLAGS,
    N_TARGETS,
    N_UNITS,
    NUMBERS,
    REMOVE_EXTRA,
    SUFFIX,
    SYMBOL_STARTS,
    SYMBOLS,
    TARGETS,
    UNITS,
    behind_spaces,
    next_special,
)

_MAX_RULES = 32  # sentencepiece considers only this many matches


@inline
def _longest_rule(
    data: Bytes, index: np.int64, stop: Int, units: Keys, n_units: Int
) -> tuple[np.int64, np.int64]:
    """The longest rule for the text from `index` on: (bytes it takes, where its target begins), or (0, 0)."""
    node = trie_root(units)
    length, target, found = np.int64(0), np.int64(0), 0
    position = index
    while position < stop:
        node, ends = rule_step(units, n_units, node, np.int64(data[position]))
        if node < 0:
            break
        position += 1
        if ends and node < n_units and found < _MAX_RULES:
            length, target = position - index, np.int64(units[node] & np.uint32(0x7FFFFFFF))
            found += 1
    return length, target


@inline
def _stands_for(
    tables: Block, data: Bytes, index: np.int64, stop: Int
) -> tuple[np.int64, Bytes, np.int64, np.int64]:
    """How many bytes of text at `index` are replaced, and the replacement: ``source[begin:end]``."""
    numbers, targets = i64_in(tables, NUMBERS), u8_in(tables, TARGETS)
    if u8_in(tables, SYMBOL_STARTS)[data[index]]:
        symbols = u64_in(tables, SYMBOLS)
        _, behind = longest_below(symbols, root_of(symbols), data, index, stop)
        if behind > index:
            return np.int64(behind - index), data, index, np.int64(behind)
    character, width = code_point(data, index)
    n_units, kind = numbers[N_UNITS], u32_in(tables, CLASSES)[character]
    if n_units > 0 and kind & np.uint32(SPECIAL | JOINED):
        taken, begin = _longest_rule(data, index, stop, u32_in(tables, UNITS), n_units)
        if taken > 0 and begin < numbers[N_TARGETS]:
            end = begin
            while targets[end] != 0:
                end += 1
            return taken, targets, begin, end
    return np.int64(width), data, index, index + width


@inline
def _write_spaced(
    source: Bytes, begin: np.int64, end: np.int64, out: Bytes, size: np.int64, escape: bool
) -> np.int64:
    """Write ``source[begin:end]``, with `escape` U+2581 as a space; returns the new size."""
    while begin < end:
        value = source[begin]
        marks = escape and value == 0xE2 and end - begin >= 3
        if marks and source[begin + 1] == 0x96 and source[begin + 2] == 0x81:
            value = np.uint8(0x20)
            begin += 2
        out[size] = value
        size, begin = size + 1, begin + 1
    return size


@inline
def _normalize_into(tables: Block, batch: Block, start: np.int64, stop: np.int64, first: np.int64) -> np.int64:
    """Normalize the text from `start` to `stop`, writing from `first` on; returns the end, or -1 without room.

    Every change is noted as an edit (`splicing.note_edit`), except text removed at the end.
    """
    flags, data, out = i64_in(tables, NUMBERS)[FLAGS], u8_in(batch, splicing.TEXT), u8_in(batch, splicing.OUT)
    numbers = i64_in(batch, splicing.NUMBERS)
    capacity, told = numbers[splicing.CAPACITY], 3 * numbers[splicing.N_EDITS]
    escape, remove_extra = (flags & ESCAPE) != 0, (flags & REMOVE_EXTRA) != 0
    size, index = first, start
    after_space = leading = remove_extra
    pending = (flags & DUMMY) != 0 and (flags & SUFFIX) == 0
    # Invariant: `out` has room to copy the rest of the text byte for byte, so only expansions need a check.
    if size + (stop - start) + 16 > capacity:
        return np.int64(-1)
    while index < stop:
        if not leading and not pending:
            if after_space:
                copied = behind_spaces(tables, data, index, stop)
                if copied > index:
                    note_edit(batch, index, copied, size)
                index = copied
            copied = index
            index, after_space = next_special(tables, data, index, stop, after_space)
            size = copy_span(data, copied, index, out, size)
            if index >= stop:
                break
        taken, source, begin, end = _stands_for(tables, data, index, stop)
        if leading:
            # Leading space is only what becomes exactly one space; anything else ends it.
            if end - begin == 1 and source[begin] == 0x20:
                index += taken
                continue
            leading = False
            if index > start:
                note_edit(batch, start, index, size)
        if pending:
            out[size] = 0x20
            size, pending = size + 1, False
            note_edit(batch, index, index, size)
        if size + (end - begin) + (stop - index) + 16 > capacity:
            return np.int64(-1)
        while after_space and begin < end and source[begin] == 0x20:
            begin += 1
        if begin < end:
            size = _write_spaced(source, begin, end, out, size, escape)
            after_space = remove_extra and source[end - 1] == 0x20
        note_edit(batch, index, index + taken, size)
        index += taken
    if leading:
        return first  # only spaces
    while remove_extra and size > first and out[size - 1] == 0x20:
        size -= 1
    if (flags & DUMMY) != 0 and (flags & SUFFIX) != 0 and start < stop:
        edits, last = i64_in(batch, splicing.EDITS), 3 * numbers[splicing.N_EDITS]
        if last <= 3 * numbers[splicing.MOST_EDITS]:  # else all are told again
            index, _, _, _ = before_edits(edits, told, last, first, start, size)
            while last > told and edits[last - 1] > size:  # of what was taken away
                last -= 3
            numbers[splicing.N_EDITS] = last // 3
        out[size] = 0x20
        size += 1
        note_edit(batch, index, index, size)
    return size


@Writer
def normalize(tables: Block, batch: Block) -> np.int64:
    """Write normalized documents; see `pipeline.splicing`."""
    _, offsets, out_offsets, n_documents = documents_of(batch)
    size = np.int64(0)
    for document in range(n_documents):
        size = _normalize_into(tables, batch, offsets[document], offsets[document + 1], size)
        if size < 0:
            return np.int64(splicing.TOO_SMALL)
        out_offsets[document + 1] = size
    return size
