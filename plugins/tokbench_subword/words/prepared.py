"""Whole texts to ids, in batches and one by one: the stages before the cut, then a `WordEncoder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import listed, plain_text, plain_texts
from tokbench.batch import TokenBatch
from tokbench.kernels.calls import travels_with
from tokbench.kernels.copies import Stays, cached_property
from tokbench.kernels.text import measured, utf8_of
from tokbench_subword.pipeline.segments import Prepares, Segments
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.words.encoder import ToArray, ToList, WordEncoder
from tokbench_subword.words.layout import TEXT_CHARACTERS
from tokbench_subword.words.runs import Room, in_runs

_FEW = 16
"""The most texts of a batch that are encoded one by one."""
TEXT_RUN = 1 << 18
"""Bytes of texts that go through all stages together: an upper bound of their UTF-8, before it is written."""


class PreparesSingly(Prepares, Protocol):
    """What can also prepare a text by itself, by kernels alone."""

    @property
    def example(self) -> str:
        """A text for which kernels are called that most texts do not need."""

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels that do what `segments` does, in order; None where more is needed."""


class PreparedEncoder(Stays):
    """Encodes texts by `words`, after what happens `before`."""

    def __init__(self, before: PreparesSingly, words: WordEncoder) -> None:
        self.before, self.words = before, words

    def encode_batch(self, texts: Sequence[str], *, name: str = "tokbench") -> TokenBatch:
        """The ids of many texts; raises `TokenizerError` where one is no str, in the name of a tokenizer."""
        texts = listed(texts, name=name)
        _, rooms = measured(texts, name=name)
        sizes = np.append(0, np.cumsum(rooms))

        def run(first: int, last: int, room: Room) -> TokenBatch:
            written = utf8_of(texts, first, last, int(sizes[last] - sizes[first]))
            return self.encode_utf8(*written, room)

        return in_runs(run, sizes, TEXT_RUN, self.words.threads)

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], room: Room = None) -> TokenBatch:
        """The ids of documents end to end in `data`, with `PADDING` bytes that may be read behind them.

        `room` as `in_runs` has it.
        """
        segments = self.before.segments(Segments(data, offsets))
        return segments.woven(self.words.encode_utf8(segments.data, segments.offsets, room))

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of one text."""
        return self.encode_utf8(*utf8_of([plain_text(text, name="tokbench")])).ids

    def encode_to_list(self, text: str) -> list[int]:
        """The ids of one text, as a list."""
        return self.encode(text).tolist()

    def one_by_one(self) -> tuple[ToArray, ToList] | None:
        """`encode` and `encode_to_list`, much faster for short texts; None where preparing takes Python."""
        self._rehearse()
        writers = self.before.writers
        if writers is None:
            return None
        return self.words.one_by_one(writers, (self.encode, self.encode_to_list))

    def _rehearse(self) -> None:
        """Encode a little, so that no large batch waits for compiled code to be read.

        numba reads the code of a kernel when it is first called, which takes as long as encoding some
        megabytes: 6 ms for one that normalizes, 5 for what finds added tokens, 20 for all of a Unigram model.
        """
        self.encode_utf8(*utf8_of(["1 \u00e9", self.before.example]))


class PreparedTokenizer:
    """A tokenizer that encodes by its `PreparedEncoder`.

    At the first call for one text a function of compiled code takes the place of the method, where there is
    one.
    """

    name: str
    _prepared: PreparedEncoder

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        texts = listed(texts, name=self.name)
        return self._few(texts) or self._prepared.encode_batch(texts, name=self.name)

    def _prepared_encoder(self) -> PreparedEncoder | None:
        """What encodes one text; None where it has to go through `encode_batch`."""
        return self._prepared

    def _few(self, texts: Sequence[str]) -> TokenBatch | None:
        """The batch of a few short texts, one by one: 15 µs for ten; stage by stage takes up to 100.

        None for more or longer ones.
        """
        if self._one_by_one is None or len(texts) > _FEW:
            return None
        if sum(map(len, plain_texts(texts, name=self.name))) > TEXT_CHARACTERS:
            return None
        ids = [np.empty(0, np.int32), *map(self._one_by_one[0], texts)]
        return TokenBatch(np.concatenate(ids), np.cumsum(list(map(len, ids))))

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of `text`: int32; a lone surrogate counts as U+FFFD."""
        plain_text(text, name=self.name)
        if self._one_by_one is None:
            return self.encode_batch([text]).ids
        self.__dict__["encode"], self.__dict__["_to_list"] = self._one_by_one
        return self._one_by_one[0](text)

    def __call__(self, text: str) -> list[int]:
        """The ids of `text`, as a list."""
        return self._to_list(text)

    def _to_list(self, text: str) -> list[int]:
        return self.encode(text).tolist()

    @cached_property
    def _one_by_one(self) -> tuple[ToArray, ToList] | None:
        prepared = self._prepared_encoder()
        functions = None if prepared is None else prepared.one_by_one()
        for function, name in zip(functions or (), ("encode", "_to_list"), strict=False):
            travels_with(function, self, name)
        return functions
