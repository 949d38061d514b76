r"""Parts of a text: cut where no token can cross, which changes no ids, and looked up in the cache like words.

A sentence that no pattern cuts is seldom repeated, but its parts are. If no token of a model contains two
characters side by side, nothing merges across the boundary between them, so the text on each side can be
encoded on its own. `safe_cuts` makes the tables of these boundaries.

The table for pairs of ASCII characters pays: with cuts only before a space, and before characters that no token
has behind another, a cold pass over English and code takes 1.4 to 1.5 times as long, a warm one 1.2 to 1.4
times (T5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Int, i32_in, i64_in, u8_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.words.layout import GROUP
from tokbench_subword.words.safe_cuts import ALONE, ASCII_BITS, CUT, LEADS, apart, joined_within
from tokbench_subword.words.slots import NOTED, PART, SHIFT, SLOTS, STATE, grow_if_full, note_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_PART = 128
"""The longest part that the cache keeps, in bytes. With 64, a warm pass takes 1.15 to 1.25 times as long over
FLORES (a Unigram model of 250,000 pieces), and 1.9 times over English if pieces contain several words."""

_UNCUT = 31
"""In scripts with few letters, a word of up to this many bytes is searched whole. To cut words of more than
7 bytes into parts takes up to 1.15 times as long over 21 languages (o200k)."""
_THREE_BYTES = 0xE0
"""First byte of characters from U+0800 on. Words of such characters are always cut into parts: to cut only long
words takes 1.25 times as long over Chinese, Japanese and Thai (GPT-2, o200k)."""


class PartTables(NamedTuple):
    """Pointers to the tables of `SafeCuts`, and to the arrays that receive the parts found."""

    characters: Any
    ascii_cuts: Any
    pairs: Any
    numbers: Any
    ends: Any
    keys: Any


@inline
def parts_at(block: Block, shared: Int, own: Int) -> PartTables:
    """The pointers in a block: the shared tables from place `shared` on, the thread's own arrays from `own`."""
    return PartTables(
        i32_in(block, shared),
        u8_in(block, shared + 1),
        u8_in(block, shared + 2),
        u64_in(block, shared + 3),
        i64_in(block, own),
        u64_in(block, own + 1),
    )


def part_space() -> list[NDArray[Any]]:
    """The arrays of `PartTables` that each thread has of its own: ends and keys (see `slots.note_key`), with
    room for one entry more than there are parts.
    """
    return [np.zeros(GROUP + 1, np.int64), np.zeros(NOTED * (GROUP + 1), np.uint64)]


@inline
def quicker_in_parts(text: Any, start: Any, length: Any) -> Any:
    """Whether a new word is encoded faster in parts, many of which are in the cache already.

    That is so for long words and for scripts of many characters. The second character tells the script, because
    the first may be a space or the mark of one.
    """
    _, width = code_point(text, start)
    return length > _UNCUT or (width < length and text[start + width] >= _THREE_BYTES)


@inline
def stands_alone(character: Int, about: Int) -> bool:
    """Whether a character behind a cut is a part by itself, which is encoded without the cache.

    It is if no longer piece begins with it, and it is unknown or not ASCII. `about` is its entry in
    `characters`.
    """
    return bool(about == 0 or (character >= 0x80 and about & LEADS == 0))


@inline
def _find_ends(parts: PartTables, data: Bytes, index: Int, end: Int) -> np.int64:
    """Write the ends of up to `GROUP` parts of ``data[index:end]``; returns the number of parts.

    No branch depends on where the text is cut, because the processor could not predict it.
    """
    characters, ascii_cuts, pairs, numbers, ends = parts[:5]
    shift, within = numbers[0], numbers[1] != 0
    left, width = code_point(data, index)
    position, count, alone = index + width, np.int64(0), False
    while position < end and count < GROUP and not alone:
        stop = min(end, position + GROUP - count)  # there are no more parts than bytes
        while position < stop and not alone:
            right = np.int64(data[position])
            if left | right >= 0x80:
                break
            cut = ascii_cuts[left << ASCII_BITS | right]
            ends[count] = position
            count += cut & CUT
            alone = cut & ALONE != 0
            left, position = right, position + 1
        if position < stop and not alone:
            right, width = code_point(data, position)
            cut_here = apart(left, right, pairs, shift)
            if within:
                cut_here &= np.int64(joined_within(characters[left], characters[right]) == 0)
            ends[count] = position
            count += cut_here
            alone = cut_here != 0 and stands_alone(right, characters[right])
            left, position = right, position + width
    if position >= end and count < GROUP and not alone:
        ends[count] = end
        count += 1
    return count


@subroutine
def find_parts(parts: PartTables, words: Block, text: Bytes, index: Int, end: Int) -> np.int64:
    """Find the ends and keys of the next parts of ``text[index:end]``; returns the number of parts.

    Prefetches their slots of the word cache. A part must begin at `index`, with a character that does not stand
    alone; a character that stands alone ends the search.
    """
    keys = parts.keys
    grow_if_full(words)
    slots, shift = u64_in(words, SLOTS), i64_in(words, STATE)[SHIFT]
    count = _find_ends(parts, text, index, end)
    for k in range(count):
        size = min(parts.ends[k] - index, LONGEST_PART)
        note_key(slots, shift, keys, k, text, index, size, PART)
        index = parts.ends[k]
    return count
