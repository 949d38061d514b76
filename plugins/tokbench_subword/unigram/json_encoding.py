"""Batches through a Unigram `tokenizer.json`: by kernels as far as they can, the rest on the plain path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.utf8 import repaired
from tokbench_subword.unigram.engine import SLACK
from tokbench_subword.unigram.json_plain import PlainPath
from tokbench_subword.unigram.origins import to_characters
from tokbench_subword.unigram.unigram_algorithm import Unigram
from tokbench_subword.unigram.word_path import WordPath


@dataclass(frozen=True, slots=True, eq=False)
class JsonEncoder:
    """The ways through a document's rules; `words` is None where only the `plain` one knows them."""

    plain: PlainPath
    words: WordPath | None
    algorithm: Unigram
    name: str

    def encode_batch(self, texts: Sequence[str], threads: int) -> TokenBatch:
        """The ids of many texts."""
        if self.words is None:
            return self.checked(self.plain.encode_batch(texts, threads))
        ready = self.words.prepare(texts)
        ids, bounds = self.algorithm.engine.encode_ragged(ready.data + SLACK, ready.words, threads)
        left = self._left(ready.left, texts)
        if not left:
            return self.checked(TokenBatch(ids, bounds[ready.documents]))
        others = self.plain.encode_batch([texts[index] for index in left], threads)
        return self.checked(TokenBatch(*_replaced(ids, bounds[ready.documents], left, list(others))))

    def locate_batch(self, texts: Sequence[str], threads: int) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of many texts and the spans of all tokens, ``(total, 2)``; -1 for what has no id."""
        ids, spans = np.zeros(0, np.int32), np.zeros((0, 2), np.int64)
        limits, left = np.zeros(len(texts) + 1, np.int64), list(range(len(texts)))
        if self.words is not None:
            ready = self.words.prepare(texts, located=True)
            ids, bounds, spans = self.algorithm.engine.locate_ragged(ready.data + SLACK, ready.words, threads)
            limits, left = bounds[ready.documents], self._left(ready.left, texts)
            to_characters(spans, limits, ready.origins)
        if not left:
            return TokenBatch(ids, limits), spans
        others = self.plain.encode_batch([texts[index] for index in left], threads)
        every, _ = _replaced(spans, limits, left, [self.plain.offsets(texts[index]) for index in left])
        return TokenBatch(*_replaced(ids, limits, left, list(others))), every

    def has_added(self, text: str) -> bool:
        """Whether an added token may be in `text`."""
        return self.plain.raw.may_match(repaired(text), match_special=False)

    def _left(self, marked: Sequence[int], texts: Sequence[str]) -> list[int]:
        """The documents that need the plain path, those among them that the kernels have `marked`."""
        if self.plain.raw.only_special:
            return list(marked)
        return sorted({*marked, *(index for index, text in enumerate(texts) if self.has_added(text))})

    def checked(self, batch: TokenBatch) -> TokenBatch:
        """`batch`, or `TokenizerError` where a character had neither a piece nor an unknown token."""
        if len(batch.ids) and batch.ids.min() < 0:
            raise TokenizerError(
                f"{self.name}: a character is not in the vocabulary, and there is no unknown token"
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
