"""`Workspace`: the arrays of one thread: its word cache, its scratch space, and the block of their
addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.calls import address as address_of
from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, block
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.patterns.simd_cutting import BEYOND
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.words import layout as at
from tokbench_subword.words.cache import WordCache
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.runs import Room
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import NOTED, SPARE_IDS

_KEPT_OUTPUT = 1 << 19


class Workspace(Stays):
    """The arrays of one thread; kernels take its `block`.

    `machine` is the block of the last cutter, `search` the search of the model, and `model` the model's arrays:
    those that threads share, then scratch space for this thread. The word cache may take `cache_bytes`.
    `writers` are the stages before the cut, for texts encoded singly; each reads the result of the one before.
    """

    __slots__ = ("_kept", "arrays", "block", "ids", "out", "words")

    def __init__(
        self,
        machine: Any,
        search: Search,
        model: Sequence[NDArray[Any]],
        cache_bytes: int = CACHE_BYTES,
        writers: Sequence[BoundWriter] = (),
    ) -> None:
        self.words = WordCache(cache_bytes)
        counters = np.zeros(at.N_COUNTERS, np.int64)
        counters[at.SEARCH], counters[at.LONGEST_KEPT] = search.address, search.longest_kept
        counters[at.CUTS] = machine is not None
        counters[at.N_WRITERS], counters[at.MOST] = len(writers), at.TEXT_SIZE
        text, other = np.zeros((2, at.TEXT_SIZE + PADDING), np.uint8)
        most = at.TEXT_CHARACTERS if writers else 1
        offsets, other_offsets = np.zeros((2, most + 1), np.int64)
        declined, numbers = np.zeros(most, np.uint8), np.zeros(splicing.N_NUMBERS, np.int64)
        numbers[splicing.CAPACITY], numbers[splicing.MOST_TEXTS] = at.TEXT_SIZE, most
        batch = [text, offsets, other, other_offsets, declined, numbers]
        self._kept = writers, batch
        self.arrays: list[NDArray[Any]] = [
            block([np.zeros(0, np.uint8)]) if machine is None else machine,
            self.words.block,
            counters,
            np.zeros(at.WORDS_AT_ONCE + BEYOND, np.int64),
            np.zeros(at.WORDS_AT_ONCE + BEYOND, np.int64),
            np.zeros(NOTED * at.GROUP, np.uint64),
            np.zeros(at.WORDS_AT_ONCE + BEYOND + 1, np.int64),
            text,
            np.empty(at.TEXT_SIZE + SPARE_IDS, np.int32),
            np.array([[one.writer.address, address_of(one.block)] for one in writers], np.uint64).reshape(-1),
            block(batch),
            block([*batch[2:4], *batch[:2], *batch[4:]]),
            *model,
        ]
        self.out = np.empty(1 << 12, np.int32)
        self.ids = self.arrays[at.IDS]
        self.block = block(self.arrays)

    def last(self) -> NDArray[np.int32]:
        """The ids of the text that was encoded singly last, as a view."""
        return self.ids[: self.arrays[at.COUNTERS][at.N_IDS]]

    def room(self, bytes_: int, given: Room = None) -> NDArray[np.int32]:
        """An array for the ids of a text of so many bytes: `given`, if it is surely large enough.

        Otherwise an array that is reused from call to call, up to two megabytes.
        """
        if given is not None and bytes_ + SPARE_IDS <= len(given):
            return given
        if bytes_ + SPARE_IDS <= len(self.out):
            return self.out
        room = np.empty(bytes_ + SPARE_IDS, np.int32)
        if bytes_ <= _KEPT_OUTPUT:
            self.out = room
        return room
