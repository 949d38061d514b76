"""Distinct pre-tokens with their counts, streamed: text comes in blocks, and only what is distinct is kept.

Blocks are counted by several threads at once, each into a table of its own (the kernel runs without the GIL). Every
word remembers where in the corpus it was first seen, so that the merged result does not depend on how blocks fell to
threads: same text, same words, same order, for any number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe.patterns import Pattern
from tokbench_subword.bpe.pretokens import next_pretoken
from tokbench_subword.bpe.train_words import WordCounts
from tokbench_subword.kernels.compiling import announce, inline, kernel
from tokbench_subword.kernels.hashing import mix
from tokbench_subword.kernels.pointers import PADDING, load_u64, pointer
from tokbench_subword.kernels.unicode_classes import class_table
from tokbench_subword.kernels.utf8 import encodable

BLOCK = 1 << 22
"""Bytes of text that are counted at a time."""

# A row of the table, uint64: hash and length of the word, where it is kept, its count, where it was first seen.
_TAG, _START, _COUNT, _SEEN = range(4)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_UPPER = np.uint64(0xFFFFFFFF00000000)


@inline
def _partial(text, at, n_bytes):  # type: ignore[no-untyped-def]
    """One to eight bytes as a uint64, the rest 0; eight are read."""
    return load_u64(text, at) & (_ALL >> np.uint64(8 * (8 - n_bytes)))


@inline
def _tag(text, start, length):  # type: ignore[no-untyped-def]
    """The upper half of a hash of the word, and its length in the lower half: never 0."""
    value = np.uint64(length)
    at = start
    end = start + length
    while at + 8 <= end:
        value = mix(value, load_u64(text, at))
        at += 8
    if at < end:
        value = mix(value, _partial(text, at, end - at))
    return (value & _UPPER) | np.uint64(length)


@inline
def _same(text, start, kept, other, length):  # type: ignore[no-untyped-def]
    """Whether ``text[start:]`` and ``kept[other:]`` agree in `length` bytes."""
    at = np.int64(0)
    while at + 8 <= length:
        if load_u64(text, start + at) != load_u64(kept, other + at):
            return False
        at += 8
    if at < length:
        return _partial(text, start + at, length - at) == _partial(kept, other + at, length - at)
    return True


@inline
def _slot(tag, shift):  # type: ignore[no-untyped-def]
    """The first row to look at: the hash's high bits."""
    return np.int64((tag * np.uint64(0x9E3779B97F4A7C15)) >> shift)


@kernel
def count_words(machine, data, ends, block, classes, rows_, kept_, state):  # type: ignore[no-untyped-def]
    """Count the pre-tokens of the documents ``data[:ends[0]], data[ends[0]:ends[1]], …``, from where `state` says.

    `state` is int64: document, position, words, bytes kept. `block` is where the data begins in the corpus. Returns
    whether all was counted; if not, the table or the store is full, and both have to be grown before the next call.
    """
    text, table, kept, classes_of = pointer(data), pointer(rows_), pointer(kept_), pointer(classes)
    mask = np.int64(len(rows_) // 4 - 1)
    shift = np.uint64(64)
    bits = len(rows_) // 4
    while bits > 1:
        bits >>= 1
        shift -= np.uint64(1)
    most = len(rows_) // 4 // 2
    room = len(kept_) - 16
    document, at, words, used = state[0], state[1], state[2], state[3]
    while document < len(ends):
        end = ends[document]
        while at < end:
            following = np.int64(next_pretoken(machine, text, at, end, classes_of))
            length = following - at
            tag = _tag(text, at, length)
            row = _slot(tag, shift)
            while True:
                found = table[4 * row + _TAG]
                if found == tag and _same(text, at, kept, np.int64(table[4 * row + _START]), length):
                    table[4 * row + _COUNT] += np.uint64(1)
                    break
                if found == 0:
                    if words >= most or used + length > room:
                        state[0], state[1], state[2], state[3] = document, at, words, used
                        return False
                    for index in range(length):
                        kept[used + index] = text[at + index]
                    table[4 * row + _TAG] = tag
                    table[4 * row + _START] = np.uint64(used)
                    table[4 * row + _COUNT] = np.uint64(1)
                    table[4 * row + _SEEN] = np.uint64(block + at)
                    used += length
                    words += 1
                    break
                row = (row + 1) & mask
            at = following
        document += 1
    state[0], state[1], state[2], state[3] = document, at, words, used
    return True


@kernel
def _rehash(rows_, larger_):  # type: ignore[no-untyped-def]
    """Move the rows of one table to a larger, empty one."""
    table, larger = pointer(rows_), pointer(larger_)
    mask = np.int64(len(larger_) // 4 - 1)
    shift = np.uint64(64)
    bits = len(larger_) // 4
    while bits > 1:
        bits >>= 1
        shift -= np.uint64(1)
    for at in range(0, len(rows_), 4):
        if table[at + _TAG] != 0:
            row = _slot(table[at + _TAG], shift)
            while larger[4 * row + _TAG] != 0:
                row = (row + 1) & mask
            for field_ in range(4):
                larger[4 * row + field_] = table[at + field_]


class _Table:
    """The words one thread has counted."""

    def __init__(self) -> None:
        self.rows: NDArray[np.uint64] = np.zeros(4 << 14, np.uint64)
        self.kept: NDArray[np.uint8] = np.zeros(1 << 17, np.uint8)
        self.state: NDArray[np.int64] = np.zeros(4, np.int64)

    def count(self, machine: int, block: Block) -> None:
        """Count one block."""
        data = np.frombuffer(block.data, np.uint8)
        ends = np.array(block.ends, np.int64)
        self.state[:2] = 0
        while not count_words(
            machine, data, ends, block.start, class_table(), self.rows, self.kept, self.state
        ):
            waiting = int(ends[self.state[0]] - self.state[1])
            if self.state[2] >= len(self.rows) // 8:
                larger = np.zeros(2 * len(self.rows), np.uint64)
                _rehash(self.rows, larger)
                self.rows = larger
            else:
                more = np.zeros(len(self.kept) // 2 + waiting + 16, np.uint8)
                self.kept = np.concatenate([self.kept, more])

    def words(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """The occupied rows in order of first sight, and the store."""
        rows = self.rows.reshape(-1, 4)
        rows = rows[rows[:, _TAG] != 0]
        return rows[np.argsort(rows[:, _SEEN])], self.kept


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents: their UTF-8 with padding, where each ends, and where the block begins in the corpus."""

    data: bytes
    ends: list[int]
    start: int


def blocks(texts: Iterable[str], size: int = BLOCK) -> Iterator[Block]:
    """The texts in blocks of about `size` bytes; a text is never cut."""
    parts: list[bytes] = []
    ends: list[int] = []
    start = length = 0
    for text in texts:
        part = encodable(text)
        parts.append(part)
        length += len(part)
        ends.append(length)
        if length >= size:
            yield Block(b"".join([*parts, bytes(PADDING)]), ends, start)
            start, length, parts, ends = start + length, 0, [], []
    if length:
        yield Block(b"".join([*parts, bytes(PADDING)]), ends, start)


def count_pretokens(
    texts: Iterable[str],
    pattern: Pattern,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Cut `texts` by `pattern` and count what is distinct; `progress` is told how many bytes are done.

    A pattern with a state machine is counted by the kernel, any other by `regex`.

    Example:
        >>> list(count_pretokens(["a b b", "b"], Pattern.of("gpt2")))
        [(b'a', 1), (b' b', 2), (b'b', 1)]
    """
    if pattern.machine is None:
        return _count_by_regex(texts, pattern, progress)
    announce(count_words)
    tables: list[_Table] = []
    if workers <= 1:
        tables.append(_Table())
        for block in blocks(texts):
            tables[0].count(pattern.machine, block)
            progress(block.start + block.ends[-1])
    else:
        tables = _count_in_threads(texts, pattern.machine, workers, progress)
    return _merged(tables)


def _count_in_threads(
    texts: Iterable[str], machine: int, workers: int, progress: Callable[[int], None]
) -> list[_Table]:
    """Each of `workers` threads counts the next block; no more than one block each waits in memory."""
    idle = [_Table() for _ in range(workers)]
    tables = list(idle)
    busy: dict[Future[None], _Table] = {}
    with ThreadPoolExecutor(workers) as pool:
        for block in blocks(texts):
            if not idle:
                done = next((future for future in busy if future.done()), None) or next(iter(busy))
                done.result()
                idle.append(busy.pop(done))
            table = idle.pop()
            busy[pool.submit(table.count, machine, block)] = table
            progress(block.start + block.ends[-1])
        for future in busy:
            future.result()
    return tables


def _merged(tables: list[_Table]) -> WordCounts:
    """The words of all tables, equal ones added up, in order of first sight."""
    found = [table.words() for table in tables]
    if len(found) == 1:
        rows, kept = found[0]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(_lengths(rows))])
        # One table keeps words as it meets them: in this order, without gaps.
        return WordCounts(kept[: starts[-1]].copy(), starts, rows[:, _COUNT].astype(np.int64))
    counts: dict[bytes, list[int]] = {}
    for rows, kept in found:
        data = kept.tobytes()
        for start, length, count, seen in zip(
            rows[:, _START].tolist(),
            _lengths(rows).tolist(),
            rows[:, _COUNT].tolist(),
            rows[:, _SEEN].tolist(),
            strict=True,
        ):
            entry = counts.setdefault(data[start : start + length], [0, seen])
            entry[0] += count
            entry[1] = min(entry[1], seen)
    ordered_words = sorted(counts, key=lambda word: counts[word][1])
    return WordCounts.of_pairs(ordered_words, [counts[word][0] for word in ordered_words])


def _lengths(rows: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (rows[:, _TAG] & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _count_by_regex(texts: Iterable[str], pattern: Pattern, progress: Callable[[int], None]) -> WordCounts:
    counts: Counter[str] = Counter()
    seen = 0
    for text in texts:
        counts.update(pattern.pieces(text))
        seen += len(text)
        progress(seen)
    return WordCounts.of_pairs([encodable(word) for word in counts], counts.values())
