"""Where the tokens of a text stand in it: the characters that their bytes come from, for many texts at once.

The tokens of a word take its characters one after another; where these come from, `pipeline.origins` tells.
Texts that it leaves take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench_subword.pipeline.origins import located, walked
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.wordpiece.encoder import WordPieceEncoder
from tokbench_subword.wordpiece.model import WordPieceModel


class WordPieceOffsets:
    """The spans of tokens under one model."""

    def __init__(self, model: WordPieceModel, preparation: Preparation, encoder: WordPieceEncoder) -> None:
        self._preparation, self._encoder = preparation, encoder
        self._prefix = _size(model.prefix)
        self._sizes = np.zeros(model.size, np.int64)
        for token, index in model.vocabulary.items():
            self._sizes[index] = _size(token)

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens in code points, ``(total, 2)``, and where those of each text begin."""
        pipeline = self._preparation.before_model
        found = located(pipeline, texts)
        words, before = found.pieces(pipeline.cutters)
        batch, places = self._locate(found.data, words)
        return found.spans(places, batch.offsets[before], self.of)

    def of(self, text: str) -> NDArray[np.int64]:
        """The spans of the tokens of one text, int64 ``(n, 2)``, by the plain form."""
        return self._preparation.spans(text, self._locate)

    def _locate(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of words, and the bytes of `data` that the tokens stand for: (start, end) of each."""
        batch = self._encoder.encode_pretokens(data, words)
        places, told = walked(batch, self._sizes, words, prefix=self._prefix)
        places[batch.offsets[:-1][~told]] = words[~told]  # unknown as a whole
        return batch, places


def _size(token: str) -> int:
    return len(token.encode("utf-8", "surrogatepass"))
