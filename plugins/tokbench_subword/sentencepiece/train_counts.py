"""The words of a corpus with their counts, streamed: what a unigram model is trained on.

Documents are normalised and cut in front of each space; equal words are counted once, by any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Bytes, Int, Ints, Words, pointer
from tokbench.kernels.pointers import Block as Arrays
from tokbench_subword.sentencepiece.charsmap import Normalizer
from tokbench_subword.sentencepiece.charsmap_kernels import longest_symbol, normalize_into
from tokbench_subword.training.counting import Block, Fill, count_blocks
from tokbench_subword.training.word_table import DOCUMENT, POSITION, WordTable, note_word, opened
from tokbench_subword.unigram.train_sorting import NextKeys, in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PACKED = 64  # bytes of a word that are compared as numbers
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
    return sorted_words(count_blocks(texts, _filler(normalizer, breaks), workers=threads, progress=progress))


def sorted_words(words: WordCounts) -> WordCounts:
    """By count, the highest first, then by bytes; by Python, English (10 MB) trains 1.25 times as long."""
    if not len(words):
        return words
    highest, every = int(words.counts.max()), np.arange(len(words))
    n_bytes = (64 - highest.bit_length()) // 8
    keys = (highest - words.counts).astype(np.uint64) << np.uint64(8 * n_bytes)
    order = in_order(every, keys | _packed(words, every, 0, n_bytes), _next_keys(words, n_bytes))
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.diff(words.starts)[order], out=starts[1:])
    data = np.empty(len(words.data), np.uint8)
    _copy(words.data, words.starts, order, starts, data)
    return WordCounts(data, starts, words.counts[order], words.unit)


def _next_keys(words: WordCounts, begin: int) -> NextKeys[np.int64]:
    """Keys of words that are equal up to a byte: some bytes at a time, then the order of those left."""

    def keys(some: NDArray[np.int64], bits: int) -> tuple[NDArray[np.uint64], int]:
        nonlocal begin
        if begin < _PACKED:
            n_bytes = bits // 8
            begin += n_bytes
            return _packed(words, some, begin - n_bytes, n_bytes), 8 * n_bytes
        ranks = np.empty(len(some), np.uint64)
        written = [words.word(word) for word in some.tolist()]
        ranks[sorted(range(len(some)), key=written.__getitem__)] = np.arange(len(some))
        return ranks, 32

    return keys


def _packed(words: WordCounts, some: NDArray[np.int64], skipped: int, n_bytes: int) -> NDArray[np.uint64]:
    """Some bytes of words as numbers that compare like them; zeros behind the end of a word."""
    keys = np.empty(len(some), np.uint64)
    _pack(words.data, words.starts, some, skipped, n_bytes, keys)
    return keys


def _filler(normalizer: Normalizer, breaks: NDArray[np.uint64]) -> Fill:
    def fill(table: WordTable, block: Block) -> None:
        longest = int(np.diff(block.ends, prepend=0).max(initial=0))
        text = np.empty(2 * longest + 1024, np.uint8)
        state = table.state
        state[DOCUMENT] = state[POSITION] = 0
        while wish := _count(
            normalizer.block, block.data, block.ends, breaks, text, table.rows, table.kept, state
        ):
            if wish == _GROW_TEXT:
                text = np.empty(2 * len(text), np.uint8)
            else:
                table.grow(len(text))

    return fill


@kernel
def _count(
    tables: Arrays,
    source: Bytes,
    ends: Ints,
    breaks: Words,
    text_array: Bytes,
    rows_: Words,
    kept_: Bytes,
    state: Ints,
) -> int:
    """Count on from where `state` says; returns what has to grow first, or 0.

    A document that is continued is normalised again: that is rare, since what grows doubles.
    """
    text, words = pointer(text_array), opened(rows_, kept_, state)
    for document in range(state[DOCUMENT], len(ends)):
        start = ends[document - 1] if document > 0 else np.int64(0)
        stop, size = ends[document], np.int64(0)
        if stop > start:
            room = np.int64(len(text_array) - PADDING)
            size = normalize_into(pointer(tables), pointer(source), start, stop, text, np.int64(0), room, None)
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
            # Where a word was first seen does not matter: words are sorted in the end.
            if not note_word(text, index, end - index, 0, words):
                state[DOCUMENT], state[POSITION] = document, index
                return _GROW_TABLE
            index = end
        state[POSITION] = 0
    return _DONE


@kernel
def _pack(data_array: Bytes, starts: Ints, some: Ints, skipped: Int, n_bytes: Int, keys: Words) -> None:
    """`n_bytes` of each word as one number, from so many bytes on; zeros behind its end."""
    data = pointer(data_array)
    for index in range(len(some)):
        at, end = starts[some[index]] + skipped, starts[some[index] + 1]
        key = np.uint64(0)
        for place in range(at, at + n_bytes):
            key = (key << np.uint64(8)) | (np.uint64(data[place]) if place < end else np.uint64(0))
        keys[index] = key


@kernel
def _copy(data_array: Bytes, starts: Ints, order: Ints, new_starts: Ints, new_data_array: Bytes) -> None:
    """Copy the words in their new order."""
    data, new_data = pointer(data_array), pointer(new_data_array)
    for rank in range(len(order)):
        source, target = starts[order[rank]], new_starts[rank]
        for index in range(new_starts[rank + 1] - target):
            new_data[target + index] = data[source + index]
