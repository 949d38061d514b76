"""Tables of the pairs of characters that no token contains side by side: `words.parts` cuts text between them.

For two ASCII characters, a table tells whether some token contains them side by side. For other pairs a bit at
the place of their hash tells; if two pairs share a bit, text is cut less often than it could be.

Byte-level tokens may begin or end within a character. Every character that some such token begins within counts
as joined to every character that some such token ends within, even if no single token does both. That loses up
to one cut in a hundred (GPT-2, Llama 3, Qwen2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import PADDING, Bytes, Ids, Int, Ints, Word, Words, pointer
from tokbench.kernels.text import end_to_end
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import code_point, width_of

LEADS = 1
"""Flag of a character that some longer piece begins with."""
LEAVES_SHIFT, ENTERS_SHIFT, PIECE_SHIFT = 1, 4, 7
"""Bit positions in the entry of a character: the kinds of tokens that lead from it into the next character, the
kinds that lead into it from the one before, and its id as a piece, plus one."""
KINDS = 7
"""One bit each: tokens that end within the second of two characters, begin within the first, or do both."""
_OUT_OF_SOME, _INTO_SOME = 1, 2
"""Kinds that are unused if all tokens consist of whole characters; `_not_beside` uses them."""
CUT, ALONE = 1, 2
"""Flags of a pair of ASCII characters: text is cut between them; the second stands alone."""
ASCII_BITS = 7
_POINT_BITS, _SIDE_BITS, _PARTIAL = 21, 25, 1 << 24
_LEAST_BITS, _BITS_A_PAIR = 16, 16
_BYTE, _BIT = 3, 7
_MOST_IDS = (1 << 31 - PIECE_SHIFT) - 2
_FIRST_OF_LENGTH = (0, 0x80, 0x800, 0x10000)
"""The first character of one, two, three and four bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class SafeCuts:
    """The tables of safe cuts.

    `characters`, int32 ``(0x110000,)``: the flags of each character and its id as a piece. `ascii`, uint8
    ``(128 * 128,)``: `CUT` and `ALONE` for each pair of ASCII characters. `pairs`, uint8 of ``2 ** (61 -
    shift)``: a bit for the hash of every other pair that some piece contains. `within`: whether any token
    begins or ends within a character.
    """

    characters: NDArray[np.int32]
    ascii: NDArray[np.uint8]
    pairs: NDArray[np.uint8]
    shift: int
    within: bool

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The arrays of `parts.PartTables` that all threads share, in its order."""
        return [self.characters, self.ascii, self.pairs, np.array([self.shift, self.within], np.uint64)]


def find_cuts(pieces: Mapping[bytes, int], *, never_beside: NDArray[np.bool_] | None = None) -> SafeCuts:
    """The tables for pieces that consist of whole characters; single characters may stand alone.

    Text is not cut before or after the characters that `never_beside`, bool ``(0x110000,)``, marks, because
    their tokens depend on their neighbours.

    Example:
        >>> cuts = find_cuts({b" ": 5, b" the": 6, "é".encode(): 7})
        >>> [int(cuts.ascii[ord(left) << 7 | ord(right)]) for left, right in ("th", "e ")]
        [0, 1]
    """
    if max(pieces.values(), default=0) > _MOST_IDS:
        raise TokenizerError(f"ids of pieces must lie in 0..{_MOST_IDS}")
    blob, starts = end_to_end(list(pieces), PADDING)
    cuts = _cuts_of(blob, starts, np.fromiter(pieces.values(), np.int32, len(pieces)), 0)
    return cuts if never_beside is None else _not_beside(cuts, never_beside)


def _not_beside(cuts: SafeCuts, some: NDArray[np.bool_]) -> SafeCuts:
    """The same tables without cuts beside `some` characters.

    They are treated as if some token joined each of them to every other character.
    """
    cuts.characters[:] |= _OUT_OF_SOME << ENTERS_SHIFT | _INTO_SOME << LEAVES_SHIFT
    cuts.characters[some] |= _OUT_OF_SOME << LEAVES_SHIFT | _INTO_SOME << ENTERS_SHIFT | LEADS
    square = cuts.ascii.reshape(128, 128)
    square[some[:128]] = square[:, some[:128]] = 0
    return replace(cuts, within=True)


def find_byte_cuts(blob: NDArray[np.uint8], starts: NDArray[np.int64]) -> SafeCuts:
    """The tables for byte-level tokens, ``blob[starts[t]:starts[t + 1]]``; no character stands alone.

    `PADDING` bytes follow the last token in `blob`.
    """
    return _cuts_of(blob, starts, np.zeros(0, np.int32), LEADS)


def _cuts_of(
    blob: NDArray[np.uint8], starts: NDArray[np.int64], ids: NDArray[np.int32], flags: int
) -> SafeCuts:
    """The tables; every character starts with the `flags`. `ids` has the id of each token, or is empty."""
    characters, ascii_cuts = (
        np.full(N_CODE_POINTS, flags, np.int32),
        np.full(1 << 2 * ASCII_BITS, CUT, np.uint8),
    )
    sides = np.empty(len(blob), np.uint64)
    count = _read_tokens(blob, starts, ids, characters, ascii_cuts, sides)
    crossed = np.unique(sides[:count])
    left = (crossed >> np.uint64(_SIDE_BITS)).astype(np.int64)
    right = (crossed & np.uint64((1 << _SIDE_BITS) - 1)).astype(np.int64)
    partial = (left | right) >= _PARTIAL
    kinds = 1 << (2 * (left >= _PARTIAL) + (right >= _PARTIAL) - 1)[partial]
    for side, kind in set(zip(left[partial].tolist(), kinds.tolist(), strict=True)):
        characters[_ending_with(side)] |= kind << LEAVES_SHIFT
    for side, kind in set(zip(right[partial].tolist(), kinds.tolist(), strict=True)):
        characters[_beginning_with(side)] |= kind << ENTERS_SHIFT
    wide = (left << _POINT_BITS | right)[~partial].astype(np.uint64)
    ascii_cuts.reshape(128, 128)[:, characters[:128] == 0] *= CUT | ALONE  # 0, no cut, stays 0
    bits = max(_LEAST_BITS, (_BITS_A_PAIR * len(wide)).bit_length())
    pairs, shift = np.zeros(1 << bits - _BYTE, np.uint8), 64 - bits
    _note(wide, pairs, np.uint64(shift))
    return SafeCuts(characters, ascii_cuts, pairs, shift, bool(partial.any()))


@inline
def _continues(byte: Int) -> bool:
    return bool(0x80 <= byte < 0xC0)


@inline
def _side(blob: Bytes, start: Int, stop: Int) -> np.int64:
    """The code point of a character, or `_PARTIAL` with the bytes of a part of a character.

    Bytes that occur in no valid text may get any answer: an overlong form counts as the character it would
    encode, which can only lose cuts, and only the first three of several continuation bytes count.
    """
    if not _continues(blob[start]) and stop - start == width_of(blob[start]):
        point = np.int64(code_point(blob, start)[0])
        if point < N_CODE_POINTS:
            return point
    found = np.int64(0)
    for i in range(start, min(stop, start + 3)):
        found = found << 8 | blob[i]
    return found | _PARTIAL


@kernel
def _read_tokens(
    blob: Bytes, starts: Ints, ids: Ids, characters: Ids, ascii_cuts: Bytes, sides: Words
) -> np.int64:
    """Collect the pairs of characters that tokens contain: of ASCII in `ascii_cuts`, all others in `sides`.

    Returns the number of pairs in `sides`. `ids` has the id of each token, or is empty.
    """
    data, count = pointer(blob), np.int64(0)
    for token in range(len(starts) - 1):
        start, end = starts[token], starts[token + 1]
        before, i = np.int64(-1), start
        while i < end:
            stop, most = i + 1, i + width_of(data[i])
            if _continues(data[i]):
                most = end
            while stop < min(end, most) and _continues(data[stop]):
                stop += 1
            side = _side(data, i, stop)
            if i == start and side < _PARTIAL:
                if stop < end:
                    characters[side] |= LEADS
                elif len(ids) > 0:
                    characters[side] |= (ids[token] + 1) << PIECE_SHIFT
            if before >= 0:
                if (before | side) < 0x80:
                    ascii_cuts[before << ASCII_BITS | side] = 0
                else:
                    sides[count] = before << _SIDE_BITS | side
                    count += 1
            before, i = side, stop
    return count


def _ending_with(side: int) -> slice:
    """The characters whose UTF-8 ends with the bytes of `side`; just that one if `side` is a character."""
    if side < _PARTIAL:
        return slice(side, side + 1)
    tail = (side - _PARTIAL).to_bytes(3, "big").lstrip(b"\0")
    if not tail or not all(0x80 <= byte < 0xC0 for byte in tail):  # in no text
        return slice(0)
    low = sum((byte & 0x3F) << 6 * place for place, byte in enumerate(reversed(tail)))
    first, step = _FIRST_OF_LENGTH[len(tail)], 64 ** len(tail)
    return slice(first + (low - first) % step, N_CODE_POINTS, step)


def _beginning_with(side: int) -> slice:
    """The characters whose UTF-8 begins with the bytes of `side`; just that one if `side` is a character."""
    if side < _PARTIAL:
        return slice(side, side + 1)
    head = (side - _PARTIAL).to_bytes(3, "big").lstrip(b"\0")
    if not head or not 0xC2 <= head[0] < 0xF8:  # in no text
        return slice(0)
    length = 2 + (head[0] >= 0xE0) + (head[0] >= 0xF0)
    high = head[0] & (0x7F >> length)
    for byte in head[1:]:
        high = high << 6 | byte & 0x3F
    shift = 6 * (length - len(head))
    return slice(max(high << shift, _FIRST_OF_LENGTH[length - 1]), (high + 1) << shift)


@kernel
def _note(keys: Words, pairs: Bytes, shift: Word) -> None:
    """Set the bits of the pairs `keys`."""
    for key in keys:
        place = np.int64(spread(key) >> shift)
        pairs[place >> _BYTE] |= np.uint8(1 << (place & _BIT))


@inline
def apart(left: Int, right: Int, pairs: Bytes, shift: Word) -> np.int64:
    """1 if no piece contains two characters, not both ASCII, side by side; 0 if one may (or the hash is
    shared).
    """
    place = np.int64(spread(np.uint64(left << _POINT_BITS | right)) >> shift)
    return np.int64(pairs[place >> _BYTE] >> (place & _BIT) & 1 ^ 1)


@inline
def joined_within(about: Int, about_next: Int) -> np.int64:
    """Not 0 if a token that begins or ends within a character may join two characters with these entries."""
    return np.int64((about >> LEAVES_SHIFT) & (about_next >> ENTERS_SHIFT) & KINDS)
