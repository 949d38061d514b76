"""Texts to ids, and to places, by the rules of a Unigram `tokenizer.json` around the search for the best path.

Batches go by the compiled rules. The plain form goes word by word, by any normalizer and pre-tokenizer: for the
places that `pipeline.origins` does not find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.origins import located
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.pipeline.segments import TEXT, Segments
from tokbench_subword.pipeline.splicing import replaced
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.path_tokens import ids_of_paths
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.unigram.unigram_algorithm import Unigram
from tokbench_subword.words.prepared import PreparedEncoder
from tokbench_subword.words.runs import Room


class JsonEncoder(PreparedEncoder):
    """The rules of `preparation` before a Unigram model, whose unknown token is the text `unknown`."""

    words: PathEncoder

    def __init__(
        self, preparation: Preparation, algorithm: Unigram, *, unknown: str, name: str, **options: Any
    ) -> None:
        self._preparation, self._algorithm, self._name = preparation, algorithm, name
        self._compiled = compiled = preparation.compiled
        tables, unknown_text = algorithm.tables, unknown.encode()
        words = PathEncoder(DOUBLE, tables, compiled.cutters, unknown=unknown_text, **options)
        super().__init__(compiled, words)

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], room: Room = None) -> TokenBatch:
        """See `PreparedEncoder`."""
        return self._checked(super().encode_utf8(data, offsets, room))

    def locate_batch(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of many texts and the spans of all tokens, int64 ``(total, 2)``."""
        found = located(self._compiled, texts)
        batch, places = self.words.locate(found.data, found.offsets)
        spans, _ = found.spans(places, batch.offsets, self.plain_offsets)
        batch = found.woven(batch)
        if left := found.left:
            others = self.encode_batch([texts[index] for index in left])
            batch = TokenBatch(*replaced(batch.ids, batch.offsets, left, list(others)))
        return self._checked(batch), spans

    def plain_offsets(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text` in its code points, by the plain form: int64 ``(tokens, 2)``."""
        return self._preparation.spans(text, self.words.locate_words)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """A segmentation of each word, drawn at random."""
        words = self._compiled.segments(Segments(*utf8_of([text])))
        words = words.cut(self._compiled.cutters)
        assert words.marks is not None
        data = words.data[: words.offsets[-1]].tobytes()
        rows = self._algorithm.sample_rows(data, rng, alpha, words.offsets)
        ends = np.searchsorted(rows[:, 0], words.offsets[1:]).tolist()
        drawn = zip(words.marks.tolist(), ids_of_paths(self._algorithm, data, rows, ends), strict=True)
        ids = [index for mark, word in drawn for index in (word if mark == TEXT else [mark])]
        self._check(min(ids, default=0))
        return ids

    def _checked(self, batch: TokenBatch) -> TokenBatch:
        self._check(batch.ids.min(initial=0))
        return batch

    def _check(self, least: int) -> None:
        """Raise `TokenizerError` where the least id says that a character had no piece and no unknown token."""
        if least < 0:
            raise TokenizerError(
                f"{self._name}: a character is not in the vocabulary, and there is no unknown token, without "
                "which no byte is fallen back to, as in `tokenizers`; name one with unk_id in the file"
            )
