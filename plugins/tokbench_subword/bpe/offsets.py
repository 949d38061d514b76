"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer.

A token stands for the bytes of its pre-token one after another, and `pipeline.origins` leads these back. Texts
that it leaves take their spans from `Stretch.origin`.
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
"""The size of a token that is not the same wherever it comes up."""


class BpeOffsets:
    """The spans of tokens: a token takes as many bytes of its pre-token as it stands for."""

    def __init__(self, model: BpeModel, preparation: BpePreparation, encoder: BpeEncoder) -> None:
        self.model = model
        self._preparation = preparation
        self._encoder = encoder

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of the tokens of many texts, ``(total, 2)``, and where those of each text begin and end."""
        pipeline = self._preparation.before_model
        cutters, found = pipeline.cutters, located(pipeline, [repaired(text) for text in texts])
        if self._preparation.spelling:  # the encoder is one of letters, which cuts nothing
            found, cutters = cast(Located, found.cut(cutters)), ()
        data, units = found.data, units_of(found.offsets)
        batch = self._encoder.encode_utf8(data, found.offsets)
        if not cutters:
            places = self._of_words(batch, data, units)
        else:
            places, told = token_places(batch, self._sizes_anywhere, units)
            if not told.all():  # where words do not cover a text, or tokens vary in size
                words, _ = cut_in_turn(cutters, data, units[~told])
                _, places[np.repeat(~told, batch.lengths())] = self._locate(data, words)
        if self.model.byte_fallback:  # an unknown token comes behind the bytes of what follows it
            found.leave_at(places[1:][(places[1:] < places[:-1]).any(axis=1), 0])
        return found.spans(places, batch.offsets, self.of)

    def of(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text`, which holds no surrogates, in code points: int64 ``(n, 2)``."""
        return self._preparation.spans(text, self._locate)

    def _locate(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of pre-tokens, and the bytes of `data` that the tokens stand for: (start, end) of each."""
        batch = self._encoder.encode_pretokens(data, words)
        return batch, self._of_words(batch, data, words)

    def _of_words(
        self, batch: TokenBatch, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The same, where the ids of each word are known."""
        places, told = token_places(batch, self._sizes, words)
        counts = batch.lengths()
        if self.model.whole_tokens:  # a word that is one token as it is written
            whole = np.flatnonzero(counts == 1)
            whole = whole[self._is_written(batch.ids[batch.offsets[whole]], data, words[whole])]
            places[batch.offsets[whole]], told[whole] = words[whole], True
        if not told.all():  # symbols that are unknown or dropped, or some that merges give another size
            symbols, theirs, ends = self._encoder.first_symbols(data, words[~told])
            last = np.cumsum(made := merged_symbols(self.model, symbols, ends))
            places[np.repeat(~told, counts)] = np.stack([theirs[last - made, 0], theirs[last - 1, 1]], axis=1)
        return places

    def _is_written(
        self, ids: NDArray[np.int32], data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether each word is a token as it is written."""
        same = self._lengths[ids] == words[:, 1] - words[:, 0]
        for k in np.flatnonzero(same & (self._sizes[ids] != self._lengths[ids])):  # with an affix, or a byte
            same[k] = data[words[k, 0] : words[k, 1]].tobytes() == self.model.vocabulary[ids[k]]
        return same

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        """How many bytes each token is written with."""
        return np.fromiter(map(len, self.model.vocabulary), np.int64, len(self.model.vocabulary))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """How many bytes each token stands for in a word that is not, as it is written, a token: int64.

        It varies for the unknown token, and for one that some merge makes of sides which have another size
        together: what a character with its affix is, too.
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
        """How many in any word."""
        if not self.model.whole_tokens:
            return self._sizes
        return np.where(self._sizes == self._lengths, self._sizes, _VARIES)


def _bare(model: BpeModel, token: bytes) -> bytes:
    """A token without its affixes; of one that stands for a byte, something of that size."""
    if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
        return b"?"
    text = token.removeprefix(model.continuing_prefix.encode()) or token
    return text.removesuffix(model.end_of_word.encode()) or text
