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
"""Bytes of text that go through all stages together, by an upper bound of their size in UTF-8."""


class PreparesSingly(Prepares, Protocol):
    """A `Prepares` that may also prepare a single text by kernels alone."""

    @property
    def example(self) -> str:
        """A text that makes all kernels run, also those that most texts do not need."""

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels that do what `segments` does, in order; None if kernels alone cannot."""


class PreparedEncoder(Stays):
    """Encodes texts: the stages of `before`, then the encoder `words`."""

    def __init__(self, before: PreparesSingly, words: WordEncoder) -> None:
        self.before, self.words = before, words

    def encode_batch(self, texts: Sequence[str], *, name: str = "tokbench") -> TokenBatch:
        """The ids of many texts; raises `TokenizerError`, with the tokenizer's `name`, if one is not a str."""
        texts = listed(texts, name=name)
        _, rooms = measured(texts, name=name)
        sizes = np.append(0, np.cumsum(rooms))

        def run(first: int, last: int, room: Room) -> TokenBatch:
            written = utf8_of(texts, first, last, int(sizes[last] - sizes[first]))
            return self.encode_utf8(*written, room)

        return in_runs(run, sizes, TEXT_RUN, self.words.threads)

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], room: Room = None) -> TokenBatch:
        """The ids of documents that lie end to end in `data`, followed by `PADDING` readable bytes.

        For `room` see `in_runs`.
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
        """`encode` and `encode_to_list`, much faster for short texts; None if a stage before needs Python."""
        self._rehearse()
        writers = self.before.writers
        if writers is None:
            return None
        return self.words.one_by_one(writers, (self.encode, self.encode_to_list))

    def _rehearse(self) -> None:
        """Encode a little text, so that numba loads all kernels now.

        numba loads a kernel's code when it is first called, which takes as long as encoding some megabytes:
        6 ms for a normalizer, 5 for finding added tokens, 20 for all kernels of a Unigram model.
        """
        self.encode_utf8(*utf8_of(["1 \u00e9", self.before.example]))


class PreparedTokenizer:
    """A tokenizer that encodes with a `PreparedEncoder`.

    The first call for a single text replaces the method by a compiled function, if there is one.
    """

    name: str
    _prepared: PreparedEncoder

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        texts = listed(texts, name=self.name)
        return self._few(texts) or self._prepared.encode_batch(texts, name=self.name)

    def _prepared_encoder(self) -> PreparedEncoder | None:
        """The encoder of single texts; None if they have to go through `encode_batch`."""
        return self._prepared

    def _few(self, texts: Sequence[str]) -> TokenBatch | None:
        """Encode a batch of a few short texts one by one: 15 µs for ten texts, instead of up to 100.

        None for more texts, or longer ones.
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
