"""Batches through a Unigram `tokenizer.json`: compiled, or plainly where there is no such form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.pattern_tree import NotExpressible
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.json_plain import PlainPath
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.unigram.word_path import Prepared, WordPath


class JsonEncoder:
    """The ways through a document's rules; `compiled` is None where only the `plain` one knows them.

    `words` finds places by kernels, and prepares texts by rules that the pipeline has no form for; it is None
    where only the plain path can do so.
    """

    def __init__(self, document: Document, plain: PlainPath, *, name: str, threads: int, cache: int) -> None:
        self.plain, self._name = plain, name
        try:
            self.compiled: CompiledPipeline | None = CompiledPipeline.of(
                document, plain.raw, plain.normal, match_special=plain.match_special, spell=True
            )
        except NotExpressible:
            self.compiled = None
        self.words = WordPath.of(
            document, plain.vocabulary.unknown, where=name, match_special=plain.match_special
        )
        cutters = self.compiled.cutters if self.compiled else ()
        tables = plain.algorithm.lexicon.tables()
        self._encoder = PathEncoder(DOUBLE, tables, cutters, threads=threads, cache=cache)

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        if self.compiled is not None:
            return self.encode_utf8(*utf8_of(texts))
        if self.words is None:
            return self.checked(self._plainly(texts))
        ready = self.words.prepare(texts)
        left = self._left(ready.left, texts)
        words = self._encoder.encode_pretokens(*_given(ready))
        others = self._plainly([texts[index] for index in left])
        return self.checked(
            TokenBatch(*_replaced(words.ids, words.offsets[ready.documents], left, list(others)))
        )

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of documents end to end in `data`, with `PADDING` bytes that may be read behind them."""
        if self.compiled is None:
            whole = data.tobytes()
            return self.encode_batch([whole[a:b].decode() for a, b in pairwise(offsets.tolist())])
        segments = self.compiled.segments(Segments(data, offsets))
        return self.checked(segments.woven(self._encoder.encode_utf8(segments.data, segments.offsets)))

    def locate_batch(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of many texts and the spans of all tokens, ``(total, 2)``; -1 for what has no id."""
        ids, spans = np.zeros(0, np.int32), np.zeros((0, 2), np.int64)
        limits, left = np.zeros(len(texts) + 1, np.int64), list(range(len(texts)))
        if self.words is not None:
            ready = self.words.prepare(texts, located=True)
            assert ready.origins is not None
            batch, spans = self._encoder.locate(*_given(ready), ready.documents, ready.origins)
            ids, limits, left = batch.ids, batch.offsets, self._left(ready.left, texts)
        if not left:
            return TokenBatch(ids, limits), spans
        others = self._plainly([texts[index] for index in left])
        every, _ = _replaced(spans, limits, left, [self.plain.offsets(texts[index]) for index in left])
        return TokenBatch(*_replaced(ids, limits, left, list(others))), every

    def _plainly(self, texts: Sequence[str]) -> TokenBatch:
        return self.plain.encode_batch(texts, self._encoder)

    def has_added(self, text: str) -> bool:
        """Whether an added token may be in `text`."""
        return self.plain.raw.may_match(repaired(text), match_special=self.plain.match_special)

    def _left(self, marked: Sequence[int], texts: Sequence[str]) -> list[int]:
        """The documents that need the plain path, those among them that the kernels have `marked`."""
        if self.plain.raw.only_special and not self.plain.match_special:
            return list(marked)
        return sorted({*marked, *(index for index, text in enumerate(texts) if self.has_added(text))})

    def checked(self, batch: TokenBatch) -> TokenBatch:
        """`batch`, or `TokenizerError` where a character had neither a piece nor an unknown token."""
        if len(batch.ids) and batch.ids.min() < 0:
            raise TokenizerError(
                f"{self._name}: a character is not in the vocabulary, and there is no unknown token"
            )
        return batch


def _given(ready: Prepared) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The words of prepared texts as an encoder takes them."""
    words = np.empty((len(ready.words) - 1, 2), np.int64)
    words[:, 0], words[:, 1] = ready.words[:-1], ready.words[1:]
    return np.frombuffer(ready.data + bytes(PADDING), np.uint8), words


def _replaced(
    rows: NDArray[Any], limits: NDArray[np.int64], places: Sequence[int], others: Sequence[NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows of documents, and their limits, with those of the documents at `places`, in order, replaced."""
    lengths, parts, done = np.diff(limits), [], 0
    for place, new in zip(places, others, strict=True):
        parts += [rows[limits[done] : limits[place]], new]
        done = place + 1
    parts.append(rows[limits[done] :])
    lengths[places] = [len(new) for new in others]
    return np.concatenate(parts), np.append(0, np.cumsum(lengths))
