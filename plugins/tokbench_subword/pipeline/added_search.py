"""The compiled search for added tokens: sixty-four bytes at a time, and a trie where one may begin.

Most text holds no added token, so the question asked of every byte has to be cheap: may a token begin with
this byte and the next? Vector comparisons answer it for sixty-four places at once (`ranges`), coarsely where
the tokens begin in many ways. For the places that remain, a table of pairs of bytes (`pairs`) tells at which of
their first three places tokens have a pair (bits 0 to 2; set where a token has ended before); and what passes
that too is looked up in a trie over bytes. Added tokens are valid UTF-8, as the text is, so that a match of
bytes is a match of characters.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import WINDOW, in_range_64, trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Int, i64_in, load_u64, u8_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.splicing import Writer, character_before
from tokbench_subword.pipeline.trie import longest_below, root_of

RANGES, PAIRS, UNITS, FLAGS, CHARACTERS, N_RANGES = range(6)
"""Where in its block the tables of a search are: uint8, uint8, uint64, uint8, uint8; and how many ranges there
are, int64.
"""
MATCH = 3
"""Numbers that tell of a match: where it begins, where it ends, which token it is."""

SKIPPED, SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4, 8
"""Flags of a token: its text is passed over as ordinary text; how it is matched."""
WORD_CHARACTER, WHITE_SPACE = 1, 2
"""Flags of a code point."""


@inline
def _candidates(data: Bytes, at: Int, ranges: Bytes, n_ranges: Int) -> np.uint64:
    """The places of the next sixty-four where a token may begin, as a set of bits."""
    places = np.uint64(0)
    for row in range(0, 4 * n_ranges, 4):
        first = in_range_64(data, at, 0, np.int64(ranges[row]), np.int64(ranges[row + 1]))
        second = in_range_64(data, at + 1, 0, np.int64(ranges[row + 2]), np.int64(ranges[row + 3]))
        places |= ~(first | second)
    return places


@inline
def _may_begin(data: Bytes, at: Int, pairs: Bytes) -> bool:
    """Whether the first three pairs of bytes are such as tokens have there. Reads eight bytes."""
    word = load_u64(data, at)
    first = pairs[word & np.uint64(0xFFFF)]
    second = pairs[(word >> np.uint64(8)) & np.uint64(0xFFFF)]
    third = pairs[(word >> np.uint64(16)) & np.uint64(0xFFFF)]
    return first & (second >> 1) & (third >> 2) & 1 != 0


@inline
def _is(data: Bytes, at: Int, characters: Bytes, flag: int) -> tuple[bool, Int]:
    """Whether the character at `at` has a flag, and how long it is."""
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
    """Where the white space begins that ends at `at`; not before `done`, even if `at` is."""
    while at > done:
        before = character_before(data, at)
        if not _is(data, before, characters, WHITE_SPACE)[0]:
            break
        at = before
    return max(at, done)


@inline
def _space_ends(data: Bytes, at: Int, end: Int, characters: Bytes) -> Int:
    """Where the white space ends that begins at `at`."""
    while at < end:
        is_space, size = _is(data, at, characters, WHITE_SPACE)
        if not is_space:
            break
        at += size
    return at


@Writer
def find_matches(tables: Block, batch: Block) -> np.int64:
    """Search documents from number `SEARCHED` on, and write what is found behind what was.

    That is `OUT_OFFSETS` here, `MATCH` numbers each. A document for whose matches there is no room is left to
    another call. `FOUND` is returned where anything is.
    """
    data, offsets = u8_in(batch, splicing.TEXT), i64_in(batch, splicing.OFFSETS)
    numbers, found = i64_in(batch, splicing.NUMBERS), i64_in(batch, splicing.OUT_OFFSETS)
    ranges, pairs, units = u8_in(tables, RANGES), u8_in(tables, PAIRS), u64_in(tables, UNITS)
    token_flags, characters = u8_in(tables, FLAGS), u8_in(tables, CHARACTERS)
    n_ranges, room = i64_in(tables, N_RANGES)[0], numbers[splicing.MOST_TEXTS] // MATCH
    document, count = numbers[splicing.SEARCHED], numbers[splicing.N_FOUND]
    while document < numbers[splicing.N_TEXTS]:
        begin, end = offsets[document], offsets[document + 1]
        at = done = white = begin  # white: where the white space ends that was last taken on the right
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
                # matches do not overlap, and what is passed over covers its text as well
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
                    # tokens of white space may begin many times in what one of them has taken
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
