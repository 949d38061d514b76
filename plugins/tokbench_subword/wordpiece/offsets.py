"""Where the tokens of a text stand in it: the characters that their bytes come from, for many texts at once.

The tokens of a word take its characters one after another; where these come from, `pipeline.origins` tells.
Texts that it leaves go the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.pointers import Bytes, Ids, Int, Ints
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.origins import located, replaced
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.wordpiece.encoder import WordPieceEncoder


@kernel
def _places(text: Bytes, words: Ints, tokens: tuple[Ids, Ints], written: Ids, unk: Int, places: Ints) -> None:
    """Write where the tokens of ``words`` (begin and end in `text`) begin and end in it.

    `tokens` are the ids of all words, and where those of each begin; ``written[id]`` is how many code points
    one is written with, ``written[-1]`` how many of them only say that it continues a word.
    """
    ids, ends = tokens
    prefix = written[len(written) - 1]
    for word in range(len(words)):
        at, stop = words[word, 0], words[word, 1]
        first, last = ends[word], ends[word + 1]
        whole = last == first + 1 and ids[first] == unk  # whatever matched
        for token in range(first, last):
            left = written[ids[token]] - (prefix if token > first else 0)
            end = stop if whole else at
            while end < stop and (left > 0 or (text[end] & 0xC0) == 0x80):
                left -= (text[end] & 0xC0) != 0x80
                end += 1
            places[token, 0], places[token, 1] = at, end
            at = end


class WordPieceOffsets:
    """The spans of tokens under one model; `otherwise` gives those of a text by the general path."""

    def __init__(self, encoder: WordPieceEncoder, otherwise: Callable[[str], NDArray[np.int64]]) -> None:
        announce(_places)
        self._encoder, self._otherwise = encoder, otherwise
        model = encoder.model
        self._written = np.zeros(model.size + 1, np.int32)
        self._written[-1] = len(model.prefix)
        for token, index in model.vocabulary.items():
            self._written[index] = len(token)

    def of(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens in code points, ``(total, 2)``, and where those of each text begin."""
        encoder, compiled = self._encoder, self._encoder.compiled
        found = None if encoder.preparation.gives_letters else located(compiled, Segments(*utf8_of(texts)))
        if found is None:
            every = [np.zeros((0, 2), np.int64), *map(self._otherwise, texts)]
            return np.concatenate(every), np.cumsum(list(map(len, every)))
        (words, documents), data = found.words(compiled.cutters), found.texts.data
        batch = encoder.pretokens(data, words)
        places = np.empty((len(batch.ids), 2), np.int64)
        _places(data, words, (batch.ids, batch.offsets), self._written, encoder.model.unk_id, places)
        limits = batch.offsets[documents]
        left = [self._otherwise(texts[index]) for index in found.left]
        return replaced(found.spans(places, limits), limits, found.left, left)
