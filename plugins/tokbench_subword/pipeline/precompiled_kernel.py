"""The normalizer `Precompiled` as a kernel over a batch of UTF-8; `precompiled` defines it.

A rule applies to a grapheme cluster of less than six bytes, or else to each of its characters. So clusters
matter only around the few characters with which rules begin; the text between them is skipped. The tables, made
once per map, are its rules and how characters join into clusters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import PADDING, Block, Bytes, Ids, Int, i32_in, i64_in, u8_in, u32_in
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import character_before, code_point, widths_by_first_byte
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.character_map import MapTrie, shortest_rule, split_map
from tokbench_subword.pipeline.precompiled import SHORT_CLUSTER, points_of, recent_joiners
from tokbench_subword.pipeline.splicing import Writer, documents_of, finished, splice

BEGINS, STICKY, CONTROL, PREPENDED, UNTOLD, CONSONANT, LINKER, BETWEEN, JOINED = (1 << bit for bit in range(9))
"""Flags of a character. `BEGINS`: longer rules begin with it. `STICKY`: it extends the cluster before it,
unless that is a control character. `CONTROL`: it is a control character. `PREPENDED`: it joins the character
after it, unless that is a control character. `UNTOLD`: it is prepended and has rules, which only Python
handles. `CONSONANT`, `LINKER`, `BETWEEN`: a consonant of an Indic conjunct, a linker of two consonants, a
character allowed between them. `JOINED`: it has rules and is Hangul or pictographic, which may join others in
more ways.
"""
TARGET_SHIFT = 9
"""The bit above which the target of a character's own rule is, plus one; 0 if it has no rule."""
SPECIAL = -1 << TARGET_SHIFT | BEGINS | UNTOLD
"""A character without any of these never changes, whatever is around it."""
(
    QUIET,  # uint8 (256,): 1 for ASCII that stays as it is where ASCII follows
    WIDTHS,  # uint8 (256,): `widths_by_first_byte`, 0 where a character is SPECIAL
    ABOUT,  # int32 (0x110000,): flags, and targets above `TARGET_SHIFT`
    UNITS,  # uint32: the map's trie
    TARGETS,  # uint8: what its rules write, with a NUL behind each
    SIZES,  # int64 (2,): how many there are of these two
) = range(6)
"""The tables of a map."""
_UNTELLABLE = -3
"""Instead of a target: only Python can find the rule."""


@lru_cache(maxsize=4)
def charsmap_tables(charsmap: bytes) -> tuple[NDArray[Any], ...]:
    """The tables of a map that is not empty; raises `TokenizerError` if it is damaged."""
    units, targets = split_map(charsmap, "Precompiled")
    units = units.copy()
    about, trie = np.zeros(N_CODE_POINTS, np.int32), MapTrie(units)
    _, points, nodes, ends = trie.characters(trie.root)
    own = units[np.where(ends, nodes, 0)].astype(np.int64) & 0x7FFFFFFF  # where the target of its own rule is
    about[points] = np.where(ends, own + 1 << TARGET_SHIFT, BEGINS)
    about |= _joining()
    ruled = about & (-1 << TARGET_SHIFT | BEGINS) != 0
    prepended = points_of(r"\p{GCB=Prepend}")
    about[prepended] |= PREPENDED
    about[prepended[ruled[prepended]]] |= UNTOLD
    otherwise = points_of(r"\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=LV}\p{GCB=LVT}\p{Extended_Pictographic}")
    about[otherwise[ruled[otherwise]]] |= JOINED
    special = about & SPECIAL != 0
    quiet = (about[:256] & (SPECIAL & ~BEGINS) == 0).astype(np.uint8)
    quiet[0x80:] = 0
    quiet[0x0D] = not special[0x0D]
    widths, sizes = widths_by_first_byte(special), np.array([len(units), len(targets)])
    return quiet, widths, about, units, np.append(targets, np.zeros(PADDING, np.uint8)), sizes


@lru_cache(maxsize=1)
def _joining() -> NDArray[np.int32]:
    """The flags of all characters that tell how they join into clusters."""
    flags = np.zeros(N_CODE_POINTS, np.int32)
    for kinds, flag in (
        (r"\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}", STICKY),
        (r"\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}", CONTROL),
        (r"\p{InCB=Consonant}", CONSONANT),
        (r"\p{InCB=Linker}", LINKER),
        (r"\p{InCB=Extend}", BETWEEN),
    ):
        flags[points_of(kinds)] |= flag
    flags[sorted(recent_joiners())] &= ~(STICKY | BETWEEN | CONSONANT)
    return flags


@inline
def _next_special(text: Bytes, position: Int, stop: Int, quiet: Bytes, widths: Bytes, about: Ids) -> Int:
    """The place of the next SPECIAL character; `stop` or later if there is none."""
    while position < stop:
        while position < stop and quiet[text[position]] and text[position + 1] < 0x80:
            position += 1
        if position >= stop:
            break
        width = np.int64(widths[text[position]])
        if width == 0:
            point, width = code_point(text, position)
            if about[point] & SPECIAL:
                break
        position += width
    return position


@inline
def _in_conjunct(text: Bytes, begin: Int, position: Int, about: Ids) -> bool:
    """Whether a consonant and a linker before `position` join the character there to their cluster."""
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
    """Whether a character of this kind, not a control character, extends the cluster before it."""
    if position == begin:
        return False
    point, _ = code_point(text, character_before(text, position))
    if kind & STICKY or about[point] & PREPENDED:
        return about[point] & CONTROL == 0
    return kind & CONSONANT != 0 and _in_conjunct(text, begin, position, about)


@inline
def _short_cluster(text: Bytes, begin: Int, position: Int, width: Int, stop: Int, kind: Int, about: Ids) -> Int:
    """The end of the cluster that begins at `position` if it is short and has several characters; else the end
    of its first character.
    """
    end = behind = position + width
    if kind & CONTROL:
        if text[position] == 0x0D and behind < stop and text[behind] == 0x0A:
            return behind + 1
        return behind
    while end < stop and end - position < SHORT_CLUSTER:
        point, width = code_point(text, end)
        if about[point] & STICKY == 0:
            break
        end += width
    if end == behind or end - position >= SHORT_CLUSTER or _continues(text, begin, position, kind, about):
        return behind
    return end


@inline
def _rule_at(
    tables: Block, text: Bytes, begin: Int, position: Int, width: Int, stop: Int, kind: Int
) -> tuple[Int, Int]:
    """Find the rule for the cluster that begins at `position`, or for its first character, which is of this
    `kind`.

    Returns the place of the rule's target (-1: no rule; `_UNTELLABLE`: only Python can find it), and the end of
    the text that it replaces. The text begins at byte `begin` and ends at `stop`.
    """
    behind = _short_cluster(text, begin, position, width, stop, kind, i32_in(tables, ABOUT))
    target = (kind >> TARGET_SHIFT) - 1
    if target < 0 and behind > position + width:
        target = shortest_rule(text, position, behind, u32_in(tables, UNITS), i64_in(tables, SIZES)[0])
    several = behind > position + width
    if kind & UNTOLD or (kind & JOINED and several) or target >= i64_in(tables, SIZES)[1]:
        target = np.int64(_UNTELLABLE)
    return target, behind


@Writer
def by_charsmap(tables: Block, batch: Block) -> np.int64:
    """Rewrite documents by `charsmap_tables`; see `splicing`."""
    quiet, widths = u8_in(tables, QUIET), u8_in(tables, WIDTHS)
    about, targets = i32_in(tables, ABOUT), u8_in(tables, TARGETS)
    text, offsets, out_offsets, n_documents = documents_of(batch)
    size, copied = np.int64(0), offsets[0]
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        position = begin
        while True:
            position = _next_special(text, position, stop, quiet, widths, about)
            if position >= stop:
                break
            point, width = code_point(text, position)
            target, behind = _rule_at(tables, text, begin, position, width, stop, np.int64(about[point]))
            if target == _UNTELLABLE:
                u8_in(batch, splicing.DECLINED)[document] = 1
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
