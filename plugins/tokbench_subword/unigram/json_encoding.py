"""Texts to ids, and to places, by the rules of a Unigram `tokenizer.json` around the search for the best path.

Batches go by the compiled rules. The plain form goes word by word, by any normalizer and pre-tokenizer: for the
places that `pipeline.origins` does not find, and for drawn segmentations with something unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from tokbench_subword.unigram.path_tokens import tokens_of_path
from tokbench_subword.unigram.paths import UNKNOWN_PIECE
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.unigram.unigram_algorithm import Unigram
from tokbench_subword.words.prepared import PreparedEncoder


class JsonEncoder:
    """The rules of `preparation` before a Unigram model, whose unknown token is the text `unknown`."""

    def __init__(
        self,
        preparation: Preparation,
        algorithm: Unigram,
        *,
        unknown: str,
        name: str,
        threads: int,
        cache: int,
    ) -> None:
        self._preparation, self._algorithm, self._name = preparation, algorithm, name
        self.compiled = preparation.compiled
        self._encoder = PathEncoder(
            DOUBLE,
            algorithm.tables,
            self.compiled.cutters,
            unknown=unknown.encode(),
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
            every = [np.zeros((0, 2), np.int64), *map(self.plain_offsets, texts)]
            return self.encode_batch(texts), np.concatenate(every)
        batch, places = self._encoder.locate(found.data, found.offsets)
        batch = TokenBatch(batch.ids, batch.offsets[found.limits])
        spans = found.spans(places, batch.offsets)
        if left := found.left:
            some = [texts[index] for index in left]
            spans, _ = replaced(spans, batch.offsets, left, [self.plain_offsets(text) for text in some])
            batch = TokenBatch(*replaced(batch.ids, batch.offsets, left, list(self.encode_batch(some))))
        return self._checked(batch), spans

    def plain_offsets(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text` in its code points, by the plain form: int64 ``(tokens, 2)``."""
        rows: list[tuple[int, int]] = []
        place = 0
        for part in self._preparation.words(text, track=True):
            if part.token is not None:
                rows.append(part.span)
                place = rows[-1][1]
                continue
            data, origin = part.stretch.text.encode(), part.stretch.origin or []
            begun = np.cumsum((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)
            before = [0, *begun.tolist()]  # characters before each byte that one begins with
            for token in tokens_of_path(self._algorithm.lexicon, data, self._algorithm.path(data)):
                spans = origin[before[token.start] : before[token.end]]
                start = max(place, spans[0][0]) if spans else place
                rows.append((start, max(start, spans[-1][1]) if spans else start))
        return np.maximum.accumulate(np.array(rows, np.int64).reshape(-1, 2), axis=0)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """A segmentation of each word, drawn at random: all at once where all is known, else word by word.

        What is drawn does not depend on the way it is drawn.
        """
        state, words = rng.bit_generator.state, self._words_of(text)
        if words is not None:
            pieces = self._algorithm.sample_rows(words[0], rng, alpha, words[1])[:, 2]
            if not np.isin(pieces, (UNKNOWN_PIECE, self._algorithm.lexicon.unk_id)).any():
                drawn: list[int] = pieces.tolist()
                return drawn
        rng.bit_generator.state = state
        ids: list[int] = []
        for part in self._preparation.words(text):
            if part.token is not None:
                ids.append(part.token.id)
                continue
            data = part.stretch.text.encode()
            path = self._algorithm.sample_path(data, rng, alpha)
            ids += [token.id for token in tokens_of_path(self._algorithm.lexicon, data, path)]
        return ids

    def _words_of(self, text: str) -> tuple[bytes, NDArray[np.int64]] | None:
        """The words of a text end to end, and where each begins and ends; None where it has added tokens."""
        segments = self.compiled.segments(Segments(*utf8_of([text])))
        segments = segments.cut(self.compiled.cutters)
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
