"""What sentencepiece's normaliser copies as it is, nearly all of most texts; and where its tables stand."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import ONE, WINDOW, ZERO, in_range_64, trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, copy_bytes_64, i64_in, u8_in, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline.splicing import copy_span
from tokbench_subword.sentencepiece.charsmap_classes import READY, TARGET_SHIFT

ESCAPE, REMOVE_EXTRA, DUMMY, SUFFIX = 1, 2, 4, 8
"""The flags of a normaliser."""
NUMBERS, UNITS, TARGETS, CLASSES, PLAIN, SYMBOLS, SYMBOL_STARTS = range(7)
"""What stands where in the block of a `charsmap.Normalizer`."""
FLAGS, N_UNITS, N_TARGETS, ROWS = range(4)
"""Its NUMBERS: the flags, how long the map's trie and its targets are, and from ROWS on the `N_ROWS` longest
rows of bytes that are plain: where each begins, and how many there are."""
N_ROWS = 4


@inline
def _special(kind: np.uint32, following: np.uint32) -> bool:
    """Whether a character may not be copied as it is, from its class and that of the character behind it.

    In bits, since no branch could predict which letters are JOINED; MAPPED and CHECKED are odd, READY is not.
    """
    return (kind | (kind >> np.uint32(1)) & (following >> np.uint32(2))) & np.uint32(1) != np.uint32(0)


@inline
def _copy_plain(
    data: Bytes, index: np.int64, stop: Int, out: Bytes, size: np.int64, numbers: Ints, after_space: bool
) -> tuple[np.int64, np.int64, bool]:
    """Copy plain bytes, but no space behind a space if they are removed, 63 at a time; what has changed then.

    That is `index`, `size`, and whether what was copied last is a space behind which there may be no other.
    Byte by byte, a later pass takes 1.25 times as long over English (T5).
    """
    removes = numbers[FLAGS] & REMOVE_EXTRA != 0
    while index + WINDOW <= stop:
        beyond, spaces = in_range_64(data, index, 0, 0x80, 0x80), in_range_64(data, index, 0, 0x20, 1)
        plain = ZERO
        for k in range(ROWS, ROWS + 2 * N_ROWS, 2):
            plain |= in_range_64(data, index, 0, numbers[k], numbers[k + 1])
        # what is beyond ASCII may be of a rule that begins with the byte before; behind the last byte it may be
        plain &= ~(beyond >> ONE | ONE << np.uint64(WINDOW - 1))
        extra = plain & spaces & (spaces << ONE | np.uint64(after_space)) if removes else ZERO
        count = trailing_zeros(~plain | extra)
        copy_bytes_64(data, index, out, size)
        index, size = index + count, size + count
        if count > 0:
            after_space = removes and data[index - 1] == 0x20
        if extra >> np.uint64(count) & ONE:
            index += trailing_zeros(~(extra >> np.uint64(count)))
        elif count < WINDOW - 1:
            break
    return index, size, after_space


@inline
def copy_ascii(
    tables: Block,
    data: Bytes,
    index: np.int64,
    stop: Int,
    out: Bytes,
    size: np.int64,
    after_space: bool,
    origins: Ints | None,
    start: Int,
) -> tuple[np.int64, np.int64, bool]:
    """Copy plain bytes, up to one that is not or that something beyond ASCII follows; as `_copy_plain`."""
    numbers, plain = i64_in(tables, NUMBERS), u8_in(tables, PLAIN)
    removes = numbers[FLAGS] & REMOVE_EXTRA != 0
    if origins is None:
        index, size, after_space = _copy_plain(data, index, stop, out, size, numbers, after_space)
    while index < stop and plain[data[index]] and (index + 1 >= stop or data[index + 1] < 0x80):
        byte = data[index]
        out[size] = byte
        if origins is not None:
            origins[size] = index - start
        # a space behind a space is written and then overwritten: no branch
        size += 0 if byte == 0x20 and after_space else 1
        after_space = byte == 0x20 and removes
        index += 1
    return index, size, after_space


@inline
def copy_characters(
    tables: Block,
    data: Bytes,
    index: np.int64,
    stop: Int,
    out: Bytes,
    size: np.int64,
    after_space: bool,
    origins: Ints | None,
    start: Int,
) -> tuple[np.int64, np.int64, bool, bool]:
    """Copy characters, with READY ones replaced, up to ASCII, but for spaces, or to a special one.

    What has changed then is `index`, `size` and `after_space`; and whether a special one stopped it.
    """
    classes = u32_in(tables, CLASSES)
    removes = i64_in(tables, NUMBERS)[FLAGS] & REMOVE_EXTRA != 0
    copied = index  # where text begins that is copied as it is, once its end is known
    character, width = code_point(data, index)
    kind, special = classes[character], False
    while True:
        following, following_width, following_kind = np.int64(0), 0, np.uint32(0)
        behind = index + width
        if behind < stop:
            following, following_width = code_point(data, behind)
            following_kind = classes[following]
        special = _special(kind, following_kind)
        if special:
            break
        if origins is not None:
            for part in range(width):
                origins[size + index - copied + part] = index - start
        if kind & np.uint32(READY):
            size = copy_span(data, copied, index, out, size)
            target = kind >> np.uint32(TARGET_SHIFT)
            while target != np.uint32(0):
                out[size] = target & np.uint32(0xFF)
                target >>= np.uint32(8)
                size += 1
            copied, after_space = behind, False
        else:
            if character == 0x20 and after_space:
                size = copy_span(data, copied, index, out, size)
                copied = behind
            after_space = character == 0x20 and removes
        character, width, kind, index = following, following_width, following_kind, behind
        if index >= stop or (character < 0x80 and character != 0x20):
            break
    return index, copy_span(data, copied, index, out, size), after_space, special
