"""The words of a corpus as numbers of characters, laid end to end: what seeds, EM and pruning work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Ids, Int, Ints, pointer
from tokbench.kernels.threads import in_threads
from tokbench.kernels.utf8 import code_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = 8
"""Parts of the work on a text, whose sums are added in order: the same for any number of threads."""
_POINTS = 0x110000
_NUL = 0xFFFF
"""Stands for NUL, which no piece can hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Words as numbers of characters.

    `symbols` int32 holds them with a 0 behind each and `max_length` more; `alphabet[s - 1]` is the character of
    symbol s; word w begins at ``starts[w]``, has ``sizes[w]`` characters and occurs ``counts[w]`` times.
    """

    symbols: NDArray[np.int32]
    alphabet: NDArray[np.uint32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.float64]


def character_counts(words: WordCounts, threads: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of all words with how often each occurs, by code point; U+FFFF stands for NUL."""

    def part(run: tuple[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        totals, seen = np.zeros(_POINTS, np.int64), np.empty(_POINTS, np.int32)  # most of it is never touched
        found = np.sort(seen[: _count_characters(words.data, words.starts, words.counts, *run, totals, seen)])
        return found, totals[found]

    found = in_threads(part, _runs(words.starts[1:], min(threads, CHUNKS)), threads)
    points, numbers = np.unique(np.concatenate([points for points, _ in found]), return_inverse=True)
    totals = np.zeros(len(points), np.int64)
    np.add.at(totals, numbers, np.concatenate([counts for _, counts in found]))
    return points.astype(np.uint32), totals


def covering(
    points: NDArray[np.uint32], totals: NDArray[np.int64], coverage: float
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The most frequent characters, which are the share `coverage` of a text, with their counts, by code point.

    Of equally frequent ones the first is taken. NUL is left out.
    """
    order = np.argsort(-totals, kind="stable")
    covered_before = np.cumsum(totals[order]) - totals[order]
    wanted = np.zeros(len(points), np.bool_)
    wanted[order] = covered_before / totals.sum() < coverage
    wanted &= points != _NUL
    return points[wanted], totals[wanted]


def lay_out(words: WordCounts, alphabet: NDArray[np.uint32], max_length: int, threads: int) -> Text:
    """The words in numbers; characters outside `alphabet` (sorted) cut a word in two."""
    numbers = np.zeros(_POINTS, np.int32)
    numbers[alphabet] = np.arange(1, len(alphabet) + 1)
    runs = _runs(words.starts[1:], CHUNKS)

    def places_taken(run: tuple[int, int]) -> int:
        """How many places some words take: one a character, and one behind each word."""
        data = words.data[words.starts[run[0]] : words.starts[run[1]]]
        return run[1] - run[0] + int(np.count_nonzero((data & 0xC0) != 0x80))

    sizes = in_threads(places_taken, runs, threads)
    limits = np.cumsum([0, *sizes]).tolist()
    symbols = np.zeros(limits[-1] + max_length + 1, np.int32)

    def part(job: tuple[tuple[int, int], tuple[int, int]]) -> tuple[NDArray[np.int64], ...]:
        run, (begin, end) = job
        starts, sizes, counts = (np.empty(end - begin, np.int64) for _ in range(3))
        some = words.data, words.starts, words.counts
        n = _lay_out(some, run, numbers, symbols, begin, (starts, sizes, counts))
        return starts[:n], sizes[:n], counts[:n]

    parts = in_threads(part, zip(runs, pairwise(limits), strict=True), threads)
    starts, lengths, counts = (np.concatenate([fields[index] for fields in parts]) for index in range(3))
    return Text(symbols, alphabet, starts, lengths, counts.astype(np.float64) / words.unit)


def word_chunks(text: Text) -> list[tuple[int, int]]:
    """Runs of words of about equal size in characters."""
    return _runs(np.cumsum(text.sizes), CHUNKS)


def summed(
    part: Callable[[tuple[int, int], NDArray[np.float64]], None],
    text: Text,
    size: int,
    sums: NDArray[np.float64],
    threads: int,
) -> NDArray[np.float64]:
    """The sum of what ``part(words, array)`` adds to `size` zeros for each run of words.

    The array of each run is one of the rows of `sums`, float64 of shape ``(CHUNKS, size)`` or with longer rows,
    and these are added in order, so that it makes no difference which thread does what when.
    """

    def fill(job: tuple[tuple[int, int], NDArray[np.float64]]) -> None:
        words, row = job
        row[:] = 0.0
        part(words, row)

    rows = sums[:, :size]
    in_threads(fill, zip(word_chunks(text), rows, strict=True), threads)
    total: NDArray[np.float64] = rows.sum(axis=0)  # row by row, the first ones first
    return total


def place_chunks(text: Text) -> list[tuple[int, int]]:
    """Runs of places, of about equally many, from the beginning of a word to behind the end of one."""
    starts = text.starts
    wanted = [int(starts[-1] + text.sizes[-1]) * part // CHUNKS for part in range(1, CHUNKS)]
    cuts = starts[np.searchsorted(starts, wanted).clip(max=len(starts) - 1)]
    end = int(starts[-1] + text.sizes[-1]) + 1
    return list(pairwise(np.unique([int(starts[0]), *cuts.tolist(), end]).tolist()))


def _runs(ends: NDArray[np.int64], number: int) -> list[tuple[int, int]]:
    """So many runs of words of about equal size, from where each word ends."""
    wanted = [int(ends[-1]) * part // number for part in range(1, number)]
    cuts: Sequence[int] = np.searchsorted(ends, wanted).tolist()
    return list(pairwise([0, *cuts, len(ends)]))


@inline
def _character(data: Bytes, at: Int) -> tuple[np.int64, Int]:
    """The character at a place, and its length in bytes."""
    character, width = code_point(data, at)
    return (character if character > 0 else np.int64(_NUL)), width


@kernel
def _count_characters(
    data_array: Bytes, starts: Ints, counts: Ints, low: Int, high: Int, totals: Ints, seen: Ids
) -> int:
    """Add up how often the characters of some words occur; those seen for the first time go to `seen`."""
    data, n_seen = pointer(data_array), 0
    for word in range(low, high):
        at, count = starts[word], counts[word]
        while at < starts[word + 1]:
            character, width = _character(data, at)
            if totals[character] == 0:
                seen[n_seen] = character
                n_seen += 1
            totals[character] += count
            at += width
    return n_seen


@kernel
def _lay_out(
    words: tuple[Bytes, Ints, Ints],
    run: tuple[int, int],
    numbers: Ids,
    symbols: Ids,
    place: Int,
    found: tuple[Ints, Ints, Ints],
) -> int:
    """Write the symbols of a run of `words` (data, starts, counts) from a place on; how many runs of symbols.

    Where these lie, how long they are and how often they occur goes to the three arrays of `found`.
    """
    (data_array, word_starts, word_counts), (starts, sizes, counts) = words, found
    data, n_runs = pointer(data_array), 0
    for word in range(run[0], run[1]):
        at, begin = word_starts[word], place
        while at < word_starts[word + 1]:
            character, width = _character(data, at)
            symbol = numbers[character]
            symbols[place] = symbol
            if symbol == 0:
                if place > begin:
                    starts[n_runs], sizes[n_runs], counts[n_runs] = begin, place - begin, word_counts[word]
                    n_runs += 1
                begin = place + 1
            place += 1
            at += width
        if place > begin:
            starts[n_runs], sizes[n_runs], counts[n_runs] = begin, place - begin, word_counts[word]
            n_runs += 1
        place += 1
    return n_runs
