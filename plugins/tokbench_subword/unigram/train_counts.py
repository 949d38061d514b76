"""The words of a corpus with their counts, streamed: what a unigram model is trained on.

Documents are normalised and cut in front of each space; equal words are counted once, by any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.bpe.counting import Block, Fill, count_blocks
from tokbench_subword.bpe.train_words import WordCounts
from tokbench_subword.bpe.word_table import DOCUMENT, POSITION, STORE_PADDING, WordTable, note_word, table_shift
from tokbench_subword.kernels.compiling import announce, kernel
from tokbench_subword.kernels.pointers import PADDING, pointer
from tokbench_subword.kernels.threads import in_threads
from tokbench_subword.unigram.charsmap import Normalizer
from tokbench_subword.unigram.charsmap_kernels import longest_symbol, normalize_into

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DONE, _GROW_TEXT, _GROW_TABLE = range(3)


def count_words(
    texts: Iterable[str],
    normalizer: Normalizer,
    breaks: NDArray[np.uint64],
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Count the words of `texts`; `breaks` is a trie of words that separate others (its length 0: none).

    Words are in internal form, sorted by count, the highest first, then by bytes, so that they do not depend on
    the order of documents. `progress` is told how many bytes have been read.
    """
    announce(_count)
    words = count_blocks(texts, _filler(normalizer, breaks), workers=threads, progress=progress)
    return _sorted(words, threads)


def _sorted(words: WordCounts, threads: int) -> WordCounts:
    """By count, the highest first, then by bytes: the first sixteen as two numbers, any more one by one.

    About half of the words of most corpora occur once: they are sorted at the same time as the others.
    """
    first, second = in_threads(lambda skipped: _eight_bytes(words, skipped), (0, 8), threads)

    def ordered(some: NDArray[np.int64]) -> NDArray[np.int64]:
        return some[np.lexsort((second[some], first[some], -words.counts[some]))]

    groups = np.flatnonzero(words.counts > 1), np.flatnonzero(words.counts <= 1)
    order = np.concatenate(in_threads(ordered, groups, threads))
    equal = np.ones(max(len(words) - 1, 0), np.bool_)
    for key in (first[order], second[order], words.counts[order]):
        equal &= key[1:] == key[:-1]
    edges = np.flatnonzero(np.diff(np.concatenate(([False], equal, [False])).astype(np.int8)))
    for low, high in zip(edges[::2].tolist(), (edges[1::2] + 1).tolist(), strict=True):
        order[low:high] = sorted(order[low:high].tolist(), key=words.word)
    return words.reordered(order)


def _eight_bytes(words: WordCounts, skipped: int) -> NDArray[np.uint64]:
    """Eight bytes of each word as a number that compares like them; zeros behind its end."""
    padded = np.concatenate((words.data, np.zeros(16, np.uint8)))
    key = np.zeros(len(words), np.uint64)
    starts, sizes = words.starts[:-1] + skipped, np.diff(words.starts) - skipped
    for index in range(8):
        key = (key << np.uint64(8)) | np.where(index < sizes, padded[starts + index], 0).astype(np.uint64)
    return key


def _filler(normalizer: Normalizer, breaks: NDArray[np.uint64]) -> Fill:
    flags, *arrays = normalizer.arrays()

    def fill(table: WordTable, block: Block) -> None:
        longest = int(np.diff(block.ends, prepend=0).max(initial=0))
        text = np.empty(2 * longest + 1024, np.uint8)
        state = table.state
        state[DOCUMENT] = state[POSITION] = 0
        while wish := _count(
            block.data, block.ends, flags, *arrays, breaks, text, table.rows, table.kept, state
        ):
            if wish == _GROW_TEXT:
                text = np.empty(2 * len(text), np.uint8)
            else:
                table.grow(len(text))

    return fill


@kernel
def _count(  # type: ignore[no-untyped-def]
    source, ends, flags, units, targets, classes, plain, symbols, symbol_starts,
    breaks, text_array, rows_, kept_, state,
):  # fmt: skip
    """Count on from where `state` says; returns what has to grow first, or 0.

    A document that is continued is normalised again: that is seldom, since what grows doubles.
    """
    text, table, kept = pointer(text_array), pointer(rows_), pointer(kept_)
    n_rows = np.int64(len(rows_) // 4)
    shift, room = table_shift(n_rows), len(kept_) - STORE_PADDING
    for document in range(state[DOCUMENT], len(ends)):
        start = ends[document - 1] if document > 0 else np.int64(0)
        stop, size = ends[document], np.int64(0)
        if stop > start:
            size = normalize_into(
                pointer(source), start, stop, flags, pointer(units), np.int64(len(units)), pointer(targets),
                np.int64(len(targets)), pointer(classes), pointer(plain),
                pointer(symbols), np.int64(len(symbols)), pointer(symbol_starts), text,
                np.int64(len(text_array) - PADDING), None,
            )  # fmt: skip
        if size < 0:
            state[DOCUMENT], state[POSITION] = document, 0
            return _GROW_TEXT
        index = state[POSITION]
        while index < size:
            if len(breaks) > 0:
                broken = longest_symbol(text, index, size, pointer(breaks))
                if broken > 0:
                    index += broken
                    continue
            end = index + 1
            while end < size and text[end] != 0x20:
                begins = len(breaks) > 0 and text[end] & 0xC0 != 0x80
                if begins and longest_symbol(text, end, size, pointer(breaks)) > 0:
                    break
                end += 1
            # Where it was first seen is of no account: words are sorted in the end.
            if not note_word(text, index, end - index, 0, 1, table, n_rows, shift, kept, room, state):
                state[DOCUMENT], state[POSITION] = document, index
                return _GROW_TABLE
            index = end
        state[POSITION] = 0
    return _DONE
