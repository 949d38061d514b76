"""Distinct pre-tokens with their counts, streamed: text comes in blocks, and only what is distinct is kept.

Blocks are counted by several threads at once, each into a table of its own (the kernel runs without the GIL);
the merged result is the same for any number of them. Memory is bounded, whatever the text: see `MOST_WORDS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe.patterns import Pattern
from tokbench_subword.bpe.pretokens import next_pretoken
from tokbench_subword.bpe.train_words import WordCounts
from tokbench_subword.bpe.word_table import (
    DOCUMENT,
    POSITION,
    STORE_PADDING,
    WordTable,
    note_word,
    table_shift,
)
from tokbench_subword.kernels.compiling import announce, kernel
from tokbench_subword.kernels.pointers import PADDING, pointer
from tokbench_subword.kernels.unicode_classes import class_table
from tokbench_subword.kernels.utf8 import encodable

BLOCK = 1 << 20
"""Characters of text that are counted at a time: few, so that no thread waits long for the last block."""

BLOCKS_AT_ONCE = 256
"""After so many blocks the tables of all threads become one."""
MOST_WORDS = 1 << 24
"""How many distinct words are kept; the table of so many takes a gigabyte or two."""


@kernel
def count_words(machine, data, ends, block, classes, rows_, kept_, state):  # type: ignore[no-untyped-def]
    """Count the pre-tokens of the documents ``data[:ends[0]], data[ends[0]:ends[1]], …``, from where `state`
    says.

    `block` is where the data begins in the corpus. Returns whether all was counted; if not, the table has to be
    grown before the next call.
    """
    text, table, kept, classes_of = pointer(data), pointer(rows_), pointer(kept_), pointer(classes)
    n_rows = np.int64(len(rows_) // 4)
    shift = table_shift(n_rows)
    room = len(kept_) - STORE_PADDING
    document, at = state[DOCUMENT], state[POSITION]
    while document < len(ends):
        end = ends[document]
        while at < end:
            following = np.int64(next_pretoken(machine, text, at, end, classes_of))
            if not note_word(text, at, following - at, block + at, 1, table, n_rows, shift, kept, room, state):
                state[DOCUMENT], state[POSITION] = document, at
                return False
            at = following
        document += 1
    return True


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents: their UTF-8 with padding, where each ends, and where the block begins in the corpus."""

    data: bytes
    ends: NDArray[np.int64]
    start: int


def blocks(texts: Iterable[str], size: int = BLOCK) -> Iterator[Block]:
    """The texts in blocks of about `size` characters; a text is never cut."""
    parts: list[str] = []
    start = length = 0
    for text in texts:
        parts.append(text)
        length += len(text)
        if length >= size:
            block = _block(parts, start)
            yield block
            start, length, parts = start + int(block.ends[-1]), 0, []
    if length:
        yield _block(parts, start)


def _block(parts: list[str], start: int) -> Block:
    """Encode at once what is ASCII (one byte a character, so that lengths are known), else text by text."""
    joined = "".join(parts)
    if joined.isascii():
        data, lengths = joined.encode(), map(len, parts)
    else:
        encoded = [encodable(part) for part in parts]
        data, lengths = b"".join(encoded), map(len, encoded)
    return Block(data + bytes(PADDING), np.cumsum(np.fromiter(lengths, np.int64, len(parts))), start)


Fill = Callable[[WordTable, Block], None]
"""Counts a block into a table."""


def filler(machine: int) -> Fill:
    """Counts the pre-tokens of one of `pretokens`' machines."""

    def fill(table: WordTable, block: Block) -> None:
        data = np.frombuffer(block.data, np.uint8)
        ends = block.ends
        state = table.state
        state[DOCUMENT] = state[POSITION] = 0
        while not count_words(machine, data, ends, block.start, class_table(), table.rows, table.kept, state):
            table.grow(int(ends[state[DOCUMENT]] - state[POSITION]))

    return fill


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
    return count_blocks(texts, filler(pattern.machine), workers=workers, progress=progress)


def count_blocks(
    texts: Iterable[str], fill: Fill, *, workers: int, progress: Callable[[int], None]
) -> WordCounts:
    """Count blocks with `fill`, in `workers` threads; no more than one block each waits in memory.

    Of more than `MOST_WORDS` distinct words the rarest are forgotten. That is looked at after every so many
    blocks, when all threads have stopped: the result is the same for any number of them.
    """
    whole = WordTable()
    source = blocks(texts)
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        go_on = True
        while go_on:
            tables = [whole, *(WordTable() for _ in range(workers - 1))]
            go_on = _count_some(islice(source, BLOCKS_AT_ONCE), fill, tables, pool, progress)
            for table in tables[1:]:
                whole.absorb(table)
            whole.forget(MOST_WORDS)
    return whole.counts()


def _count_some(
    some: Iterable[Block],
    fill: Fill,
    tables: list[WordTable],
    pool: ThreadPoolExecutor,
    progress: Callable[[int], None],
) -> bool:
    """Count some blocks, one thread a table; whether there were any."""
    idle = list(tables)
    busy: dict[Future[None], WordTable] = {}
    any_counted = False
    for block in some:
        if len(tables) == 1:
            fill(tables[0], block)
        else:
            if not idle:
                done, _ = wait(busy, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    idle.append(busy.pop(future))
            table = idle.pop()
            busy[pool.submit(fill, table, block)] = table
        any_counted = True
        progress(block.start + int(block.ends[-1]))
    for future in busy:
        future.result()
    return any_counted


def _count_by_regex(texts: Iterable[str], pattern: Pattern, progress: Callable[[int], None]) -> WordCounts:
    counts: Counter[str] = Counter()
    seen = 0
    for text in texts:
        counts.update(pattern.pieces(text))
        if len(counts) > MOST_WORDS:
            counts = Counter(dict(counts.most_common(MOST_WORDS // 2)))
        seen += len(text)
        progress(seen)
    return WordCounts.of_pairs([encodable(word) for word in counts], counts.values())
