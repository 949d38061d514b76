"""`AddedMatcher`: finds added tokens in many documents at once.

It finds what `AddedTokens.split`, the plain form of the same rules, finds in each document.

Most text contains no added token, so the first test, made at every byte, has to be cheap: may a token begin
with this byte and the next? Vector comparisons answer it for 64 places at once (`ranges`); if tokens begin in
many ways, the answer is coarse. The remaining places are tested by a table of byte pairs (`pairs`): its bits 0
to 2 tell whether some token has a pair at its first, second or third place (every pair, for tokens that are
shorter). Only then is the trie of all tokens asked. With 500 English words as added tokens, a search of English
without `pairs` takes 1.6 times as long. Added tokens and text are both valid UTF-8, so a match of bytes is a
match of characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.bits import WINDOW, in_range_64, trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Int, i64_in, load_u64, u8_in, u64_in
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.added_tokens import SPACE, AddedToken, AddedTokens
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.splicing import N_NUMBERS, BoundWriter, Writer
from tokbench_subword.pipeline.trie import build_trie, longest_below, root_of

RANGES, PAIRS, UNITS, FLAGS, CHARACTERS, N_RANGES = range(6)
"""The places of the tables in the block of a search: uint8, uint8, uint64, uint8, uint8; then the number of
ranges, int64.
"""
MATCH = 3
"""Numbers of a match: its begin, its end, and the token."""

SKIPPED, SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4, 8
"""Flags of a token: whether its text is skipped as ordinary text, and how it is matched."""
WORD_CHARACTER, WHITE_SPACE = 1, 2
"""Flags of a code point."""

MOST_RANGES = 8
"""The most ranges of first bytes that are compared at 64 places at once; each costs the same again."""
_ROOM = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class AddedMatcher:
    """The tables of added tokens, with or without the special ones. Safe for use by many threads.

    Example:
        >>> tokens = AddedTokens([AddedToken("<mask>", 7, lstrip=True), AddedToken("<s>", 0, special=True)])
        >>> matcher = AddedMatcher.of(tokens, match_special=True)
        >>> data = np.frombuffer(b"a <mask>b<s>" + bytes(64), np.uint8)
        >>> places, ids = matcher.find(data, np.array([0, 12]))
        >>> places.tolist(), ids.tolist()
        ([[1, 8], [9, 12]], [7, 0])
    """

    ids: NDArray[np.int32]
    search: BoundWriter
    """The kernel `find_matches` with its tables."""
    example: str
    """The text of one of the tokens."""

    @property
    def writers(self) -> tuple[BoundWriter, ...]:
        """The kernel of this stage, for texts without added tokens: it returns `FOUND` if there is one."""
        return (self.search,)

    @classmethod
    def of(cls, tokens: AddedTokens, *, match_special: bool) -> AddedMatcher | None:
        """Compile `tokens`; None if none of them can ever match.

        A token with half of a surrogate pair cannot, since no UTF-8 contains that.
        """
        words = {text: token for text, token in tokens.by_text.items() if _in_utf8(text)}
        if all(token.special and not match_special for token in words.values()):
            return None
        keys = sorted(text.encode() for text in words)
        ordered = [words[key.decode()] for key in keys]
        pairs = _pairs(keys)
        ranges = _ranges(pairs & 1 != 0)
        flags = np.array([_flags(token, match_special) for token in ordered], np.uint8)
        around = SINGLE_WORD | LSTRIP | RSTRIP
        arrays = (
            ranges,
            pairs.T.reshape(-1).copy(),  # indexed by a pair of bytes read as a little-endian number
            build_trie({key: number for number, key in enumerate(keys)}, nul=True),
            flags,
            _characters() if (flags & around).any() else np.zeros(1, np.uint8),
            np.array([len(ranges) // 4]),
        )
        ids = np.array([token.id for token in ordered], np.int32)
        example = next(text for text, token in words.items() if match_special or not token.special)
        return cls(ids, BoundWriter(find_matches, arrays), example)

    def find(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Find the added tokens in documents; document i is ``data[offsets[i]:offsets[i + 1]]``, valid UTF-8.

        `offsets` has the shape ``(documents + 1,)``; `pointers.PADDING` readable bytes follow the last
        document. Returns the begin and end of each match in bytes of `data`, int64 ``(n, 2)``, and the ids. A
        match includes the white space that `lstrip` and `rstrip` take. Matches are in order and do not overlap,
        except that a token may begin with white space that `rstrip` of the match before has taken. No match
        crosses the end of a document.
        """
        n_documents, offsets = len(offsets) - 1, np.ascontiguousarray(offsets)
        numbers, nothing = np.zeros(N_NUMBERS, np.int64), np.zeros(0, np.uint8)
        numbers[splicing.N_TEXTS] = n_documents
        found = np.empty((_ROOM, MATCH), np.int64)
        while True:
            numbers[splicing.MOST_TEXTS] = found.size
            self.search([data, offsets, nothing, found.reshape(-1), nothing, numbers, found[:0].reshape(-1)])
            if numbers[splicing.SEARCHED] == n_documents:
                found = found[: numbers[splicing.N_FOUND]]
                return found[:, :2].copy(), self.ids[found[:, 2]]
            found = np.concatenate([found, np.empty((3 * len(found), MATCH), np.int64)])


def _in_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _flags(token: AddedToken, match_special: bool) -> int:
    return (
        SKIPPED * (token.special and not match_special)
        | SINGLE_WORD * token.single_word
        | LSTRIP * token.lstrip
        | RSTRIP * token.rstrip
    )


@lru_cache(maxsize=1)
def _characters() -> NDArray[np.uint8]:
    """The flags of each code point, `WORD_CHARACTER` and `WHITE_SPACE`: uint8 of shape ``(0x110000,)``."""
    points = [*range(0xD800), *range(0xE000, N_CODE_POINTS)]
    flags = np.zeros(N_CODE_POINTS, np.uint8)
    place = np.array(points)
    for start, end in compile_regex(r"\w+", "rust").spans("".join(map(chr, points))):
        flags[place[start:end]] = WORD_CHARACTER
    flags[[ord(character) for character in SPACE]] |= WHITE_SPACE
    return flags


def _pairs(keys: Iterable[bytes]) -> NDArray[np.uint8]:
    """For each pair of bytes, at which of their first three places tokens have it, as bits: uint8 ``(256,
    256)``.

    After the end of a token any bytes may follow.
    """
    pairs = np.zeros((256, 256), np.uint8)
    for key in keys:
        for place in range(3):
            one, next_one = (key[k] if k < len(key) else slice(None) for k in (place, place + 1))
            pairs[one, next_one] |= 1 << place
    return pairs


def _ranges(begins: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """At most `MOST_RANGES` ranges that contain all pairs of bytes that tokens begin with, and few others.

    A range is four numbers, two for the first byte of a pair and two for the second. They describe the bytes
    outside the range, which are quicker to test for: the first byte after it (0 after 255), and how many there
    are. While there are too many ranges, the two neighbours are merged whose union adds the fewest pairs.
    """
    boxes = []
    for first in np.flatnonzero(begins.any(axis=1)):
        following = np.flatnonzero(begins[first])
        boxes.append((int(first), int(first), int(following[0]), int(following[-1])))
    while len(boxes) > 1:
        joined = [_around(one, other) for one, other in pairwise(boxes)]
        added = [_area(both) - _area(boxes[k]) - _area(boxes[k + 1]) for k, both in enumerate(joined)]
        k = int(np.argmin(added))
        if added[k] > 0 and len(boxes) <= MOST_RANGES:
            break
        boxes[k : k + 2] = [joined[k]]
    rows = [(b + 1 & 0xFF, 0xFF - (b - a), d + 1 & 0xFF, 0xFF - (d - c)) for a, b, c, d in boxes]
    return np.array(rows, np.uint8).reshape(-1)


Box = tuple[int, int, int, int]


def _around(one: Box, other: Box) -> Box:
    return one[0], other[1], min(one[2], other[2]), max(one[3], other[3])


def _area(box: Box) -> int:
    return (box[1] - box[0] + 1) * (box[3] - box[2] + 1)


@inline
def _candidates(data: Bytes, at: Int, ranges: Bytes, n_ranges: Int) -> np.uint64:
    """Which of the next 64 places a token may begin at, as a set of bits."""
    places = np.uint64(0)
    for row in range(0, 4 * n_ranges, 4):
        first = in_range_64(data, at, 0, np.int64(ranges[row]), np.int64(ranges[row + 1]))
        second = in_range_64(data, at + 1, 0, np.int64(ranges[row + 2]), np.int64(ranges[row + 3]))
        places |= ~(first | second)
    return places


@inline
def _may_begin(data: Bytes, at: Int, pairs: Bytes) -> bool:
    """Whether some token has the first three pairs of bytes at its first three places. Reads eight bytes."""
    word = load_u64(data, at)
    first = pairs[word & np.uint64(0xFFFF)]
    second = pairs[(word >> np.uint64(8)) & np.uint64(0xFFFF)]
    third = pairs[(word >> np.uint64(16)) & np.uint64(0xFFFF)]
    return first & (second >> 1) & (third >> 2) & 1 != 0


@inline
def _is(data: Bytes, at: Int, characters: Bytes, flag: int) -> tuple[bool, Int]:
    """Whether the character at `at` has a flag, and how many bytes it has."""
    point, size = code_point(data, at)
    return characters[point] & flag != 0, size


@inline
def _within_word(data: Bytes, begin: Int, start: Int, stop: Int, end: Int, characters: Bytes) -> bool:
    """Whether a word character stands beside ``data[start:stop]``."""
    if start > begin and _is(data, character_before(data, start), characters, WORD_CHARACTER)[0]:
        return True
    return bool(stop < end and _is(data, stop, characters, WORD_CHARACTER)[0])


@inline
def _space_begins(data: Bytes, done: Int, at: Int, characters: Bytes) -> Int:
    """The begin of the white space that ends at `at`, but not before `done`, even if `at` is."""
    while at > done:
        before = character_before(data, at)
        if not _is(data, before, characters, WHITE_SPACE)[0]:
            break
        at = before
    return max(at, done)


@inline
def _space_ends(data: Bytes, at: Int, end: Int, characters: Bytes) -> Int:
    """The end of the white space that begins at `at`."""
    while at < end:
        is_space, size = _is(data, at, characters, WHITE_SPACE)
        if not is_space:
            break
        at += size
    return at


@Writer
def find_matches(tables: Block, batch: Block) -> np.int64:
    """Search the documents from number `SEARCHED` on, and append the matches to `OUT_OFFSETS`.

    A match is `MATCH` numbers. If there is no room for the matches of a document, it is left to another call.
    Returns `FOUND` if there are any matches.
    """
    data, offsets = u8_in(batch, splicing.TEXT), i64_in(batch, splicing.OFFSETS)
    numbers, found = i64_in(batch, splicing.NUMBERS), i64_in(batch, splicing.OUT_OFFSETS)
    ranges, pairs, units = u8_in(tables, RANGES), u8_in(tables, PAIRS), u64_in(tables, UNITS)
    token_flags, characters = u8_in(tables, FLAGS), u8_in(tables, CHARACTERS)
    n_ranges, room = i64_in(tables, N_RANGES)[0], numbers[splicing.MOST_TEXTS] // MATCH
    document, count = numbers[splicing.SEARCHED], numbers[splicing.N_FOUND]
    while document < numbers[splicing.N_TEXTS]:
        begin, end = offsets[document], offsets[document + 1]
        at = done = white = begin  # white: the end of the white space that was last taken on the right
        column = count
        while at < end:
            window = at
            places = _candidates(data, at, ranges, n_ranges)
            at += WINDOW
            if at > end:
                places &= (np.uint64(1) << np.uint64(end - window)) - np.uint64(1)
            while places != 0:
                start = window + trailing_zeros(places)
                places &= places - np.uint64(1)
                if not _may_begin(data, start, pairs):
                    continue
                token, stop = longest_below(units, root_of(units), data, start, end)
                if token < 0:
                    continue
                # matches do not overlap, and skipped text counts as covered, too
                if stop - window < WINDOW:
                    places &= ~np.uint64(0) << np.uint64(stop - window)
                else:
                    places, at = np.uint64(0), stop
                flags = token_flags[token]
                if flags & SKIPPED:
                    continue
                if flags & SINGLE_WORD and _within_word(data, begin, start, stop, end, characters):
                    continue
                if flags & LSTRIP:
                    start = _space_begins(data, done, start, characters)
                if flags & RSTRIP:
                    # a token of white space may match several times within the space that another has taken
                    white = stop = max(white, _space_ends(data, max(stop, white), end, characters))
                if start >= stop:
                    continue
                if column == room:
                    numbers[splicing.SEARCHED], numbers[splicing.N_FOUND] = document, count
                    return np.int64(splicing.FOUND)
                place = MATCH * column
                found[place], found[place + 1], found[place + 2] = start, stop, token
                column += 1
                done = stop
        count = column
        document += 1
    numbers[splicing.SEARCHED], numbers[splicing.N_FOUND] = document, count
    return np.int64(splicing.FOUND if count > 0 else splicing.UNCHANGED)
