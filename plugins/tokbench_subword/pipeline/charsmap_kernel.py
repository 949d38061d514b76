"""The normalizer `Precompiled` as a kernel over a batch of UTF-8; `precompiled` says what it does.

A rule is for a grapheme cluster of less than six bytes, or else for each character of it. So clusters matter
only around the few characters with which rules begin; text between these is skipped, ASCII byte by byte.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, i32_in, i64_in, u8_in, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.charsmap_tables import (
    BETWEEN,
    CONSONANT,
    CONTROL,
    JOINED,
    LINKER,
    PREPENDED,
    SPECIAL,
    STICKY,
    TARGET_SHIFT,
    UNTOLD,
    shortest_rule,
)
from tokbench_subword.pipeline.splicing import (
    DECLINED,
    Writer,
    character_before,
    documents_of,
    finished,
    splice,
)

_UNTELLABLE = -3
"""In place of a target: which rule there is only Python can tell."""
_SHORT_CLUSTER = 6


@inline
def _next_special(text: Bytes, position: Int, stop: Int, quiet: Bytes, steps: Bytes, about: Ids) -> Int:
    """Where a SPECIAL character begins; `stop` or behind it for none."""
    while position < stop:
        while position < stop and quiet[text[position]] and text[position + 1] < 0x80:
            position += 1
        if position >= stop:
            break
        width = np.int64(steps[text[position]])
        if width == 0:
            point, width = code_point(text, position)
            if about[point] & SPECIAL:
                break
        position += width
    return position


@inline
def _in_conjunct(text: Bytes, begin: Int, position: Int, about: Ids) -> bool:
    """Whether a linker before `position`, and before that a consonant, join what is there to their cluster."""
    linked = False
    while position > begin:
        position = character_before(text, position)
        point, _ = code_point(text, position)
        kind = about[point]
        if kind & LINKER:
            linked = True
        elif kind & BETWEEN == 0:
            return linked and kind & CONSONANT != 0
    return False


@inline
def _continues(text: Bytes, begin: Int, position: Int, kind: Int, about: Ids) -> bool:
    """Whether a character of this kind, no control character, continues the cluster before it."""
    if position == begin:
        return False
    point, _ = code_point(text, character_before(text, position))
    if kind & STICKY or about[point] & PREPENDED:
        return about[point] & CONTROL == 0
    return kind & CONSONANT != 0 and _in_conjunct(text, begin, position, about)


@inline
def _short_cluster(text: Bytes, begin: Int, position: Int, width: Int, stop: Int, kind: Int, about: Ids) -> Int:
    """Where the cluster ends that begins with the character at `position`, if it has several and is short; else
    where that character ends.
    """
    end = behind = position + width
    if kind & CONTROL:
        if text[position] == 0x0D and behind < stop and text[behind] == 0x0A:
            return behind + 1
        return behind
    while end < stop and end - position < _SHORT_CLUSTER:
        point, width = code_point(text, end)
        if about[point] & STICKY == 0:
            break
        end += width
    if end == behind or end - position >= _SHORT_CLUSTER or _continues(text, begin, position, kind, about):
        return behind
    return end


@inline
def _rule_at(
    tables: Block, text: Bytes, begin: Int, position: Int, width: Int, stop: Int, kind: Int
) -> tuple[Int, Int]:
    """Which rule is for the character at `position`, of this kind, or for the cluster that it begins.

    Returned are where its target begins, -1 for no rule, `_UNTELLABLE` where only Python can tell; and where
    what it replaces ends. The text begins at byte `begin` and ends at `stop`.
    """
    behind = _short_cluster(text, begin, position, width, stop, kind, i32_in(tables, 2))
    target = (kind >> TARGET_SHIFT) - 1
    if target < 0 and behind > position + width:
        target = shortest_rule(text, position, behind, u32_in(tables, 3), i64_in(tables, 5)[0])
    several = behind > position + width
    if kind & UNTOLD or (kind & JOINED and several) or target >= i64_in(tables, 5)[1]:
        target = np.int64(_UNTELLABLE)
    return target, behind


@Writer
def by_charsmap(tables: Block, batch: Block) -> np.int64:
    """Write documents as `CharsmapTables` have them; see `splicing`."""
    quiet, steps, about, targets = u8_in(tables, 0), u8_in(tables, 1), i32_in(tables, 2), u8_in(tables, 4)
    text, offsets, out_offsets, n_documents = documents_of(batch)
    size, copied = np.int64(0), offsets[0]
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        position = begin
        while True:
            position = _next_special(text, position, stop, quiet, steps, about)
            if position >= stop:
                break
            point, width = code_point(text, position)
            target, behind = _rule_at(tables, text, begin, position, width, stop, np.int64(about[point]))
            if target == _UNTELLABLE:
                u8_in(batch, DECLINED)[document] = 1
                break
            if target < 0:
                position += width
                continue
            end = target
            while targets[end] != 0:
                end += 1
            size = splice(batch, copied, position, behind, targets, target, end, size)
            if size < 0:
                return size
            copied = position = behind
        out_offsets[document + 1] = size + stop - copied
    return finished(batch, copied, size)
