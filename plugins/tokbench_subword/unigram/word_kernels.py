"""The text rules of Unigram's `tokenizer.json` as kernels, from UTF-8 to words in passes over all documents.

1. `replace_literal`: one string by another, for files that begin with that.
2. `map_characters`: rules that look at one character (case, accents, normal forms as far as no combining
   character is about). A document that needs more is marked, and left to the plain path.
3. `map_clusters`: the rule `Precompiled` as `tokenizers` has it (see `pipeline.charsmap_kernel`).
4. `cut_words`: white space, and Metaspace's U+2581.

Each takes the `origins` of the bytes it reads (see `origins`) and gives those of the bytes it writes.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import i32_in, pointer, u8_in
from tokbench.kernels.unicode_classes import SPACE
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.charsmap_kernel import UNTELLABLE, next_special, rule_at
from tokbench_subword.unigram.origins import carry, extend

REPLACED, CONTEXT = 1, 2
"""What `map_characters` knows of a character: it becomes something else; it depends on its neighbours."""
SLOT_SHIFT = 4
SPLIT_SPACE, PREPEND, SPLIT_MARK, COLLAPSE, STRIP_LEFT, STRIP_RIGHT, STRIP_BLANKS, MARK_FIRST = (
    1 << bit for bit in range(8)
)
"""What `cut_words` does: cut at white space; put a mark before a stretch; cut before marks; make runs of spaces
one; strip the ends."""
FULL = -1
_MARK = 0x2581


@inline
def _copied(data, begin, end, out, size, before, after):  # type: ignore[no-untyped-def]
    """Write the characters of some bytes as they are; the new size."""
    for part in range(end - begin):
        out[size + part], after[size + part] = data[begin + part], before[begin + part]
    return size + end - begin


@kernel
def replace_literal(source, offsets, old_array, new_array, out_array, ends, old_origins, new_origins):  # type: ignore[no-untyped-def]
    """Replace the bytes `old` by `new`, from left to right; otherwise as `map_characters`, which comes next."""
    data, out, capacity = pointer(source), pointer(out_array), len(out_array)
    old, new, n_old, n_new = pointer(old_array), pointer(new_array), len(old_array), len(new_array)
    before, after = pointer(old_origins), pointer(new_origins)
    size = np.int64(0)
    ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        while position < stop:
            matched = 0
            while matched < n_old and position + matched < stop and data[position + matched] == old[matched]:
                matched += 1
            if size + n_new + 1 > capacity:
                return np.int64(FULL)
            if matched == n_old:
                for part in range(n_new):
                    out[size] = new[part]
                    carry(after, size, before, position, position + n_old - 1)
                    size += 1
                position += n_old
            else:
                size = _copied(data, position, position + 1, out, size, before, after)
                position += 1
        ends[document + 1] = size
    return size


@kernel
def map_characters(  # type: ignore[no-untyped-def]
    source, offsets, entries_array, mapped_array, marked, out_array, ends, old_origins, new_origins
):
    """Map ``source[offsets[d]:offsets[d + 1]]`` to ``out[ends[d]:ends[d + 1]]``; how much was written, or
    `FULL`.

    `entries` int32 by code point: flags, and above `SLOT_SHIFT` where in `mapped` (uint8) the replacement is:
    its length, then its UTF-8. A document with a CONTEXT character is `marked`, and becomes empty.
    """
    data, out, capacity = pointer(source), pointer(out_array), len(out_array)
    entries, mapped = pointer(entries_array), pointer(mapped_array)
    before, after = pointer(old_origins), pointer(new_origins)
    size = np.int64(0)
    ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        begin = size
        if size + (stop - position) + 4 > capacity:
            return np.int64(FULL)
        while position < stop:
            point, width = code_point(data, position)
            entry = entries[point]
            if entry == 0:
                size = _copied(data, position, position + width, out, size, before, after)
            elif entry & CONTEXT:
                marked[document] = 1
                size = begin
                break
            else:
                slot = np.int64(entry >> SLOT_SHIFT)
                length = np.int64(mapped[slot])
                if size + length + (stop - position) > capacity:
                    return np.int64(FULL)
                for part in range(length):
                    out[size + part] = mapped[slot + 1 + part]
                    carry(after, size + part, before, position, position)
                size += length
            position += width
        ends[document + 1] = size
    return size


@kernel
def map_clusters(source, offsets, tables_array, marked, out_array, ends, old_origins, new_origins):  # type: ignore[no-untyped-def]
    """As `map_characters`, by the rules of a precompiled map: the block of `CharsmapTables`."""
    data, out, capacity, tables = pointer(source), pointer(out_array), len(out_array), pointer(tables_array)
    quiet, steps, about, targets = u8_in(tables, 0), u8_in(tables, 1), i32_in(tables, 2), u8_in(tables, 4)
    before, after = pointer(old_origins), pointer(new_origins)
    size = np.int64(0)
    ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        begin = size
        while True:
            if size + (stop - position) + 4 > capacity:
                return np.int64(FULL)
            special = min(next_special(data, position, stop, quiet, steps, about), stop)
            size = _copied(data, position, special, out, size, before, after)
            position = special
            if position == stop:
                break
            point, width = code_point(data, position)
            kind = np.int64(about[point])
            target, behind = rule_at(tables, data, offsets[document], position, width, stop, kind)
            if target == UNTELLABLE:
                marked[document] = 1
                size = begin
                break
            if target < 0:
                size = _copied(data, position, position + width, out, size, before, after)
                position += width
                continue
            while targets[target] != 0:
                if size + (stop - position) + 1 > capacity:
                    return np.int64(FULL)
                out[size] = targets[target]
                carry(after, size, before, position, behind - 1)
                size, target = size + 1, target + 1
            position = behind
        ends[document + 1] = size
    return size


@inline
def _put_mark(out, size, before, after, position):  # type: ignore[no-untyped-def]
    """Write U+2581, for the character at `position`; the new size."""
    out[size], out[size + 1], out[size + 2] = 0xE2, 0x96, 0x81
    for part in range(3):
        carry(after, size + part, before, position, position)
    return size + 3


@kernel
def cut_words(  # type: ignore[no-untyped-def]
    source, offsets, rules, kinds_array, out_array, word_ends, document_ends, old_origins, new_origins
):
    """Cut documents into words: word w is ``out[word_ends[w]:word_ends[w + 1]]``; how many there are.

    ``document_ends[d + 1]`` is the number of words up to the end of document d. Spaces become U+2581. `out` has
    room for three times the text and three bytes for each document. `kinds` is `class_table`.
    """
    data, out, ends, kinds = pointer(source), pointer(out_array), pointer(word_ends), pointer(kinds_array)
    before, after = pointer(old_origins), pointer(new_origins)
    size, n_words = np.int64(0), np.int64(0)
    ends[0] = 0
    document_ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        while rules & STRIP_LEFT and position < stop:
            point, width = code_point(data, position)
            if kinds[point] & SPACE == 0:
                break
            position += width
        while rules & STRIP_RIGHT and position < stop:
            last = stop - 1
            while data[last] & 0xC0 == 0x80:
                last -= 1
            point, width = code_point(data, last)
            if kinds[point] & SPACE == 0:
                break
            stop = last
        if rules & STRIP_BLANKS:
            while position < stop and data[position] == 0x20:
                position += 1
            while position < stop and data[stop - 1] == 0x20:
                stop -= 1
        begins, after_space = True, False
        begin = first = size
        if rules & MARK_FIRST and position < stop:
            size = _put_mark(out, size, before, after, position)
            begins = False
        while position < stop:
            point, width = code_point(data, position)
            if rules & SPLIT_SPACE and kinds[point] & SPACE:
                if size > begin:
                    n_words += 1
                    ends[n_words] = begin = size
                begins = True
                position += width
                continue
            if rules & COLLAPSE and point == 0x20 and after_space:
                # its mark is of the whole run, and so is one put in front of that
                for place in range(first if size == first + 6 and rules & MARK_FIRST else size - 3, size):
                    extend(after, place, before, position)
                position += width
                continue
            after_space = point == 0x20
            mark = after_space or point == _MARK
            if mark and rules & SPLIT_MARK and size > begin:
                n_words += 1
                ends[n_words] = begin = size
            if mark or (begins and rules & PREPEND):
                size = _put_mark(out, size, before, after, position)
            if not mark:
                size = _copied(data, position, position + width, out, size, before, after)
            begins = False
            position += width
        if size > begin:
            n_words += 1
            ends[n_words] = size
        document_ends[document + 1] = n_words
    return n_words
