"""The words of a corpus as one array of character numbers, which seeds, EM and pruning work on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.threads import in_threads
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.training.alphabet import characters_of

CHUNKS = 8
"""Parts into which work on a text is split; sums are added in order, so threads do not change results."""
Words = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
_NUL = 0xFFFF
"""Stands for NUL, which no piece can hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Words, each character as a number, its *symbol*.

    `symbols` int32 holds them with a 0 behind each and `max_length` more zeros at the end; symbol s is the
    character ``alphabet[s - 1]``; word w begins at ``starts[w]``, has ``sizes[w]`` characters and occurs
    ``counts[w]`` times.
    """

    symbols: NDArray[np.int32]
    alphabet: NDArray[np.uint32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.float64]


def character_counts(words: WordCounts) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of all words with how often each occurs, by code point; U+FFFF stands for NUL."""
    points, starts = characters_of(words)
    totals = np.bincount(np.where(points == 0, _NUL, points), np.repeat(words.counts, np.diff(starts)))
    found = np.flatnonzero(totals)
    return found.astype(np.uint32), totals[found].astype(np.int64)


def covering(
    points: NDArray[np.uint32], totals: NDArray[np.int64], coverage: float
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The most frequent characters, which make up the share `coverage` of a text, and their counts, by code
    point.

    Of equally frequent ones the first is taken. NUL is left out.
    """
    order = np.argsort(-totals, kind="stable")
    covered_before = np.cumsum(totals[order]) - totals[order]
    wanted = np.zeros(len(points), np.bool_)
    wanted[order] = covered_before / totals.sum() < coverage
    wanted &= points != _NUL
    return points[wanted], totals[wanted]


def lay_out(words: WordCounts, alphabet: NDArray[np.uint32], max_length: int) -> Text:
    """The words in symbols; characters outside `alphabet` (sorted, without NUL) cut a word in two."""
    numbers = np.zeros(N_CODE_POINTS, np.int32)
    numbers[alphabet] = np.arange(1, len(alphabet) + 1)
    points, starts = characters_of(words)
    behind = np.arange(len(words))  # zeros before each word
    symbols = np.zeros(len(points) + len(words) + max_length + 1, np.int32)
    symbols[np.arange(len(points)) + np.repeat(behind, np.diff(starts))] = numbers[points]
    edges = np.flatnonzero(np.diff(symbols != 0, prepend=False))  # where runs of known characters begin and end
    begins, sizes = edges[::2], edges[1::2] - edges[::2]
    counts = words.counts[np.searchsorted(starts[:-1] + behind, begins, "right") - 1]
    return Text(symbols, alphabet, begins, sizes, counts.astype(np.float64) / words.unit)


def summed(
    part: Callable[[Words, NDArray[np.float64]], None], text: Text, size: int, threads: int
) -> NDArray[np.float64]:
    """Call ``part(words, row)`` for each run of words, with `row` of `size` zeros; return the sum of the rows.

    Words are given by their starts, sizes and counts. The rows are added in order, so that the result does not
    depend on threads.
    """

    def fill(job: tuple[tuple[int, int], NDArray[np.float64]]) -> None:
        run, row = slice(*job[0]), job[1]
        part((text.starts[run], text.sizes[run], text.counts[run]), row)

    rows = np.zeros((CHUNKS, size))
    in_threads(fill, zip(pairwise(_limits(text)), rows, strict=True), threads)
    total: NDArray[np.float64] = rows.sum(axis=0)  # row by row, the first ones first
    return total


def place_chunks(text: Text) -> list[tuple[int, int]]:
    """Runs of places, of about equally many, from the beginning of a word to behind the end of one."""
    begins, end = text.starts[_limits(text)[:-1]], int(text.starts[-1] + text.sizes[-1]) + 1
    return list(pairwise(np.unique([*begins.tolist(), end]).tolist()))


def _limits(text: Text) -> list[int]:
    """Where each of `CHUNKS` runs of words of about as many characters begins, and the last ends."""
    ends = np.cumsum(text.sizes)
    wanted = [int(ends[-1]) * part // CHUNKS for part in range(1, CHUNKS)]
    return [0, *np.searchsorted(ends, wanted).tolist(), len(ends)]
