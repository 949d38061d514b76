"""Counts distinct pre-tokens in a stream of text, block by block.

Several threads count blocks at the same time, each into its own table (the kernel runs without the GIL); the
merged result does not depend on their number. Memory is bounded for any text: see `MOST_WORDS`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.calls import in_kernels
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Bytes, Int, Ints, Words, pointer
from tokbench.kernels.text import measured, write_list
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.pipeline.patterns.cutters import Cutter, cut_in_turn, units_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.training.word_table import POSITION, WordTable, note_word, opened

BLOCK = 1 << 18
"""Characters in a block: few, so that no thread waits long for the last block."""

_APART = 1 << 34
"""More bytes than the text of any block has, before or after normalizing."""
BLOCKS_AT_ONCE = 1024
"""After this many blocks the number of distinct words is checked."""
_TOGETHER = 256  # the most texts taken from an iterable at once
_AHEAD = 3  # blocks per thread: the one being counted and two waiting ones
MOST_WORDS = 1 << 24
"""The most distinct words to keep; their table takes one or two gigabytes."""


@kernel
def count_words(data: Bytes, spans: Ints, block: Int, rows_: Words, kept_: Bytes, state: Ints) -> bool:
    """Count the words ``data[spans[k, 0]:spans[k, 1]]`` from k = ``state[POSITION]`` on.

    `block` is the position of `data` in the corpus. Returns whether all words were counted; if not, the table
    must grow before the next call.
    """
    text, words = pointer(data), opened(rows_, kept_, state)
    for word in range(state[POSITION], len(spans)):
        at, length = spans[word, 0], spans[word, 1] - spans[word, 0]
        if not note_word(text, at, length, block + at, words):
            state[POSITION] = word
            return False
    return True


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents: their UTF-8 with padding, the end of each, and the block's position in the corpus.

    `start` grows by `_APART` from block to block, so ``start`` plus the place in the block orders all words by
    first occurrence, even if normalizing changes the length of the text.
    """

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    start: int

    @property
    def texts(self) -> Segments:
        """The documents as `Segments`, the input of normalizers."""
        return Segments(self.data, np.append(0, self.ends))


Texts = tuple[list[str], int, int]
"""The documents of a block, an upper bound of their UTF-8 bytes, and the block's `start`."""


def blocks(texts: Iterable[str], size: int = BLOCK) -> Iterator[Texts]:
    """The texts in blocks of about `size` characters; a text is never cut."""
    source = iter(texts)
    documents: list[str] = []
    start = length = room = 0
    together = 1
    while some := list(islice(source, together)):
        documents += some
        added, bytes_ = (int(found.sum()) for found in measured(some))
        length, room = length + added, room + bytes_
        if length >= size:
            yield documents, room, start
            start, length, room, documents = start + _APART, 0, 0, []
        # Takes many short texts at once, since each call costs time, but only a few long ones.
        together = min(2 * together, _TOGETHER) if 8 * added < size else max(together // 2, 1)
    if documents:
        yield documents, room, start


class Utf8Buffer:
    """Turns documents into blocks; each block overwrites the one before."""

    def __init__(self) -> None:
        self._data = np.empty(0, np.uint8)

    def block(self, texts: Texts) -> Block:
        """The documents in UTF-8, with surrogates replaced as by `utf8.encodable`."""
        documents, room, start = texts
        if room + PADDING > len(self._data):
            self._data = np.empty(room + PADDING, np.uint8)
        ends = np.empty(len(documents), np.int64)
        n_bytes = write_list(in_kernels(documents), 0, len(documents), self._data[:room], ends)
        self._data[n_bytes : n_bytes + PADDING] = 0
        return Block(self._data[: n_bytes + PADDING], ends, start)


Fill = Callable[[WordTable, Block], None]
"""Counts a block into a table."""


def filler(cutters: Sequence[Cutter], before: Callable[[Segments], Segments] | None = None) -> Fill:
    """A `Fill` that counts the pieces made by `cutters`, each of which cuts the pieces of the one before.

    `before`, if given, transforms the documents first; it may turn one document into several texts, or none.
    """

    def fill(table: WordTable, block: Block) -> None:
        texts = block.texts if before is None else before(block.texts)
        data, spans = texts.data, units_of(texts.offsets)
        spans, _ = cut_in_turn(cutters[:-1], data, spans[spans[:, 0] < spans[:, 1]])
        for some in (found for found, _ in cutters[-1].pieces(data, spans)) if cutters else [spans]:
            table.state[POSITION] = 0
            while not count_words(data, some, block.start, table.rows, table.kept, table.state):
                begin, end = some[table.state[POSITION]]
                table.grow(int(end - begin))

    return fill


def count_pretokens(
    texts: Iterable[str] | WordCounts,
    pattern: Pattern,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Cut `texts` by `pattern` and count the pre-tokens; `progress` is called with the number of bytes done.

    Returns `texts` unchanged if they are `WordCounts`.

    Example:
        >>> list(count_pretokens(["a b b", "b"], Pattern.of("gpt2")))
        [(b'a', 1), (b' b', 2), (b'b', 1)]
    """
    return count_blocks(texts, filler(pattern.cutters), workers=workers, progress=progress)


def count_blocks(
    texts: Iterable[str] | WordCounts, fill: Fill, *, workers: int, progress: Callable[[int], None]
) -> WordCounts:
    """Count blocks with `fill` in `workers` threads, with at most a few waiting blocks per thread in memory.

    Above `MOST_WORDS` distinct words, the rarest are dropped. That is checked after every `BLOCKS_AT_ONCE`
    blocks, when all threads have stopped, so the result does not depend on the number of threads.
    """
    if isinstance(texts, WordCounts):
        return texts
    source = blocks(texts)
    crew = [_WordCounter(fill) for _ in range(max(workers, 1))]
    while (first := next(source, None)) is not None:
        _count(chain([first], islice(source, BLOCKS_AT_ONCE - 1)), crew, progress)
        if sum(worker.table.size for worker in crew) > MOST_WORDS:
            _joined(crew).forget(MOST_WORDS)
    return _joined(crew).words()


class _WordCounter:
    """Counts blocks into its own table; `n_bytes` is the number of bytes so far."""

    def __init__(self, fill: Fill) -> None:
        self.table, self.n_bytes = WordTable(), 0
        self._fill, self._buffer = fill, Utf8Buffer()

    def count(self, texts: Texts) -> None:
        """Count one block."""
        block = self._buffer.block(texts)
        self._fill(self.table, block)
        self.n_bytes += int(block.ends[-1])


def _joined(crew: Sequence[_WordCounter]) -> WordTable:
    """Move the counts of all workers to the first one's table, and return it."""
    first, *others = crew
    for other in others:
        first.table.absorb(other.table)
        other.table = WordTable()
    return first.table


def _count(some: Iterable[Texts], crew: Sequence[_WordCounter], progress: Callable[[int], None]) -> None:
    """Count blocks with all workers: the first in the calling thread, each of the others in its own.

    Only the calling thread reads `some`, which need not be thread-safe. When enough blocks are waiting for the
    other threads, it counts one itself, so no more threads run than the user set.
    """
    first, *idle = crew
    most_pending = _AHEAD * len(idle)
    pending: deque[Future[None]] = deque()

    def count(texts: Texts) -> None:
        worker = idle.pop()
        worker.count(texts)
        idle.append(worker)

    with ThreadPoolExecutor(max(len(idle), 1)) as pool:
        for texts in some:
            while pending and pending[0].done():
                pending.popleft().result()
            if len(pending) < most_pending:
                pending.append(pool.submit(count, texts))
            else:
                first.count(texts)
            progress(sum(worker.n_bytes for worker in crew))
    for future in pending:
        future.result()
    progress(sum(worker.n_bytes for worker in crew))
