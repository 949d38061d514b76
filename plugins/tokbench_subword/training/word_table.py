"""A table of distinct words with their counts, filled by kernels; each thread has its own table.

The table copies words to its own store, since the next block overwrites the text they came from. It also stores
where in the corpus a word first occurred, so that the joined result of several tables does not depend on which
table counted what.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import equal_bytes, first_bytes, mix, spread
from tokbench.kernels.pointers import Bytes, Int, Ints, Word, Words, load_u64, pointer

STORE_PADDING = 16
"""Bytes at the end of the store that stay unused, so that words can be compared eight bytes at a time."""

# A table's state, int64: where the kernel continues; the number of words; the bytes used in the store.
POSITION, WORDS, KEPT = range(3)

# A row of the table, uint64: hash and length of the word; its number and its place in the store; its count;
# its first position in the corpus.
TAG, PLACE, COUNT, SEEN = range(4)
_NUMBER_SHIFT = np.uint64(36)
_PLACE_MASK = np.uint64((1 << 36) - 1)
_UPPER = np.uint64(0xFFFFFFFF00000000)
_LENGTH = np.uint64(0xFFFFFFFF)


@inline
def _tag(text: Bytes, start: Int, length: Int) -> np.uint64:
    """The upper half of a hash of the word, with the word's length in the lower half; never 0.

    Cheaper than `hash_bytes` for short words, which most are.
    """
    value = np.uint64(length)
    at = start
    end = start + length
    while at + 8 <= end:
        value = mix(value, load_u64(text, at))
        at += 8
    if at < end:
        value = mix(value, first_bytes(load_u64(text, at), end - at))
    return (value & _UPPER) | np.uint64(length)


@inline
def _place_of(number_and_place: Word) -> np.int64:
    """The place of a word in the store, without its number."""
    return np.int64(number_and_place & _PLACE_MASK)


@inline
def _home(tag: Word, mask: Int) -> np.int64:
    """The row at which the search for a tag starts."""
    return np.int64(spread(tag) >> np.uint64(32)) & mask


class Opened(NamedTuple):
    """A `WordTable` for kernels: the outer kernel makes it from the arrays by `opened`."""

    rows: Any
    """Pointer to uint64."""
    mask: Any
    """The number of rows, a power of two, minus one."""
    kept: Any
    """Pointer to uint8."""
    room: Any
    """The size of the store, minus `STORE_PADDING`."""
    state: Any


@inline
def opened(rows: Words, kept: Bytes, state: Ints) -> Opened:
    """The arrays of a `WordTable`, as arguments of `note_word`."""
    return Opened(pointer(rows), np.int64(len(rows) // 4 - 1), pointer(kept), len(kept) - STORE_PADDING, state)


@inline
def note_word(text: Bytes, at: Int, length: Int, seen: Int, words: Opened) -> bool:
    """Add one to the count of ``text[at:at + length]`` in `words`; returns False if there is no room.

    `text` must be readable for eight bytes past the word. `seen` is the word's position in the corpus.
    """
    return _note_tagged(_tag(text, at, length), text, at, length, seen, 1, words)


@inline
def _note_tagged(
    tag: Word, text: Bytes, at: Int, length: Int, seen: Int | Word, times: Int | Word, words: Opened
) -> bool:
    """`note_word` for a word with a known tag, counted `times` times."""
    table, mask, kept, room, state = words
    row = _home(tag, mask)
    while True:
        found = table[4 * row + TAG]
        if found == tag and equal_bytes(text, at, kept, _place_of(table[4 * row + PLACE]), length):
            table[4 * row + COUNT] += np.uint64(times)
            if np.uint64(seen) < table[4 * row + SEEN]:
                table[4 * row + SEEN] = np.uint64(seen)
            return True
        if found == 0:
            used = state[KEPT]
            if 2 * state[WORDS] > mask or used + length > room:
                return False
            for index in range(length):
                kept[used + index] = text[at + index]
            table[4 * row + TAG] = tag
            table[4 * row + PLACE] = (np.uint64(state[WORDS]) << _NUMBER_SHIFT) | np.uint64(used)
            table[4 * row + COUNT] = np.uint64(times)
            table[4 * row + SEEN] = np.uint64(seen)
            state[KEPT] = used + length
            state[WORDS] += 1
            return True
        row = (row + 1) & mask


@kernel
def _rehash(rows_: Words, larger_: Words) -> None:
    """Copy the rows of a table to a larger, empty one."""
    table, larger = pointer(rows_), pointer(larger_)
    mask = np.int64(len(larger_) // 4 - 1)
    for at in range(0, len(rows_), 4):
        if table[at + TAG] != 0:
            row = _home(table[at + TAG], mask)
            while larger[4 * row + TAG] != 0:
                row = (row + 1) & mask
            for field_ in range(4):
                larger[4 * row + field_] = table[at + field_]


@kernel
def _absorb(other_rows: Words, other_kept: Bytes, rows_: Words, kept_: Bytes, state: Ints) -> bool:
    """Add the words of another table, from row ``state[POSITION]`` on; return whether all had room."""
    words, other = opened(rows_, kept_, state), pointer(other_kept)
    for at in range(state[POSITION], len(other_rows)):
        tag, where, count, seen = other_rows[at]
        length = np.int64(tag & _LENGTH)
        if not _note_tagged(tag, other, _place_of(where), length, seen, count, words):
            state[POSITION] = at
            return False
    return True


@kernel
def _copy_words(kept_: Bytes, places: Ints, starts: Ints, data_: Bytes) -> None:
    """Copy words from their `places` in a store to where each begins in `data_`."""
    kept, data = pointer(kept_), pointer(data_)
    for word in range(len(places)):
        place, start = places[word], starts[word]
        for index in range(starts[word + 1] - start):
            data[start + index] = kept[place + index]


def _words_at(
    places: Ints, sizes: Ints, kept: NDArray[np.uint8], counts: NDArray[np.int64], unit: int = 1
) -> WordCounts:
    """The `WordCounts` of words at the given places of a store."""
    starts = np.append(0, np.cumsum(sizes))
    data = np.empty(starts[-1], np.uint8)
    _copy_words(kept, places, starts, data)
    return WordCounts(data, starts, counts, unit)


def chosen_words(words: WordCounts, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> WordCounts:
    """The chosen words: in their own order if `chosen` is a mask, in the order of `chosen` if it has numbers.

    Example:
        >>> list(chosen_words(WordCounts.of({"a": 1, "bc": 2, "d": 3}), np.array([2, 1])))
        [(b'd', 3), (b'bc', 2)]
    """
    begins, sizes = words.starts[:-1][chosen], np.diff(words.starts)[chosen]
    return _words_at(begins, sizes, words.data, words.counts[chosen], words.unit)


class WordTable:
    """The word counts of one thread; kernels fill the table by `note_word`, and `grow` makes room for more."""

    def __init__(self) -> None:
        self.rows: NDArray[np.uint64] = np.zeros(4 << 14, np.uint64)
        self.kept: NDArray[np.uint8] = np.zeros(1 << 17, np.uint8)
        self.state: NDArray[np.int64] = np.zeros(3, np.int64)

    @property
    def size(self) -> int:
        """The number of distinct words."""
        return int(self.state[WORDS])

    def grow(self, waiting: int) -> None:
        """Double the table if it is full, else extend the store, with room for a word of `waiting` bytes."""
        if self.state[WORDS] >= len(self.rows) // 8:
            larger = np.zeros(2 * len(self.rows), np.uint64)
            _rehash(self.rows, larger)
            self.rows = larger
        else:
            more = np.zeros(len(self.kept) // 2 + waiting + STORE_PADDING, np.uint8)
            self.kept = np.concatenate([self.kept, more])

    def absorb(self, other: WordTable) -> None:
        """Add the counts of another table."""
        self._add(other.rows.reshape(-1, 4)[other._order()], other.kept)

    def forget(self, most: int) -> None:
        """If there are more than `most` words, keep only the most frequent ones: at most half of `most`."""
        if self.state[WORDS] <= most:
            return
        rows = self.rows.reshape(-1, 4)[self._order()]
        counts = rows[:, COUNT]
        too_rare = np.partition(counts, len(rows) - most // 2 - 1)[len(rows) - most // 2 - 1]
        fresh = WordTable()
        fresh._add(rows[counts > too_rare], self.kept)
        self.rows, self.kept, self.state = fresh.rows, fresh.kept, fresh.state

    def words(self) -> WordCounts:
        """All words with their counts, in order of first occurrence."""
        rows, order = self.rows.reshape(-1, 4), self._order()
        fields = rows[order, PLACE] & _PLACE_MASK, rows[order, TAG] & _LENGTH, rows[order, COUNT]
        places, sizes, counts = (field.astype(np.int64) for field in fields)
        return _words_at(places, sizes, self.kept, counts)

    def _order(self) -> NDArray[np.int64]:
        """The rows in use, in order of first occurrence: the order of numbers, except for absorbed words."""
        rows = self.rows.reshape(-1, 4)
        used = np.flatnonzero(rows[:, TAG])
        order = np.empty(len(used), np.int64)
        order[(rows[used, PLACE] >> _NUMBER_SHIFT).astype(np.int64)] = used
        return order[np.argsort(rows[order, SEEN], kind="stable")]

    def _add(self, rows: NDArray[np.uint64], kept: NDArray[np.uint8]) -> None:
        self.state[POSITION] = 0
        while not _absorb(rows, kept, self.rows, self.kept, self.state):
            self.grow(int(rows[self.state[POSITION], TAG] & _LENGTH))
