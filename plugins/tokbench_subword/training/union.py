"""The words that several threads counted, each into a table of its own, as one list in order of first sight.

Putting all words into one table first would take two and a half times as long for two threads, and longer with
each further one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, Words, pointer, prefetch
from tokbench.kernels.threads import in_threads
from tokbench_subword.training.word_table import (
    AHEAD,
    COUNT,
    LENGTH,
    NUMBER_SHIFT,
    PLACE,
    SEEN,
    TAG,
    WordTable,
    home,
    place_of,
    same,
    table_shift,
)


@kernel
def _share(rows_: Words, kept_: Bytes, low: Int, high: Int, earlier_rows: Words, earlier_kept: Bytes) -> None:
    """Of the words in some rows, those that an earlier table has as well: the one that saw it first gets the
    count, and the other is left with a count of 0.
    """
    table, kept, rows, store = pointer(rows_), pointer(kept_), pointer(earlier_rows), pointer(earlier_kept)
    n_rows = np.int64(len(earlier_rows) // 4)
    shift = table_shift(n_rows)
    for at in range(4 * low, 4 * high, 4):
        ahead = at + 4 * AHEAD
        if ahead < 4 * high and table[ahead + COUNT] > 0:
            prefetch(rows, 4 * home(table[ahead + TAG], shift))
            prefetch(kept, place_of(table[ahead + PLACE]))
        if table[at + COUNT] == 0:
            continue
        tag, place = table[at + TAG], place_of(table[at + PLACE])
        length = np.int64(tag & LENGTH)
        row = home(tag, shift)
        while rows[4 * row + TAG] != 0:
            found = 4 * row
            if rows[found + TAG] == tag and same(kept, place, store, place_of(rows[found + PLACE]), length):
                both = table[at + COUNT] + rows[found + COUNT]
                earlier = rows[found + COUNT] > 0 and rows[found + SEEN] <= table[at + SEEN]
                rows[found + COUNT] = both if earlier else np.uint64(0)
                table[at + COUNT] = np.uint64(0) if earlier else both
                break
            row = (row + 1) & (n_rows - 1)


@kernel
def _in_order(rows_: Words, order: Ints) -> int:
    """Write to `order` the rows by the numbers of their words, less those with a count of 0; how many."""
    table = pointer(rows_)
    order[:] = -1
    for row in range(len(rows_) // 4):
        if table[4 * row + COUNT] > 0:
            order[table[4 * row + PLACE] >> NUMBER_SHIFT] = row
    n_words = 0
    for row in order:
        if row >= 0:
            order[n_words] = row
            n_words += 1
    return n_words


@kernel
def _read(rows_: Words, order: Ints, seen: Words, counts: Words, tags: Words, places: Ints) -> None:
    """The fields of some rows."""
    table = pointer(rows_)
    for word in range(len(order)):
        if word + AHEAD < len(order):
            prefetch(table, 4 * order[word + AHEAD])
        row = 4 * order[word]
        seen[word], counts[word] = table[row + SEEN], table[row + COUNT]
        tags[word], places[word] = table[row + TAG], place_of(table[row + PLACE])


@kernel
def _copy(kept_: Bytes, places: Ints, targets: Ints, starts: Ints, data_: Bytes) -> None:
    """Copy words from `places` of a store to where the words of numbers `targets` go."""
    kept, data = pointer(kept_), pointer(data_)
    for word in range(len(places)):
        place, start = places[word], starts[targets[word]]
        for index in range(starts[targets[word] + 1] - start):
            data[start + index] = kept[place + index]


def united(tables: Sequence[WordTable], workers: int) -> WordCounts:
    """All words of some tables in order of first sight, by `workers` threads; the tables are used up.

    No word moves to another table: the one that saw it first keeps it, with the counts of all. As the words of
    a table are numbered in order of first sight, nearly nothing is left to sort.
    """
    tables = [table for table in tables if table.size] or tables[:1]  # of many threads some have counted none
    for number, table in enumerate(tables):
        n_rows = len(table.rows) // 4
        parts = pairwise(n_rows * part // workers for part in range(workers + 1))
        in_threads(partial(_share_with, tables[:number], table), parts, workers)
    found = in_threads(_fields, tables, workers)
    seen, counts, tags = (np.concatenate([fields[index] for fields in found]) for index in range(3))
    order = np.argsort(seen, kind="stable")
    starts = np.zeros(len(order) + 1, np.int64)
    np.cumsum((tags[order] & LENGTH).astype(np.int64), out=starts[1:])
    target = np.empty(len(order), np.int64)
    target[order] = np.arange(len(order))
    data = np.empty(int(starts[-1]), np.uint8)
    ends = np.cumsum([0, *(len(fields[0]) for fields in found)]).tolist()
    jobs = zip(tables, found, pairwise(ends), strict=True)
    in_threads(lambda job: _copy(job[0].kept, job[1][3], target[slice(*job[2])], starts, data), jobs, workers)
    return WordCounts(data, starts, counts[order].astype(np.int64))


def _share_with(earlier: Sequence[WordTable], table: WordTable, rows: tuple[int, int]) -> None:
    """`_share` some rows with each earlier table; threads with other rows have other words, and do not meet."""
    for other in earlier:
        _share(table.rows, table.kept, *rows, other.rows, other.kept)


def _fields(
    table: WordTable,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Where first seen, counts, tags and places of the words a table has kept, in order of their numbers."""
    order = np.empty(table.size, np.int64)
    order = order[: _in_order(table.rows, order)]
    seen, counts, tags = (np.empty(len(order), np.uint64) for _ in range(3))
    places = np.empty(len(order), np.int64)
    _read(table.rows, order, seen, counts, tags, places)
    return seen, counts, tags, places
