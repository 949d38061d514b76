"""The spans of tokens in the original text, in code points, traced back through normalizer and pre-tokenizer.

The tokens of a pre-token cover its bytes one after another, and `pipeline.origins` maps these bytes to the
original text. Texts that it does not handle get their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.copies import cached_property
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe.dropout import merged_symbols
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.pipeline.origins import Located, located, token_places
from tokbench_subword.pipeline.patterns.cutters import cut_in_turn, units_of

_VARIES = -1
"""The size of a token that covers different numbers of bytes in different places."""


class BpeOffsets:
    """Computes the spans of tokens from the number of bytes that each token covers."""

    def __init__(self, model: BpeModel, preparation: BpePreparation, encoder: BpeEncoder) -> None:
        self.model = model
        self._preparation = preparation
        self._encoder = encoder

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""
        pipeline = self._preparation.before_model
        cutters, found = pipeline.cutters, located(pipeline, [repaired(text) for text in texts])
        if self._preparation.spelling:  # the encoder works on letters and does not cut
            found, cutters = cast(Located, found.cut(cutters)), ()
        data, units = found.data, units_of(found.offsets)
        batch = self._encoder.encode_utf8(data, found.offsets)
        if not cutters:
            places = self._of_words(batch, data, units)
        else:
            places, known = token_places(batch, self._sizes_anywhere, units)
            if not known.all():  # words do not cover a text, or tokens vary in size
                words, _ = cut_in_turn(cutters, data, units[~known])
                _, places[np.repeat(~known, batch.lengths())] = self._locate(data, words)
        if self.model.byte_fallback:  # an unknown token comes after the byte tokens of the next character
            found.leave_at(places[1:][(places[1:] < places[:-1]).any(axis=1), 0])
        return found.spans(places, batch.offsets, self.of)

    def of(self, text: str) -> NDArray[np.int64]:
        """The spans of the tokens of `text`, which has no surrogates, in code points: int64 ``(n, 2)``."""
        return self._preparation.spans(text, self._locate)

    def _locate(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of pre-tokens, and the span of each token in the bytes of `data`."""
        batch = self._encoder.encode_pretokens(data, words)
        return batch, self._of_words(batch, data, words)

    def _of_words(
        self, batch: TokenBatch, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The span of each token in the bytes of `data`; `batch` has the ids of each word."""
        places, known = token_places(batch, self._sizes, words)
        counts = batch.lengths()
        if self.model.whole_tokens:  # words that are one token without merging
            whole = np.flatnonzero(counts == 1)
            whole = whole[self._is_written(batch.ids[batch.offsets[whole]], data, words[whole])]
            places[batch.offsets[whole]], known[whole] = words[whole], True
        if not known.all():  # unknown or dropped symbols, or tokens that vary in size
            symbols, theirs, ends = self._encoder.first_symbols(data, words[~known])
            last = np.cumsum(made := merged_symbols(self.model, symbols, ends))
            places[np.repeat(~known, counts)] = np.stack([theirs[last - made, 0], theirs[last - 1, 1]], axis=1)
        return places

    def _is_written(
        self, ids: NDArray[np.int32], data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether the bytes of each word equal the vocabulary entry of its id."""
        same = self._lengths[ids] == words[:, 1] - words[:, 0]
        for k in np.flatnonzero(same & (self._sizes[ids] != self._lengths[ids])):  # affixes, byte tokens
            same[k] = data[words[k, 0] : words[k, 1]].tobytes() == self.model.vocabulary[ids[k]]
        return same

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        """The length in bytes of each vocabulary entry."""
        return np.fromiter(map(len, self.model.vocabulary), np.int64, len(self.model.vocabulary))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of bytes that each token covers in a merged word (one that is not a whole token), int64.

        It varies for the unknown token, and for a token that some merge makes from sides with another total
        size. That happens if a token is also the spelling of a character with its affix.
        """
        model, bytewise = self.model, self.model.level == "byte"
        sizes = [len(token if bytewise else _bare(model, token)) for token in model.vocabulary]
        if model.unk is not None:
            sizes[model.unk] = _VARIES
        for left, right, result in [] if bytewise and model.unk is None else model.merges.tolist():
            if sizes[left] < 0 or sizes[right] < 0 or sizes[left] + sizes[right] != sizes[result]:
                sizes[result] = _VARIES
        return np.array(sizes, np.int64)

    @cached_property
    def _sizes_anywhere(self) -> NDArray[np.int64]:
        """The number of bytes that each token covers in any word, int64."""
        if not self.model.whole_tokens:
            return self._sizes
        return np.where(self._sizes == self._lengths, self._sizes, _VARIES)


def _bare(model: BpeModel, token: bytes) -> bytes:
    """A token without its affixes; one arbitrary byte for a byte token."""
    if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
        return b"?"
    text = token.removeprefix(model.continuing_prefix.encode()) or token
    return text.removesuffix(model.end_of_word.encode()) or text
