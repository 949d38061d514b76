"""Find where sentencepiece's normalizer must change text; and the layout of its tables."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import ALL, ONE, WINDOW, ZERO, in_range_64, trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, i64_in, u8_in, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.sentencepiece.charsmap_classes import SPECIAL

ESCAPE, REMOVE_EXTRA, DUMMY, SUFFIX = 1, 2, 4, 8
"""The flags of a normalizer."""
NUMBERS, UNITS, TARGETS, CLASSES, PLAIN, SYMBOLS, SYMBOL_STARTS = range(7)
"""The places of the arrays in the block of a `charsmap.Normalizer`."""
FLAGS, N_UNITS, N_TARGETS, ROWS = range(4)
"""Members of NUMBERS: the flags, the lengths of the map's trie and its targets, and from ROWS on the `N_ROWS`
longest runs of plain byte values: for each the first value, and how many there are."""
N_ROWS = 4


@inline
def _is_special(kind: np.uint32, following: np.uint32) -> bool:
    """Whether a character may have to be changed, from its class and the class of the next character.

    It is SPECIAL, or JOINED before a FOLLOWER. This is computed in bits, since a branch would be mispredicted.
    """
    return (kind | (kind >> np.uint32(1)) & (following >> np.uint32(2))) & np.uint32(SPECIAL) != np.uint32(0)


@inline
def _behind_plain(
    data: Bytes, index: np.int64, stop: Int, numbers: Ints, after_space: bool
) -> tuple[np.int64, bool]:
    """`next_special` for plain bytes, 63 at a time, or 64 at the end: where other bytes may begin, or `stop`.

    Byte by byte, a later pass takes 1.25 times as long over English (T5).
    """
    removes = numbers[FLAGS] & REMOVE_EXTRA != 0
    while index < stop:
        inside = ALL >> np.uint64(max(np.int64(0), index + WINDOW - stop))
        beyond, spaces = in_range_64(data, index, 0, 0x80, 0x80), in_range_64(data, index, 0, 0x20, 1)
        plain = ZERO
        for k in range(ROWS, ROWS + 2 * N_ROWS, 2):
            plain |= in_range_64(data, index, 0, numbers[k], numbers[k + 1])
        # a character beyond ASCII may belong to a rule that begins one byte before; so may what follows `stop`
        unseen = ONE << np.uint64(WINDOW - 1) if index + WINDOW < stop else ZERO
        plain &= inside & ~(beyond >> ONE | unseen)
        extra = spaces & (spaces << ONE | np.uint64(after_space)) if removes else ZERO
        count = trailing_zeros(~plain | extra)
        index += count
        if count > 0:
            after_space = removes and data[index - 1] == 0x20
        if count < WINDOW - 1:
            break
    return index, after_space


@inline
def _is_plain(plain: Bytes, data: Bytes, index: Int, stop: Int) -> bool:
    """Whether a byte is plain and the next is ASCII: a rule may continue with a character beyond ASCII."""
    return bool(plain[data[index]] and (index + 1 >= stop or data[index + 1] < 0x80))


@inline
def behind_spaces(tables: Block, data: Bytes, index: Int, stop: Int) -> np.int64:
    """The end of the run of plain spaces from `index` on."""
    plain = u8_in(tables, PLAIN)
    while index < stop and data[index] == 0x20 and _is_plain(plain, data, index, stop):
        index += 1
    return np.int64(index)


@inline
def next_special(
    tables: Block, data: Bytes, index: np.int64, stop: Int, after_space: bool
) -> tuple[np.int64, bool]:
    """The first character from `index` on that may have to be changed, or `stop`; and `after_space` there.

    `after_space`: the character before is a space after which no other space is kept.
    """
    numbers, plain, classes = i64_in(tables, NUMBERS), u8_in(tables, PLAIN), u32_in(tables, CLASSES)
    removes = numbers[FLAGS] & REMOVE_EXTRA != 0
    while index < stop:
        if data[index] < 0x80:
            index, after_space = _behind_plain(data, index, stop, numbers, after_space)
        while index < stop and _is_plain(plain, data, index, stop):
            space = data[index] == 0x20
            if space and after_space:
                return index, after_space
            after_space = space and removes
            index += 1
        if index >= stop:
            break
        # other text, character by character, up to ASCII other than spaces
        character, width = code_point(data, index)
        kind = classes[character]
        while True:
            behind, following, following_width, following_kind = index + width, np.int64(0), 0, np.uint32(0)
            if behind < stop:
                following, following_width = code_point(data, behind)
                following_kind = classes[following]
            if _is_special(kind, following_kind) or (character == 0x20 and after_space):
                return index, after_space
            after_space = character == 0x20 and removes
            character, width, kind, index = following, following_width, following_kind, behind
            if index >= stop or (character < 0x80 and character != 0x20):
                break
    return index, after_space
