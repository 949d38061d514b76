r"""Where text may be cut without changing its segmentation: between characters that no piece has side by side.

No token crosses such a place, so the text on each side of it can be segmented on its own, and the same part of
a text (a word with its space, or some letters of it) is segmented once and remembered. Of two characters of
ASCII a table says whether some piece has them side by side, of others a bit by their hash: where two pairs have
the same bit, a text is cut less often than it might be.

Without the table of ASCII, only spaces and what no piece has behind anything else being cut, a first pass over
code took TO_MEASURE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Ids,
    Int,
    Ints,
    Word,
    Words,
    i32_in,
    i64_in,
    prefetch_to_read,
    u8_in,
    u64_in,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import layout as at
from tokbench_subword.words.layout import GROUP, WORDS
from tokbench_subword.words.slots import PART, SHIFT, SLOTS, STATE, grow_if_full, word_home, word_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEADS = 1
"""Flag of a character that some piece begins with and goes on."""
PIECE_SHIFT = 1
"""Where above the flag the id of the character as a piece stands, plus one."""
_ASCII_BITS = 7
_POINT_BITS = 21
_LEAST_BITS, _BITS_A_PAIR = 16, 16
_BYTE, _BIT = 3, 7
_CUT, _ALONE = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class SafeCuts:
    """The tables: `characters` int32 ``(0x110000,)``, whether a piece begins with a character and goes on
    (`LEADS`), and above that (`PIECE_SHIFT`) the id of the character as a piece plus one; `ascii` uint8
    ``(128 * 128,)``, where text is cut between two characters of ASCII, and where the second stands alone;
    `pairs`, a bit for the hash of any other two that a piece has side by side, uint8 of ``2 ** (61 - shift)``.
    """

    characters: NDArray[np.int32]
    ascii: NDArray[np.uint8]
    pairs: NDArray[np.uint8]
    shift: int

    def tables(self) -> dict[int, NDArray[Any]]:
        """The tables by their place in the block of an encoder."""
        return {
            at.CHARACTERS: self.characters,
            at.ASCII_CUTS: self.ascii,
            at.PAIRS: self.pairs,
            at.PAIR_SHIFT: np.array([self.shift], np.uint64),
        }


def find_cuts(pieces: Mapping[bytes, int]) -> SafeCuts:
    """The tables for a vocabulary of `pieces` in internal form (see `charsmap.to_internal`).

    Example:
        >>> cuts = find_cuts({b" ": 5, b" the": 6, "é".encode(): 7})
        >>> [int(cuts.ascii[ord(left) << 7 | ord(right)]) for left, right in ("th", "e ")]
        [0, 1]
    """
    characters, ascii_cuts = np.zeros(0x110000, np.int32), np.ones(1 << 2 * _ASCII_BITS, np.uint8)
    crossed: set[tuple[int, int]] = set()
    for piece, index in pieces.items():
        text = piece.decode()
        if len(text) == 1:
            characters[ord(text)] |= (index + 1) << PIECE_SHIFT
            continue
        characters[ord(text[0])] |= LEADS
        crossed.update(pairwise(map(ord, text)))
    wide = []
    ascii_cuts.reshape(128, 128)[:, characters[:128] == 0] |= _ALONE
    for left, right in crossed:
        if (left | right) < 0x80:
            ascii_cuts[left << _ASCII_BITS | right] = 0
        else:
            wide.append(left << _POINT_BITS | right)
    bits = max(_LEAST_BITS, (_BITS_A_PAIR * len(wide)).bit_length())
    pairs, shift = np.zeros(1 << bits - _BYTE, np.uint8), 64 - bits
    _note(np.array(wide, np.uint64), pairs, np.uint64(shift))
    return SafeCuts(characters, ascii_cuts, pairs, shift)


@kernel
def _note(keys: Words, pairs: Bytes, shift: Word) -> None:
    """Set the bits of pairs of characters."""
    for key in keys:
        place = np.int64(spread(key) >> shift)
        pairs[place >> _BYTE] |= np.uint8(1 << (place & _BIT))


@inline
def _apart(left: Int, right: Int, pairs: Bytes, shift: Word) -> np.int64:
    """1 where no piece has two characters side by side that are not both ASCII, else 0 (or both by chance)."""
    place = np.int64(spread(np.uint64(left << _POINT_BITS | right)) >> shift)
    return np.int64(pairs[place >> _BYTE] >> (place & _BIT) & 1 ^ 1)


@inline
def stands_alone(character: Int, about: Int) -> bool:
    """Whether a character with text cut before it is a part by itself, and no word for the cache: no piece
    begins with it and goes on, and it is beyond ASCII or unknown. `about` is its entry.
    """
    return about == 0 or (character >= 0x80 and about & LEADS == 0)


@inline
def _find_ends(
    data: Bytes,
    index: Int,
    end: Int,
    characters: Ids,
    ascii_cuts: Bytes,
    pairs: Bytes,
    shift: Word,
    ends: Ints,
    most: Int,
) -> np.int64:
    """Write where the parts of ``data[index:end]`` end, up to `most` of them; return how many.

    A part must begin at `index`, with a character that does not stand alone; behind the last part there may be
    one. No branch depends on where text is cut: a processor cannot guess it.
    """
    left, width = code_point(data, index)
    position, count, alone = index + width, np.int64(0), False
    while position < end and count < most and not alone:
        stop = min(end, position + most - count)  # there are no more parts than bytes
        right = np.int64(data[position])
        while position < stop and (left | right) < 0x80 and not alone:
            cut = ascii_cuts[left << _ASCII_BITS | right]
            ends[count] = position
            count += cut & _CUT
            alone = cut & _ALONE != 0
            left, position = right, position + 1
            right = np.int64(data[position])
        if position < stop and not alone:
            right, width = code_point(data, position)
            cut = _apart(left, right, pairs, shift)
            ends[count] = position
            count += cut
            alone = cut != 0 and stands_alone(right, characters[right])
            left, position = right, position + width
    if position >= end and count < most and not alone:
        ends[count] = end
        count += 1
    return count


@inline
def find_parts(block: Block, text: Bytes, index: Int, end: Int) -> np.int64:
    """Find where the next parts of a text end, their keys and slots in the word cache; return how many.

    As `_find_ends`: up to the first character that stands alone, or `GROUP` of them.
    """
    parts, keys, homes = i64_in(block, at.PARTS), u64_in(block, at.PART_KEYS), i64_in(block, at.PART_HOMES)
    words = u64_in(block, WORDS)
    grow_if_full(words)
    slots, shift = u64_in(words, SLOTS), i64_in(words, STATE)[SHIFT]
    count = _find_ends(
        text, index, end, i32_in(block, at.CHARACTERS), u8_in(block, at.ASCII_CUTS), u8_in(block, at.PAIRS),
        u64_in(block, at.PAIR_SHIFT)[0], parts, np.int64(GROUP),
    )  # fmt: skip
    for k in range(count):
        size = min(parts[k] - index, at.LONGEST_PART)
        keys[2 * k], keys[2 * k + 1] = word_key(text, index, size, PART)
        homes[k] = word_home(keys[2 * k], keys[2 * k + 1], shift)
        prefetch_to_read(slots, homes[k])
        index = parts[k]
    return count
