"""`AddedMatcher`: added tokens compiled, to be found in many documents at once.

What it finds is what `AddedTokens.split` finds in each document, which is the plain form of the same rules; how
it is found is told in `added_search`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.pipeline import added_search as search
from tokbench_subword.pipeline.added_tokens import SPACE, AddedToken, AddedTokens
from tokbench_subword.pipeline.regexes import compile_regex
from tokbench_subword.pipeline.splicing import MOST_TEXTS, N_FOUND, N_NUMBERS, N_TEXTS, SEARCHED, Written
from tokbench_subword.pipeline.trie import build_trie

MOST_RANGES = 8
"""How many ranges of first bytes are looked for sixty-four places at a time; each costs as much again."""
_ROOM = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class AddedMatches:
    """Added tokens found: `starts` and `ends` in bytes of the data (int64), and `ids` (int32), all ``(n,)``.

    They cover white space that `lstrip` and `rstrip` take along. `starts` ascend; a match begins where the one
    before ends or later, except where a token begins with white space that `rstrip` of that one has taken.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    ids: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True, eq=False)
class AddedMatcher:
    """The tables of `tokens`, searched for with or without the special ones. Safe for use by many threads.

    Example:
        >>> tokens = AddedTokens([AddedToken("<mask>", 7, lstrip=True), AddedToken("<s>", 0, special=True)])
        >>> matcher = AddedMatcher.of(tokens, match_special=True)
        >>> data = np.frombuffer(b"a <mask>b<s>" + bytes(64), np.uint8)
        >>> found = matcher.find(data, np.array([0, 12]))
        >>> found.starts.tolist(), found.ends.tolist(), found.ids.tolist()
        ([1, 9], [8, 12], [7, 0])
    """

    tokens: AddedTokens
    match_special: bool
    ids: NDArray[np.int32]
    written: Written
    """What finds them, see `added_search`."""

    @classmethod
    def of(cls, tokens: AddedTokens, *, match_special: bool) -> AddedMatcher | None:
        """Compile `tokens`; None where none of them can ever match.

        One that holds half of a surrogate pair cannot: it is not in any UTF-8.
        """
        words = {text: token for text, token in tokens.by_text.items() if _in_utf8(text)}
        if all(token.special and not match_special for token in words.values()):
            return None
        keys = sorted(text.encode() for text in words)
        ordered = [words[key.decode()] for key in keys]
        pairs = _pairs(keys)
        ranges = _ranges(pairs & 1 != 0)
        flags = np.array([_flags(token, match_special) for token in ordered], np.uint8)
        around = search.SINGLE_WORD | search.LSTRIP | search.RSTRIP
        arrays = (
            ranges,
            pairs.T.reshape(-1).copy(),  # as the number that the two bytes of a pair are in little-endian order
            build_trie({key: number for number, key in enumerate(keys)}, nul=True),
            flags,
            _characters() if (flags & around).any() else np.zeros(1, np.uint8),
            np.array([len(ranges) // 4]),
        )
        ids = np.array([token.id for token in ordered], np.int32)
        return cls(tokens, match_special, ids, Written(search.find_matches, arrays))

    def find(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> AddedMatches:
        """The added tokens in documents, document i being ``data[offsets[i]:offsets[i + 1]]``, valid UTF-8.

        `offsets` has the shape ``(documents + 1,)``. `pointers.PADDING` bytes must be readable behind the last
        document. No match reaches across the ends of a document.
        """
        n_documents, offsets = len(offsets) - 1, np.ascontiguousarray(offsets)
        numbers, nothing = np.zeros(N_NUMBERS, np.int64), np.zeros(0, np.uint8)
        numbers[N_TEXTS] = n_documents
        found = np.empty((_ROOM, search.MATCH), np.int64)
        while True:
            numbers[MOST_TEXTS] = found.size
            self.written([data, offsets, nothing, found.reshape(-1), nothing, numbers, found[:0].reshape(-1)])
            if numbers[SEARCHED] == n_documents:
                starts, ends, tokens = found[: numbers[N_FOUND]].T
                return AddedMatches(starts.copy(), ends.copy(), self.ids[tokens])
            found = np.concatenate([found, np.empty((3 * len(found), search.MATCH), np.int64)])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(AddedMatcher.of, match_special=self.match_special), (self.tokens,)


def _in_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _flags(token: AddedToken, match_special: bool) -> int:
    return (
        search.SKIPPED * (token.special and not match_special)
        | search.SINGLE_WORD * token.single_word
        | search.LSTRIP * token.lstrip
        | search.RSTRIP * token.rstrip
    )


@lru_cache(maxsize=1)
def _characters() -> NDArray[np.uint8]:
    """What each code point is to the rules of added tokens: uint8 of shape ``(0x110000,)``."""
    points = [*range(0xD800), *range(0xE000, N_CODE_POINTS)]
    flags = np.zeros(N_CODE_POINTS, np.uint8)
    place = np.array(points)
    for start, end in compile_regex(r"\w+", "rust").spans("".join(map(chr, points))):
        flags[place[start:end]] = search.WORD_CHARACTER
    flags[[ord(character) for character in SPACE]] |= search.WHITE_SPACE
    return flags


def _pairs(keys: Iterable[bytes]) -> NDArray[np.uint8]:
    """Which pairs of bytes tokens have at their first three places, as bits: uint8 of shape ``(256, 256)``.

    Where a token has ended, any bytes may follow.
    """
    pairs = np.zeros((256, 256), np.uint8)
    for key in keys:
        for place in range(3):
            one, next_one = (key[k] if k < len(key) else slice(None) for k in (place, place + 1))
            pairs[one, next_one] |= 1 << place
    return pairs


def _ranges(begins: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Ranges that hold all pairs of bytes that tokens begin with, and few others; at most `MOST_RANGES`.

    Four numbers each: which first byte comes behind the range (0 behind 255), how many are not in it, and the
    same of the next byte. Of two neighbours, those are put together for which that adds the fewest pairs.
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
