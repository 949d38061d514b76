"""Where the tokens of a text stand in it: the characters that their bytes come from, for many texts at once.

Where normalizing looks at one character at a time, what each byte of a normalized text comes from follows from
the tables alone (`BatchNormalizer.origins`). The tokens of a word take its characters one after another. Texts
with added tokens, and those whose characters had to be put in order, are left to the general path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.compiled_normalizers import origins
from tokbench_subword.wordpiece.encoder import Encoder


@kernel
def _locate(
    text: Any, words: Any, counts: Any, tokens: Any, written: Any, unk: Any, places: Any, spans: Any
) -> None:
    """Write the spans of the tokens of ``words`` (begin and end in `text`), ``counts[d]`` of them up to
    document d.

    `tokens` are the ids of all words, and where those of each begin; ``written[id]`` is how many code points
    one is written with, ``written[-1]`` how many of them only say that it continues a word. `places` are where
    each document begins in `text`, where in the third array, and there the character that each byte comes from.
    """
    ids, ends = tokens
    begins, first_places, origin = places
    prefix = written[len(written) - 1]
    for document in range(len(counts) - 1):
        shift = first_places[document] - begins[document]
        for word in range(counts[document], counts[document + 1]):
            at, stop = words[word, 0], words[word, 1]
            first, last = ends[word], ends[word + 1]
            whole = last == first + 1 and ids[first] == unk  # whatever matched
            for token in range(first, last):
                left = written[ids[token]] - (prefix if token > first else 0)
                end = stop if whole else at
                while end < stop and (left > 0 or (text[end] & 0xC0) == 0x80):
                    left -= (text[end] & 0xC0) != 0x80
                    end += 1
                spans[token, 0], spans[token, 1] = origin[shift + at], origin[shift + end - 1] + 1
                at = end


class Offsets:
    """The spans of tokens under one model; `otherwise` gives those of a text by the general path."""

    def __init__(self, encoder: Encoder, otherwise: Callable[[str], NDArray[np.int64]]) -> None:
        announce(_locate)
        self._encoder, self._otherwise = encoder, otherwise
        model = encoder.model
        self._written = np.zeros(model.size + 1, np.int32)
        self._written[-1] = len(model.prefix)
        for token, index in model.vocabulary.items():
            self._written[index] = len(token)

    def of(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens in code points, ``(total, 2)``, and where those of each text begin."""
        compiled = self._encoder.compiled
        located = None
        if compiled.cuts.leaves_text and not self._encoder.preparation.gives_letters:
            located = self._at_once(compiled, texts)
        spans, limits, known = located or (np.zeros((0, 2), np.int64), [0], [False] * len(texts))
        if all(known):
            return spans, np.asarray(limits, np.int64)
        every = [
            spans[limits[t] : limits[t + 1]] if known[t] else self._otherwise(text)
            for t, text in enumerate(texts)
        ]
        return np.concatenate([np.zeros((0, 2), np.int64), *every]), np.cumsum([0, *map(len, every)])

    def _at_once(
        self, compiled: CompiledPipeline, texts: Sequence[str]
    ) -> tuple[NDArray[np.int64], list[int], list[bool]] | None:
        """The same, and of which texts they are right; None where normalizing is no matter of tables."""
        data, offsets = utf8_of(texts)
        places = origins(compiled.normalizer, data, offsets)
        if places is None:
            return None
        first_places, origin, known = places
        text, begins = compiled.normalizer.apply(data, offsets) if compiled.normalizer else (data, offsets)
        for matcher, where, limits in (
            (compiled.raw_tokens, data, offsets),
            (compiled.normal_tokens, text, begins),
        ):
            if matcher is not None:
                found = matcher.find(where, limits).starts
                known[np.searchsorted(limits, found, "right") - 1] = False
        words, counts = np.stack([begins[:-1], begins[1:]], axis=1), np.arange(len(begins))
        for cutter in compiled.cuts.cutters:
            words, cut = cutter.cut(text, words)
            counts = cut[counts]
        batch = self._encoder.pretokens(text, words)
        spans = np.empty((len(batch.ids), 2), np.int64)
        tokens, unk = (batch.ids, batch.offsets), self._encoder.model.unk_id
        _locate(text, words, counts, tokens, self._written, unk, (begins, first_places, origin), spans)
        return spans, batch.offsets[counts].tolist(), known.tolist()
