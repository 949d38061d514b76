"""Where the tokens of a text stand in it: the characters that their bytes come from, for many texts at once.

The tokens of a word take its characters one after another; where these come from, `pipeline.origins` tells.
Texts that it leaves take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ids, Int, Ints
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.origins import located
from tokbench_subword.pipeline.patterns.cutters import units_of
from tokbench_subword.pipeline.preparation import Part
from tokbench_subword.pipeline.stretch import Span
from tokbench_subword.wordpiece.encoder import WordPieceEncoder, WordPiecePreparation
from tokbench_subword.wordpiece.model import WordPieceModel


@kernel
def _places(words: Ints, tokens: tuple[Ids, Ints], written: Ids, unk: Int, places: Ints) -> None:
    """Write where the tokens of `words` (begin and end of each) begin and end, in bytes.

    `tokens` are the ids of all words, and where those of each begin; ``written[id]`` is how many bytes one is
    written with, ``written[-1]`` how many of them only say that it continues a word.
    """
    ids, ends = tokens
    prefix = written[len(written) - 1]
    for word in range(len(words)):
        at, stop = words[word, 0], words[word, 1]
        first, last = ends[word], ends[word + 1]
        whole = last == first + 1 and ids[first] == unk  # whatever matched
        for token in range(first, last):
            size = written[ids[token]] - (prefix if token > first else 0)
            places[token, 0] = at
            at = stop if whole else min(at + max(size, 0), stop)  # an id may be written in two ways
            places[token, 1] = at


class WordPieceOffsets:
    """The spans of tokens under one model."""

    def __init__(
        self, model: WordPieceModel, preparation: WordPiecePreparation, encoder: WordPieceEncoder
    ) -> None:
        self._model, self._preparation, self._encoder = model, preparation, encoder
        self._written = np.zeros(model.size + 1, np.int32)
        self._written[-1] = len(model.prefix.encode("utf-8", "surrogatepass"))
        for token, index in model.vocabulary.items():
            self._written[index] = len(token.encode("utf-8", "surrogatepass"))

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens in code points, ``(total, 2)``, and where those of each text begin."""
        compiled = self._preparation.compiled
        found = located(None if self._preparation.gives_letters else compiled, texts)
        (words, before), data = found.pieces(compiled.cutters), found.data
        batch = self._encoder.encode_pretokens(data, words)
        places = np.empty((len(batch.ids), 2), np.int64)
        _places(words, (batch.ids, batch.offsets), self._written, self._model.unk_id, places)
        return found.spans(places, batch.offsets[before], self._of)

    def _of(self, text: str) -> NDArray[np.int64]:
        """The spans of the tokens of one text, int64 ``(n, 2)``."""
        words = list(self._preparation.words(text, track=True))
        data, offsets = utf8_of([word.stretch.text for word in words])
        matched = self._encoder.encode_pretokens(data, units_of(offsets))
        pairs = zip(words, matched, strict=True)
        spans = [span for word, ids in pairs for span in self._of_word(word, ids.tolist())]
        return np.array(spans, np.int64).reshape(-1, 2)

    def _of_word(self, word: Part, ids: Sequence[int]) -> Iterator[Span]:
        """The spans of what a word, or an added token, became: from their first to their last character."""
        origin = word.stretch.origin or []
        if word.token is not None:
            yield _around(origin)
            return
        whole = len(ids) == 1 and ids[0] == self._model.unk_id
        at = 0
        for number, index in enumerate(ids):
            token = self._model.matched_tokens[index]
            length = len(origin) if whole else len(token) - (len(self._model.prefix) if number else 0)
            yield _around(origin[at : at + length])
            at += length


def _around(spans: Sequence[Span]) -> Span:
    return min(start for start, _ in spans), max(end for _, end in spans)
