"""The words of a corpus with their counts, streamed: what a unigram model is trained on.

Documents are normalised and cut in front of each space; equal words are counted once. What is kept is bounded:
past `max_words` distinct words, those seen once are forgotten (a rare word's pieces count for next to nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.kernels.compiling import announce, kernel
from tokbench_subword.kernels.hashing import equal_bytes, hash_bytes
from tokbench_subword.kernels.pointers import PADDING, pointer
from tokbench_subword.kernels.utf8 import encodable
from tokbench_subword.unigram.charsmap import Normalizer, _longest_symbol, normalize_into

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH_BYTES = 1 << 20
_DONE, _GROW_TEXT, _GROW_WORDS = 0, 1, 2
_DOCUMENT, _POSITION, _WORDS, _BYTES, _SIZE = range(5)


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Distinct words in internal form: `data` uint8, word w at ``data[starts[w]:starts[w] + sizes[w]]``,
    `counts`.

    Sorted by count, the highest first, then by bytes, so that they do not depend on the order of documents.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def words(self) -> Iterator[tuple[bytes, int]]:
        """(word, count), in order."""
        data = self.data.tobytes()
        rows = zip(self.starts.tolist(), self.sizes.tolist(), self.counts.tolist(), strict=True)
        for start, size, count in rows:
            yield data[start : start + size], count


def count_words(
    texts: Iterable[str],
    normalizer: Normalizer,
    breaks: NDArray[np.uint64],
    *,
    max_words: int = 1 << 23,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Count the words of `texts`; `breaks` is a trie of words that separate others (its length 0: none).

    `progress` is told how many bytes have been read.
    """
    announce(_count)
    table = _Table(normalizer, breaks, max_words)
    done = 0
    for batch in _batches(texts):
        table.add(batch)
        done += sum(map(len, batch))
        progress(done)
    return table.result()


def _batches(texts: Iterable[str]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        data = encodable(text)
        batch.append(data)
        size += len(data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Table:
    """The hash table, grown as needed."""

    def __init__(self, normalizer: Normalizer, breaks: NDArray[np.uint64], max_words: int) -> None:
        self.normalizer, self.breaks, self.max_words = normalizer, breaks, max_words
        self.text = np.empty(1 << 16, np.uint8)
        self.slots = np.full(1 << 16, -1, np.int64)
        self.rows = np.zeros((1 << 15, 3), np.int64)  # start, size, count
        self.data = np.zeros(1 << 20, np.uint8)
        self.state = np.zeros(5, np.int64)

    def add(self, batch: list[bytes]) -> None:
        """Count the words of some documents."""
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum([len(data) for data in batch], out=offsets[1:])
        source = np.frombuffer(b"".join([*batch, bytes(PADDING)]), np.uint8)
        state = self.state
        state[_DOCUMENT] = 0
        state[_POSITION] = -1
        flags, *arrays = self.normalizer.arrays()
        while wish := _count(
            source, offsets, flags, *arrays, self.breaks, self.text, self.slots, self.rows, self.data, state
        ):
            if wish == _GROW_TEXT:
                self.text = np.empty(max(2 * len(self.text), 2 * int(state[_SIZE])), np.uint8)
            elif state[_WORDS] >= self.max_words:
                self._forget()
            else:
                self._grow()

    def _grow(self) -> None:
        words, used = int(self.state[_WORDS]), int(self.state[_BYTES])
        rows = np.zeros((2 * len(self.rows), 3), np.int64)
        rows[:words] = self.rows[:words]
        data = np.zeros(max(2 * len(self.data), used + 2 * len(self.text)), np.uint8)
        data[:used] = self.data[:used]
        self.rows, self.data = rows, data
        self.slots = np.full(2 * len(rows), -1, np.int64)
        _fill(self.slots, self.rows, self.data, words)

    def _forget(self) -> None:
        words = int(self.state[_WORDS])
        kept = self.rows[:words][self.rows[:words, 2] > 1]
        data = np.zeros_like(self.data)
        used = _pack(kept, self.data, data)
        self.rows[: len(kept)] = kept
        self.data = data
        self.state[_WORDS], self.state[_BYTES] = len(kept), used
        self.max_words = max(self.max_words, 2 * len(kept))
        self.slots.fill(-1)
        _fill(self.slots, self.rows, self.data, len(kept))

    def result(self) -> WordCounts:
        """The counts so far, in their order."""
        words = int(self.state[_WORDS])
        rows = self.rows[:words]
        data = self.data.tobytes()
        texts = [data[start : start + size] for start, size in rows[:, :2].tolist()]
        counts = rows[:, 2].tolist()
        order = sorted(range(words), key=lambda index: (-counts[index], texts[index]))
        rows = rows[np.array(order, np.int64)] if words else rows
        return WordCounts(self.data, rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy())


@kernel
def _pack(rows, source, target):  # type: ignore[no-untyped-def]
    """Move the bytes of the words in `rows` together; how many there are."""
    used = 0
    for row in range(len(rows)):
        start, size = rows[row, 0], rows[row, 1]
        target[used : used + size] = source[start : start + size]
        rows[row, 0] = used
        used += size
    return used


@kernel
def _fill(slots, rows, data_array, words):  # type: ignore[no-untyped-def]
    data, mask = pointer(data_array), len(slots) - 1
    for word in range(words):
        slot = np.int64(hash_bytes(data, rows[word, 0], rows[word, 1])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@kernel
def _count(  # type: ignore[no-untyped-def]
    source, offsets, flags, units, targets, classes, plain, symbols, symbol_starts,
    breaks, text_array, slots, rows, data_array, state,
):  # fmt: skip
    """Count on from where `state` says; returns what has to grow first, or 0."""
    text, data = pointer(text_array), pointer(data_array)
    mask = np.int64(len(slots) - 1)
    document = state[_DOCUMENT]
    while document < len(offsets) - 1:
        start, stop = offsets[document], offsets[document + 1]
        if state[_POSITION] < 0:
            size = np.int64(0)
            if stop > start:
                size = normalize_into(
                    pointer(source), start, stop, flags, pointer(units), np.int64(len(units)), pointer(targets),
                    np.int64(len(targets)), pointer(classes), pointer(plain),
                    pointer(symbols), np.int64(len(symbols)), pointer(symbol_starts), text,
                    np.int64(len(text_array) - PADDING), pointer(offsets), False,
                )  # fmt: skip
            if size < 0:
                state[_DOCUMENT], state[_SIZE] = document, stop - start
                return _GROW_TEXT
            state[_SIZE], state[_POSITION] = size, 0
        size, index = state[_SIZE], state[_POSITION]
        while index < size:
            broken = np.int64(0)
            if len(breaks) > 0:
                broken = _longest_symbol(text, index, size, pointer(breaks))
            if broken > 0:
                index += broken
                continue
            end = index + 1
            while end < size and text[end] != 0x20:
                begins = len(breaks) > 0 and text[end] & 0xC0 != 0x80
                if begins and _longest_symbol(text, end, size, pointer(breaks)) > 0:
                    break
                end += 1
            if (
                state[_WORDS] + 1 > len(rows)
                or 2 * (state[_WORDS] + 1) > len(slots)
                or (state[_BYTES] + end - index > len(data_array) - PADDING)
            ):
                state[_DOCUMENT], state[_POSITION] = document, index
                return _GROW_WORDS
            length = end - index
            slot = np.int64(hash_bytes(text, index, length)) & mask
            while True:
                word = slots[slot]
                if word < 0:
                    word = state[_WORDS]
                    slots[slot] = word
                    rows[word, 0], rows[word, 1], rows[word, 2] = state[_BYTES], length, 1
                    for position in range(length):
                        data[state[_BYTES] + position] = text[index + position]
                    state[_WORDS] += 1
                    state[_BYTES] += length
                    break
                if rows[word, 1] == length and equal_bytes(text, index, data, rows[word, 0], length):
                    rows[word, 2] += 1
                    break
                slot = (slot + 1) & mask
            index = end
        document += 1
        state[_POSITION] = -1
    return _DONE
