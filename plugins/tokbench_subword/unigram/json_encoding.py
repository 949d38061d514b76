"""Batches through a Unigram `tokenizer.json`, compiled: ids, and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.segments import TEXT, Segments
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.json_plain import PlainPath
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.unigram.word_path import WordPath
from tokbench_subword.words.prepared import PreparedEncoder


class JsonEncoder:
    """A document's rules, compiled, before the search for the best path through each word.

    Places are found by `_words`, which keeps account of where each byte comes from; it is None where only the
    `plain` path can do so, character by character.
    """

    def __init__(self, document: Document, plain: PlainPath, *, name: str, threads: int, cache: int) -> None:
        self._plain, self._name, self.compiled = plain, name, plain.preparation.compiled
        self._document = document
        tables = plain.algorithm.lexicon.tables()
        self._encoder = PathEncoder(DOUBLE, tables, self.compiled.cutters, threads=threads, cache=cache)
        self.prepared = PreparedEncoder(self.compiled, self._encoder)

    @cached_property
    def _words(self) -> WordPath | None:
        """Compiled when places are first asked for: seconds on a new machine, a tenth of one later."""
        special = self._plain.preparation.match_special
        return WordPath.of(self._document, match_special=special)

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        return self.encode_utf8(*utf8_of(texts))

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of documents end to end in `data`, with `PADDING` bytes that may be read behind them."""
        return self._checked(self.prepared.encode_utf8(data, offsets))

    def locate_batch(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of many texts and the spans of all tokens, int64 ``(total, 2)``."""
        if self._words is None:
            found = [self._plain.offsets(text) for text in texts]
            return self.encode_batch(texts), np.concatenate([np.zeros((0, 2), np.int64), *found])
        ready = self._words.prepare(texts)
        words = np.stack([ready.words[:-1], ready.words[1:]], axis=1)
        batch, spans = self._encoder.locate(ready.data, words, ready.documents, ready.origins)
        if left := self._left(ready.left, texts):
            some = [texts[index] for index in left]
            spans, _ = _replaced(spans, batch.offsets, left, [self._plain.offsets(text) for text in some])
            batch = TokenBatch(*_replaced(batch.ids, batch.offsets, left, list(self.encode_batch(some))))
        return self._checked(batch), spans

    def words_of(self, text: str) -> tuple[bytes, NDArray[np.int64]] | None:
        """The words of a text end to end, and where each begins and ends; None where it has added tokens."""
        segments = self.compiled.segments(Segments(*utf8_of([text]))).cut(self.compiled.cutters)
        if segments.marks is not None and (segments.marks != TEXT).any():
            return None
        return segments.data[: segments.offsets[-1]].tobytes(), segments.offsets

    def _left(self, marked: Sequence[int], texts: Sequence[str]) -> list[int]:
        """The documents that need the plain path, those among them that the kernels have `marked`."""
        raw, special = self._plain.preparation.raw_tokens, self._plain.preparation.match_special
        if raw.only_special and not special:
            return list(marked)
        added = (k for k, text in enumerate(texts) if raw.may_match(repaired(text), match_special=special))
        return sorted({*marked, *added})

    def _checked(self, batch: TokenBatch) -> TokenBatch:
        """`batch`, or `TokenizerError` where a character had neither a piece nor an unknown token."""
        if len(batch.ids) and batch.ids.min() < 0:
            raise TokenizerError(
                f"{self._name}: a character is not in the vocabulary, and there is no unknown token"
            )
        return batch


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
