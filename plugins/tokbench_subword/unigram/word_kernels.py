"""The text rules of Unigram's `tokenizer.json` as kernels, from UTF-8 to words in passes over all documents.

1. `replace_literal`: one string by another, for files that begin with that.
2. `map_characters`: rules that look at one character (case, accents, normal forms as far as no combining
   character is about). A document that needs more is marked, and left to the plain path.
3. `map_clusters`: the rule `Precompiled` as `tokenizers` has it (see `pipeline.precompiled`).
4. `cut_words`: white space, and Metaspace's U+2581.

Each takes the `origins` of the bytes it reads (see `origins`) and gives those of the bytes it writes.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import pointer
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.charsmap_tables import rule_step, trie_root
from tokbench_subword.unigram.origins import carry, extend

REPLACED, CONTEXT = 1, 2
"""What `map_characters` knows of a character: it becomes something else; it depends on its neighbours."""
IN_MAP, STICKY, CONTROL, JOINS, CONSONANT, LINKER, BETWEEN = (1 << bit for bit in range(7))
"""What `map_clusters` knows of one: rules begin with it; it continues the cluster before it (unless that is a
control character); it is a control character; it joins what follows, and rules begin with it; it is a consonant
of an Indic conjunct, what links two of them, or what may be between."""
SLOT_SHIFT = 4
SPLIT_SPACE, PREPEND, SPLIT_MARK, COLLAPSE, STRIP_LEFT, STRIP_RIGHT, STRIP_BLANKS, MARK_FIRST = (
    1 << bit for bit in range(8)
)
"""What `cut_words` does: cut at white space; put a mark before a stretch; cut before marks; make runs of spaces
one; strip the ends."""
FULL = -1
_SHORT_CLUSTER = 6
_MARK = 0x2581


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
                out[size] = data[position]
                carry(after, size, before, position, position)
                size, position = size + 1, position + 1
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
                for part in range(width):
                    out[size + part] = data[position + part]
                    carry(after, size + part, before, position, position)
                size += width
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


@inline
def _shortest_rule(data, begin, end, units, n_units):  # type: ignore[no-untyped-def]
    """Where the target of the shortest rule that begins the text begins, or -1."""
    node, found, target = trie_root(units), False, np.int64(-1)
    while begin < end and node >= 0 and not found and data[begin] != 0:
        node, found = rule_step(units, n_units, node, np.int64(data[begin]))
        begin += 1
    if found and node < n_units:
        target = np.int64(units[node] & np.uint32(0x7FFFFFFF))
    return target


@inline
def _in_conjunct(data, begin, position, flags):  # type: ignore[no-untyped-def]
    """Whether a linker before `position`, and before that a consonant, join what is there to their cluster."""
    linked = False
    while position > begin:
        position -= 1
        while data[position] & 0xC0 == 0x80:
            position -= 1
        point, _ = code_point(data, position)
        kind = flags[point]
        if kind & LINKER:
            linked = True
        elif not kind & BETWEEN:
            return linked and kind & CONSONANT != 0
    return False


@kernel
def map_clusters(  # type: ignore[no-untyped-def]
    source, offsets, flags_array, units_array, targets_array, marked, out_array, ends, old_origins, new_origins
):
    """As `map_characters`, by the rules of a precompiled map: `units` uint32, `targets` uint8, see `charsmap`.

    `flags`, uint8 by code point, are IN_MAP and those that follow it.
    """
    data, out, capacity = pointer(source), pointer(out_array), len(out_array)
    flags, units, targets = pointer(flags_array), pointer(units_array), pointer(targets_array)
    n_units, n_targets = np.int64(len(units_array)), len(targets_array)
    before, after = pointer(old_origins), pointer(new_origins)
    size = np.int64(0)
    ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        begin = size
        after_control = True
        if size + (stop - position) + 4 > capacity:
            return np.int64(FULL)
        while position < stop:
            point, width = code_point(data, position)
            kind = flags[point]
            behind, target = position + width, np.int64(-1)
            if kind & JOINS:
                marked[document] = 1
                size = begin
                break
            if kind & IN_MAP:
                if point == 0x0D and behind < stop and data[behind] == 0x0A:
                    end = behind + 1
                    target = _shortest_rule(data, position, end, units, n_units)
                    if target >= 0:
                        behind = end
                elif (after_control or not kind & STICKY) and not kind & CONTROL:
                    end = behind
                    while end < stop and end - position < _SHORT_CLUSTER:
                        follower, follower_width = code_point(data, end)
                        if not flags[follower] & STICKY:
                            break
                        end += follower_width
                    if behind < end < position + _SHORT_CLUSTER and not (
                        kind & CONSONANT and _in_conjunct(data, offsets[document], position, flags)
                    ):
                        target = _shortest_rule(data, position, end, units, n_units)
                        if target >= 0:
                            behind = end
                if target < 0:
                    target = _shortest_rule(data, position, position + width, units, n_units)
            if target >= 0:
                while target < n_targets and targets[target] != 0:
                    if size + (stop - position) + 1 > capacity:
                        return np.int64(FULL)
                    out[size] = targets[target]
                    carry(after, size, before, position, behind - 1)
                    size += 1
                    target += 1
            else:
                for part in range(width):
                    out[size + part] = data[position + part]
                    carry(after, size + part, before, position, position)
                size += width
            if size + (stop - behind) > capacity:
                return np.int64(FULL)
            after_control = (kind & CONTROL) != 0
            position = behind
        ends[document + 1] = size
    return size


@inline
def _is_space(point):  # type: ignore[no-untyped-def]
    """White_Space."""
    if point < 0x85:
        return point == 0x20 or 0x09 <= point <= 0x0D
    if point < 0x2000:
        return point == 0x85 or point == 0xA0 or point == 0x1680
    if point <= 0x200A:
        return True
    return point == 0x2028 or point == 0x2029 or point == 0x202F or point == 0x205F or point == 0x3000


@inline
def _put_mark(out, size, before, after, position):  # type: ignore[no-untyped-def]
    """Write U+2581, for the character at `position`; the new size."""
    out[size], out[size + 1], out[size + 2] = 0xE2, 0x96, 0x81
    for part in range(3):
        carry(after, size + part, before, position, position)
    return size + 3


@kernel
def cut_words(  # type: ignore[no-untyped-def]
    source, offsets, rules, out_array, word_ends, document_ends, old_origins, new_origins
):
    """Cut documents into words: word w is ``out[word_ends[w]:word_ends[w + 1]]``; how many there are.

    ``document_ends[d + 1]`` is the number of words up to the end of document d. Spaces become U+2581. `out` has
    room for three times the text and three bytes for each document.
    """
    data, out, ends = pointer(source), pointer(out_array), pointer(word_ends)
    before, after = pointer(old_origins), pointer(new_origins)
    size, n_words = np.int64(0), np.int64(0)
    ends[0] = 0
    document_ends[0] = 0
    for document in range(len(offsets) - 1):
        position, stop = offsets[document], offsets[document + 1]
        while rules & STRIP_LEFT and position < stop:
            point, width = code_point(data, position)
            if not _is_space(point):
                break
            position += width
        while rules & STRIP_RIGHT and position < stop:
            last = stop - 1
            while data[last] & 0xC0 == 0x80:
                last -= 1
            point, width = code_point(data, last)
            if not _is_space(point):
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
            if rules & SPLIT_SPACE and _is_space(point):
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
                for part in range(width):
                    out[size + part] = data[position + part]
                    carry(after, size + part, before, position, position)
                size += width
            begins = False
            position += width
        if size > begin:
            n_words += 1
            ends[n_words] = size
        document_ends[document + 1] = n_words
    return n_words
