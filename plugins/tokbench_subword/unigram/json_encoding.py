"""Batches of texts to ids, and to places, by the compiled rules of a Unigram `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.origins import located, replaced
from tokbench_subword.pipeline.segments import TEXT, Segments
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.json_plain import PlainPath
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.words.prepared import PreparedEncoder


class JsonEncoder:
    """The compiled rules of a `tokenizer.json`, before the search for the best path through each word.

    The `plain` path finds places, character by character, where `pipeline.origins` cannot.
    """

    def __init__(self, plain: PlainPath, *, name: str, threads: int, cache: int) -> None:
        self._plain, self._name, self.compiled = plain, name, plain.preparation.compiled
        self._encoder = PathEncoder(
            DOUBLE,
            plain.algorithm.lexicon.tables(),
            self.compiled.cutters,
            unknown=plain.vocabulary.unknown.encode(),
            threads=threads,
            cache=cache,
        )
        self.prepared = PreparedEncoder(self.compiled, self._encoder)

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        return self._checked(self.prepared.encode_batch(texts, name=self._name))

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of documents end to end in `data`, with `PADDING` bytes that may be read behind them."""
        return self._checked(self.prepared.encode_utf8(data, offsets))

    def locate_batch(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of many texts and the spans of all tokens, int64 ``(total, 2)``."""
        found = located(self.compiled, Segments(*utf8_of(texts)))
        if found is None:
            every = [np.zeros((0, 2), np.int64), *map(self._plain.offsets, texts)]
            return self.encode_batch(texts), np.concatenate(every)
        batch, places = self._encoder.locate(found.texts.data, found.texts.offsets)
        batch = TokenBatch(batch.ids, batch.offsets[found.documents])
        spans = found.spans(places, batch.offsets)
        if left := found.left:
            some = [texts[index] for index in left]
            spans, _ = replaced(spans, batch.offsets, left, [self._plain.offsets(text) for text in some])
            batch = TokenBatch(*replaced(batch.ids, batch.offsets, left, list(self.encode_batch(some))))
        return self._checked(batch), spans

    def words_of(self, text: str) -> tuple[bytes, NDArray[np.int64]] | None:
        """The words of a text end to end, and where each begins and ends; None where it has added tokens."""
        segments = self.compiled.segments(Segments(*utf8_of([text])))
        segments = segments.cut(*segments.pieces(self.compiled.cutters))
        if segments.marks is not None and (segments.marks != TEXT).any():
            return None
        return segments.data[: segments.offsets[-1]].tobytes(), segments.offsets

    def _checked(self, batch: TokenBatch) -> TokenBatch:
        """`batch`, or `TokenizerError` where a character had neither a piece nor an unknown token."""
        if len(batch.ids) and batch.ids.min() < 0:
            raise TokenizerError(
                f"{self._name}: a character is not in the vocabulary, and there is no unknown token"
            )
        return batch
