r"""Parts of a text: cut where no token goes across, which changes no ids, and looked up like words.

A sentence that no pattern cuts seldom comes again, but its parts do. Between two characters that no token of a
model has side by side nothing can merge, and no piece can lie; so the text on each side can be encoded on its
own. `safe_cuts` makes the tables of such characters.

Without the table for pairs of ASCII characters (with cuts only before a space, and before characters that no
token has behind another), a first pass over English and code would take 1.4 to 1.5 times as long, a later one
1.2 to 1.4 times (T5).
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
"""The longest part of a text that is kept, in bytes. With 64, a later pass takes 1.15 to 1.25 times as long
over FLORES (a Unigram of 250,000 pieces), 1.9 times over English where pieces have several words."""

_UNCUT = 31
"""In alphabets of few letters, words of up to so many bytes are quicker searched whole than in parts: to cut
those of more than 7 bytes too takes up to 1.15 times as long over 21 languages (o200k)."""
_THREE_BYTES = 0xE0
"""First byte of characters from U+0800 on. To cut only long words takes 1.25 times as long over Chinese,
Japanese and Thai (GPT-2, o200k)."""


class PartTables(NamedTuple):
    """The tables of `SafeCuts`, and where the parts found are noted: pointers."""

    characters: Any
    ascii_cuts: Any
    pairs: Any
    numbers: Any
    ends: Any
    keys: Any


@inline
def parts_at(block: Block, shared: Int, own: Int) -> PartTables:
    """The pointers of a block: those that threads share stand there from `shared` on, the others from `own`."""
    return PartTables(
        i32_in(block, shared),
        u8_in(block, shared + 1),
        u8_in(block, shared + 2),
        u64_in(block, shared + 3),
        i64_in(block, own),
        u64_in(block, own + 1),
    )


def part_space() -> list[NDArray[Any]]:
    """What each thread has of its own of `PartTables`, in its order: ends, and keys as `slots.note_key` notes
    them, with room for one more behind those of parts.
    """
    return [np.zeros(GROUP + 1, np.int64), np.zeros(NOTED * (GROUP + 1), np.uint64)]


@inline
def quicker_in_parts(text: Any, start: Any, length: Any) -> Any:
    """Whether a new word is quicker encoded in parts: of a script of many characters, they are often known.

    The second character tells: the first may be a space, or the mark of one.
    """
    _, width = code_point(text, start)
    return length > _UNCUT or (width < length and text[start + width] >= _THREE_BYTES)


@inline
def stands_alone(character: Int, about: Int) -> bool:
    """Whether a character, with a cut before it, is a part by itself, for which the cache is not asked: no
    longer piece begins with it, and it is beyond ASCII or unknown. `about` is its entry in `characters`.
    """
    return bool(about == 0 or (character >= 0x80 and about & LEADS == 0))


@inline
def _find_ends(parts: PartTables, data: Bytes, index: Int, end: Int) -> np.int64:
    """Write where the parts of ``data[index:end]`` end, up to `GROUP` of them; return how many.

    No branch depends on where text is cut: a processor cannot guess it.
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
    """Find where the next parts of ``text[index:end]`` end, and their keys; return how many parts there are.

    Their slots in the word cache are asked for. A part must begin at `index`, with a character that does not
    stand alone; behind the last part there may be one that does.
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
