"""`LexiconEncoder`: a `Lexicon` behind the word cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce
from tokbench.kernels.pointers import block
from tokbench_subword.pipeline.cutters import Cutter
from tokbench_subword.pipeline.rewriting import RewritingTables
from tokbench_subword.unigram import word_layout as at
from tokbench_subword.unigram.unigram_algorithm import Lexicon
from tokbench_subword.unigram.word_search import encode_new, locate_spans
from tokbench_subword.words.cache import CACHE_BYTES
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.encoding import encode_spans
from tokbench_subword.words.layout import GROUP, TEXT_SIZE
from tokbench_subword.words.slots import SPARE_IDS
from tokbench_subword.words.workspace import Workspace

_KEPT = 1 << 18
"""Bytes of text for which room is kept from call to call."""


class LexiconSpace(Workspace):
    """A `Workspace` with room to search in, as much as the text at hand may need for one word."""

    __slots__ = ("_room",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._resize(TEXT_SIZE)

    def _resize(self, size: int) -> None:
        self._room = size
        self.out = np.empty(3 * (size + SPARE_IDS), np.int32)
        self.arrays[at.BEST :] = [
            np.empty(size + 2, np.float64),
            np.empty(size + 2, np.int64),
            np.empty(size + SPARE_IDS, np.int32),
            np.empty(2 * (size + SPARE_IDS), np.int32),
        ]
        self.block = block(self.arrays)

    def room(self, bytes_: int) -> NDArray[np.int32]:
        """An output array for a text of so many bytes, with or without places, and room to search in."""
        if bytes_ > self._room or (self._room > _KEPT and bytes_ <= _KEPT):
            self._resize(max(bytes_, TEXT_SIZE))
        return self.out


class LexiconEncoder(WordEncoder):
    """Encodes words by the best path through each; all sums are float64 and begin with each word.

    `cutters` cut texts into words, each the pieces of the one before; without any, a text is one word. `cache`
    is how many bytes the word cache of each thread may take.
    """

    def __init__(
        self, lexicon: Lexicon, cutters: Sequence[Cutter], *, threads: int = 1, cache: int = CACHE_BYTES
    ) -> None:
        cuts = lexicon.cuts
        shared: list[NDArray[Any]] = [
            lexicon.units,
            lexicon.scores,
            lexicon.lengths,
            lexicon.byte_ids,
            cuts.classes,
            cuts.characters,
            cuts.before_space,
            cuts.pairs,
            lexicon.parameters(),
            np.array([lexicon.unk_id, len(lexicon.byte_ids) > 0], np.int64),
        ]
        super().__init__(encode_new, shared, _own, cutters=cutters, threads=threads, cache=cache)
        self._fits = -1  # texts one by one are prepared before they come here

    def _new(self, rewriting: RewritingTables | None = None) -> Workspace:
        arrays = [*self._shared, *self._own()]
        return LexiconSpace(self._machine, self._search.address, arrays, self.cache, rewriting)

    def encode_few(
        self, data: NDArray[np.uint8], spans: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of given words and where those of each end, by one call of the kernel, in this thread."""
        work, ends = self._borrow(), np.zeros(len(spans) + 1, np.int64)
        out = work.room(len(data))
        count = encode_spans(work.block, data, spans, 0, len(spans), out, ends)
        ids = out[:count].copy()
        if work.crowded():
            work.fit()
        self._idle.append(work)
        return ids, ends

    def locate(
        self, data: NDArray[np.uint8], spans: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The ids of given words, where those of each end, and where each lies in `data`: int64 ``(n, 2)``."""
        announce(locate_spans)
        sizes = np.concatenate([np.zeros(1, np.int64), np.cumsum(spans[:, 1] - spans[:, 0])])
        batch = self._spread(locate_spans, data, np.ascontiguousarray(spans), sizes)
        rows, ends = batch.ids.reshape(-1, 3), batch.offsets // 3
        places = rows[:, 1:] + np.repeat(spans[:, 0], np.diff(ends))[:, None]
        return np.ascontiguousarray(rows[:, 0]), ends, places


def _own() -> list[NDArray[Any]]:
    """What each thread has of its own; what depends on the text is made by `LexiconSpace`."""
    return [
        np.zeros(GROUP + 1, np.int64),
        np.zeros(2 * GROUP, np.uint64),
        np.zeros(GROUP, np.int64),
        np.empty(2 * (at.LONGEST_PART + 1), np.float64),
        *(np.empty(0, np.int64) for _ in range(4)),
    ]
