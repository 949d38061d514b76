"""`WordEncoder`: a model's tables and search, and a word cache for each thread.

`encode_utf8` takes documents, `encode_pretokens` pre-tokens that are cut already, and `one_by_one` gives
functions for short texts. Several threads may use it at once: each call borrows its own `Workspace`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import plain_texts
from tokbench.batch import TokenBatch
from tokbench.kernels.calls import address, callable_of, prepare
from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import frozen
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.compiled_pre_tokenizers import piece_writers
from tokbench_subword.pipeline.patterns.cutters import Cutter, cut_in_turn, units_of
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.words import layout as at
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.encoding import encode_spans, encode_text, encode_texts_of
from tokbench_subword.words.runs import Room, in_runs
from tokbench_subword.words.searching import Search
from tokbench_subword.words.workspace import Workspace

Arrays = Sequence[NDArray[Any]]
ToArray = Callable[[str], NDArray[np.int32]]
ToList = Callable[[str], list[int]]
_AT_A_TIME = 1 << 19
"""Bytes encoded in one call of a kernel: few enough that the result stays in the processor's cache."""


class WordEncoder(Stays):
    """Encodes text word by word: from the word cache, or else by the `search` of a model.

    `shared` are the model's arrays, and `own` makes the arrays of each thread: together they fill the block of
    `layout` from `MODEL` on. `cutters` cut texts into pre-tokens, each cutting the pieces of the one before;
    without any, a text is one pre-token. A batch uses up to `threads` threads, and the word cache of each takes
    up to `cache` bytes.
    """

    _workspace: type[Workspace] = Workspace

    def __init__(
        self,
        search: Search,
        shared: Arrays,
        own: Callable[[], Arrays] = tuple,
        *,
        cutters: Sequence[Cutter],
        threads: int = 1,
        cache: int = CACHE_BYTES,
    ) -> None:
        self.cache = cache
        self.threads = max(1, threads)
        self._cutters = tuple(cutters)
        machine = cutters[-1].block if cutters else None
        self._beforehand = self._cutters if machine is None else self._cutters[:-1]
        self._encode_units = encode_spans if machine is None else encode_texts_of
        self._machine = machine
        self._search, self._shared, self._own = search, shared, own
        self._idle: deque[Workspace] = deque()

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of one text."""
        return self.encode_batch([text]).ids

    def one_by_one(
        self, writers: Sequence[BoundWriter], longer: tuple[ToArray, ToList]
    ) -> tuple[ToArray, ToList] | None:
        """Two much faster functions for short texts: one returns an array, one a list.

        They run the `writers` on the text first, and share a word cache of their own. Texts that they cannot
        encode, mainly longer ones, go to the two functions of `longer`. None if a cutter has no kernel.
        """
        before = piece_writers(self._beforehand)
        if before is None:
            return None
        work = self._new([*writers, *before])
        prepare(encode_text)
        heads = [work.ids[:count] for count in range(at.HEADS)]
        arrays = [*(head.copy for head in heads), lambda: work.last().copy()]
        lists = [*(head.tolist for head in heads), lambda: work.last().tolist()]
        place = address(work.block)
        return (
            callable_of(encode_text, (longer[0], place, arrays)),
            callable_of(encode_text, (longer[1], place, lists)),
        )

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        return self.encode_utf8(*utf8_of(plain_texts(texts, name="tokbench")))

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], room: Room = None) -> TokenBatch:
        """The ids of every document ``data[offsets[i]:offsets[i + 1]]``.

        `data` is valid UTF-8 and has `PADDING` bytes after it. `room` as in `in_runs`.
        """
        units = units_of(offsets)
        if not self._beforehand:
            return self._spread(self._encode_units, data, units, room)
        units, before = cut_in_turn(self._beforehand, data, units)
        batch = self._spread(self._encode_units, data, units, room)
        return TokenBatch(batch.ids, batch.offsets[before])

    def encode_pretokens(self, data: NDArray[np.uint8], spans: NDArray[np.int64]) -> TokenBatch:
        """The ids of pre-tokens that are cut already, int64 ``(n, 2)``: begin and end in `data`.

        `data` must have `PADDING` bytes after the last one.
        """
        return self._spread(encode_spans, data, np.ascontiguousarray(spans))

    def _spread(
        self, encode: Any, data: NDArray[np.uint8], units: NDArray[np.int64], room: Room = None, most: int = 1
    ) -> TokenBatch:
        """Run a kernel over all units (documents or pre-tokens); it writes up to `most` numbers for each
        byte.
        """
        data = frozen(data)  # kernels are compiled for one kind of array
        sizes = np.append(0, most * np.cumsum(units[:, 1] - units[:, 0]))

        def run(first: int, last: int, room: Room) -> TokenBatch:
            """Encode one run; its ids are written to `room` if that is large enough."""
            work, ends = self._borrow(), np.zeros(last - first + 1, np.int64)
            try:
                out = work.room(int(sizes[last] - sizes[first]), room)
                count = encode(work.block, data, units[first:last], 0, last - first, out, ends)
                return TokenBatch(out[:count] if out is room else out[:count].copy(), ends)
            finally:
                self._idle.append(work)

        return in_runs(run, sizes, _AT_A_TIME, self.threads, room)

    def _borrow(self) -> Workspace:
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()

    def _new(self, writers: Sequence[BoundWriter] = ()) -> Workspace:
        arrays = [*self._shared, *self._own()]
        return self._workspace(self._machine, self._search, arrays, self.cache, writers)

    def forget(self) -> None:
        """Empty the word caches of all threads, to measure text that was never seen.

        The cache of `one_by_one` stays.
        """
        self._idle.clear()
