"""A compiled encoder with its memory: a model's arrays, and a pool of work spaces that threads take turns with.

The same for Unigram and for sentencepiece's BPE: they differ in the kernel and in the arrays it finds in its
block.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import announce
from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, block
from tokbench.kernels.stretch_cache import CACHED_BYTES, cache_lines
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.charsmap import Normalizer
from tokbench_subword.unigram.stretches import CACHE_SLOTS, GROW_TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK_BYTES = 1 << 20  # what a thread takes at a time
_KEPT_OUTPUT = 1 << 22  # a work space gives larger outputs back
SLACK = bytes(PADDING + CACHED_BYTES)
"""What must be readable behind documents that lie side by side."""


class WorkSpace(Stays):
    """One thread's memory: normalised text, the search's tables, the cache, the output, and all addresses."""

    __slots__ = (
        "block",
        "dtype",
        "ends",
        "located",
        "offsets",
        "output",
        "own",
        "scratch",
        "shared",
        "spans",
        "state",
    )

    def __init__(self, shared: list[NDArray[Any]], dtype: np.dtype[Any], scratch: int) -> None:
        self.shared, self.dtype, self.scratch = shared, dtype, scratch
        self.output, self.spans = np.empty(1 << 12, np.int32), np.empty(0, np.int64)
        self.located = False
        self.offsets, self.ends = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self.state = np.zeros(at.N_STATE, np.int64)
        self.own: list[NDArray[Any]] = [cache_lines(CACHE_SLOTS), self.output]
        self.grow_text(1 << 12)

    def grow_text(self, size: int) -> None:
        """Make room for `size` bytes of normalised text."""
        self.own[1:] = [
            self.output,
            np.empty(size + CACHED_BYTES, np.uint8),
            np.empty(size + 2, self.dtype),
            np.empty(size + 2, np.int64),
            np.empty(self.scratch * (size + 2), np.int64),
            np.empty(2 * (CACHED_BYTES + 1), np.float64),
            self.state,
            self.spans,
            np.empty(size + CACHED_BYTES if self.located else 0, np.int64),
        ]
        self.state[at.TEXT_ROOM], self.state[at.SEARCH_ROOM] = size, size + 2
        self.state[at.OUTPUT_ROOM] = len(self.output)
        self.block = block([*self.shared, *self.own])

    def set_output(self, size: int) -> None:
        """Make room for `size` ids in all, keeping those that are written."""
        written = self.state[at.WRITTEN]
        grown = np.empty(size, np.int32)
        grown[:written] = self.output[:written]
        self.output = self.own[1] = grown
        if self.located:
            spans = np.empty(2 * size, np.int64)
            spans[: 2 * written] = self.spans[: 2 * written]
            self.spans = self.own[-2] = spans
        self.state[at.OUTPUT_ROOM] = size
        self.block = block([*self.shared, *self.own])

    def locate(self) -> None:
        """Make room for places as well."""
        if not self.located:
            self.located, self.spans = True, np.empty(2 * len(self.output), np.int64)
            self.grow_text(int(self.state[at.TEXT_ROOM]))


class Engine(Stays):
    """Encodes UTF-8 by `kernel`, with a `Normalizer` in front where there is one. Safe to share between
    threads.

    `locator` is the kernel that tells where tokens lie as well. `shared` are a model's arrays by their place in
    the block (see `layout`), the normaliser's and NUMBERS apart; `numbers` are members of NUMBERS; `parameters`
    go to the kernels as they are; `scratch` is how many int64 a byte of text they need to work with.
    """

    __slots__ = ("_kernel", "_locator", "_parameters", "_scratch", "_shared", "_spaces", "normalizer")

    def __init__(
        self,
        kernel: Callable[..., int],
        locator: Callable[..., int],
        normalizer: Normalizer | None,
        shared: Mapping[int, NDArray[Any]],
        numbers: Mapping[int, int],
        parameters: NDArray[Any],
        *,
        scratch: int = 0,
    ) -> None:
        announce(kernel)
        self.normalizer = normalizer
        values = np.zeros(at.N_NUMBERS, np.int64)
        values[at.FLAGS] = -1
        arrays: list[NDArray[Any]] = [np.zeros(1, np.uint8)] * at.N_SHARED
        if normalizer is not None:
            arrays[: at.UNITS] = normalizer.arrays()[1:]
            values[at.FLAGS] = normalizer.flags
            values[at.N_MAP_UNITS], values[at.N_TARGETS] = len(normalizer.units), len(normalizer.targets)
            values[at.N_SYMBOLS] = len(normalizer.symbols)
        for place, number in numbers.items():
            values[place] = number
        for place, array in {**shared, at.NUMBERS: values}.items():
            arrays[place] = np.ascontiguousarray(array)
        self._kernel, self._locator = kernel, locator
        self._shared = arrays
        self._parameters = parameters
        self._scratch = scratch
        self._spaces: deque[WorkSpace] = deque()

    def encode(self, data: bytes) -> NDArray[np.int32]:
        """The ids of one document, int32."""
        try:  # written out, since a call of Python's takes as long as a word
            space = self._spaces.pop()
        except IndexError:
            space = self.borrow()
        offsets, ends = space.offsets, space.ends
        offsets[1] = len(data)
        if self.normalizer is None:
            data += SLACK
        count = self._kernel(space.block, self._parameters, data, offsets, ends)
        if count < 0:
            count = self._grown(self._kernel, space, data, offsets, ends, count)
        ids = space.output[:count].copy()
        self._spaces.append(space)
        return ids

    def encode_many(
        self, documents: Sequence[bytes], threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of all documents, and where each document's begin and end: int32, int64 of ``(n + 1,)``."""
        return self.encode_ragged(*side_by_side(documents), threads)

    def encode_ragged(
        self, source: bytes, offsets: NDArray[np.int64], threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """`encode_many` for documents that already lie side by side, with `SLACK` behind them."""
        ids, ends, _ = self._in_parts(self._kernel, source, offsets, threads)
        return ids, ends

    def locate_ragged(
        self, source: bytes, offsets: NDArray[np.int64], threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """`encode_ragged`, and the spans of all tokens, int64 of ``(tokens, 2)``.

        They are in code points of each document; in bytes of `source` where no normaliser is in front.
        """
        announce(self._locator)
        return self._in_parts(self._locator, source, offsets, threads)

    def _in_parts(
        self, kernel: Callable[..., int], source: bytes, offsets: NDArray[np.int64], threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        parts = _parts(offsets, threads)
        if len(parts) <= 1:
            return self._part(kernel, source, offsets)
        with ThreadPoolExecutor(threads) as pool:
            results = list(
                pool.map(lambda part: self._part(kernel, source, offsets[part[0] : part[1] + 1]), parts)
            )
        ends = np.zeros(len(offsets), np.int64)
        total = 0
        for (low, high), (ids, bounds, _) in zip(parts, results, strict=True):
            ends[low : high + 1] = bounds + total
            total += len(ids)
        return np.concatenate([ids for ids, _, _ in results]), ends, np.concatenate([it[2] for it in results])

    def _part(
        self, kernel: Callable[..., int], source: bytes, offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The ids of a part of the documents, their ends, and their spans: none of these by the `_kernel`."""
        space = self.borrow()
        if kernel is self._locator:
            space.locate()
        ends = np.zeros(len(offsets), np.int64)
        count = kernel(space.block, self._parameters, source, offsets, ends)
        if count < 0:
            count = self._grown(kernel, space, source, offsets, ends, count)
        ids = space.output[:count].copy()
        spans = space.spans[: 2 * count if kernel is self._locator else 0].reshape(-1, 2).copy()
        if len(space.output) > _KEPT_OUTPUT:
            space.set_output(1 << 12)
        self.give_back(space)
        return ids, ends, spans

    def borrow(self) -> WorkSpace:
        """A work space for a call; `give_back` returns it."""
        try:
            return self._spaces.pop()
        except IndexError:
            return WorkSpace(self._shared, self._parameters.dtype, self._scratch)

    def give_back(self, space: WorkSpace) -> None:
        """Return a work space for the next call."""
        self._spaces.append(space)

    def _grown(
        self,
        kernel: Callable[..., int],
        space: WorkSpace,
        source: bytes,
        offsets: NDArray[np.int64],
        ends: NDArray[np.int64],
        wish: int,
    ) -> int:
        """Give the kernel the room it asked for, and call it again, until it is done: the number of ids."""
        state = space.state
        while wish < 0:
            document = int(state[at.DOCUMENT])
            needed = max(int(state[at.SIZE]), int(offsets[document + 1] - offsets[document]))
            if wish == GROW_TEXT:
                space.grow_text(max(2 * int(state[at.TEXT_ROOM]), needed + needed // 4 + 64))
            else:
                left, needed = int(offsets[-1] - offsets[document]), 3 * needed
                space.set_output(int(state[at.WRITTEN]) + max(needed, left // 2, len(space.output) // 2) + 64)
            wish = kernel(space.block, self._parameters, source, offsets, ends)
        return wish


def side_by_side(documents: Sequence[bytes]) -> tuple[bytes, NDArray[np.int64]]:
    """Documents end to end, with `SLACK` behind them, and where each begins and ends."""
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(document) for document in documents], out=offsets[1:])
    return b"".join([*documents, SLACK]), offsets


def _parts(offsets: NDArray[np.int64], threads: int) -> list[tuple[int, int]]:
    """Runs of documents of about equal size in bytes, several a thread, as (first, behind the last)."""
    n_documents, total = len(offsets) - 1, int(offsets[-1] - offsets[0])
    if threads <= 1 or n_documents < 2 or total < 1 << 16:
        return [(0, n_documents)]
    size = max(1 << 15, min(_CHUNK_BYTES, total // (2 * threads) + 1))
    targets = np.arange(int(offsets[0]) + size, int(offsets[-1]), size)
    cuts = sorted({0, n_documents, *np.searchsorted(offsets, targets).tolist()})
    return list(pairwise(cuts))
