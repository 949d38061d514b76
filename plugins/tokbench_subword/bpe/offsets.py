"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer.

A token stands for the bytes of its pre-token one after another, and `pipeline.origins` leads these back. Texts
that it leaves take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols, segment
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.token_sizes import bytes_of_tokens, symbols_of_tokens
from tokbench_subword.pipeline.origins import located, replaced, walk
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.stretch import Stretch


class BpeOffsets:
    """The spans of tokens: a token takes as many bytes of its pre-token as it stands for."""

    def __init__(self, model: BpeModel, preparation: BpePreparation, encoder: BpeEncoder) -> None:
        self.model = model
        self._preparation = preparation
        self._encoder = encoder

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of the tokens of many texts, ``(total, 2)``, and where those of each text begin and end."""
        announce(walk)
        texts, compiled = [repaired(text) for text in texts], self._preparation.compiled
        found = None if self._preparation.spelling else located(compiled, Segments(*utf8_of(texts)))
        if found is None:
            every = [np.zeros((0, 2), np.int64), *map(self.of, texts)]
            return np.concatenate(every), np.cumsum(list(map(len, every)))
        batch = self._encoder.encode_utf8(found.texts.data, found.texts.offsets)
        places, walked = (
            np.empty((len(batch.ids), 2), np.int64),
            np.zeros(len(found.texts.offsets) - 1, np.bool_),
        )
        walk(batch.ids, batch.offsets, self._consumed, found.texts.offsets, places, walked)
        found.leave(np.flatnonzero(~walked))
        limits = batch.offsets[found.documents]
        left = [self.of(texts[index]) for index in found.left]
        return replaced(found.spans(places, limits), limits, found.left, left)

    def of(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text`, which holds no surrogates, in code points: int64 ``(n, 2)``."""
        rows: list[NDArray[np.int64]] = [np.zeros((0, 2), np.int64)]
        track = not self._preparation.compiled.leaves_text or self._preparation.pattern is None
        for part in self._preparation.parts(text, track=track):
            if part.token is not None:
                rows.append(np.array([part.span], np.int64))
            else:
                rows.append(self._stretch(part.stretch))
        return np.concatenate(rows)

    def _stretch(self, stretch: Stretch) -> NDArray[np.int64]:
        data = stretch.text.encode()
        pattern = self._preparation.pattern
        if pattern is not None:
            pretokens = pattern.byte_spans(stretch.text, data)
            origin = stretch.origin
        else:
            pieces = list(self._preparation.pretokens(stretch))
            encoded = [piece.text.encode() for piece in pieces]
            data = b"".join(encoded)
            ends = np.cumsum([0, *map(len, encoded)])
            pretokens = np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int64)
            origin = None if stretch.origin is None else [one for piece in pieces for one in piece.origin or []]
        places = self._places(data, pretokens)
        begun = np.cumsum((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)  # characters up to each byte, with it
        spans = np.stack([begun[places[:, 0]] - 1, begun[places[:, 1] - 1]], axis=1)
        if origin is None or not len(spans):
            return spans
        table = np.array(origin, np.int64)
        return np.stack([table[spans[:, 0], 0], table[spans[:, 1] - 1, 1]], axis=1)

    def _places(self, data: bytes, pretokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bytes of `data` that the tokens of its pre-tokens stand for: (start, end) of each."""
        batch = self._encoder.encode_pretokens(np.frombuffer(data + bytes(PADDING), np.uint8), pretokens)
        starts, ends = pretokens.T
        ahead = np.concatenate([np.zeros(1, np.int64), np.cumsum(self._consumed[batch.ids])])
        taken = ahead[batch.offsets]
        shift = np.repeat(starts - taken[:-1], np.diff(batch.offsets))
        places = np.stack([ahead[:-1] + shift, ahead[1:] + shift], axis=1)
        for p in np.flatnonzero(np.diff(taken) != ends - starts).tolist():
            tokens = slice(batch.offsets[p], batch.offsets[p + 1])
            places[tokens] = starts[p] + self._by_symbols(data[starts[p] : ends[p]], batch.ids[tokens])
        return places

    def _by_symbols(self, pretoken: bytes, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """The same for one pre-token with unknown symbols, or some that are dropped."""
        symbols = first_symbols(self.model, pretoken)
        counts = self._n_symbols[ids]
        if (counts < 0).any() or counts.sum() != len(symbols):
            symbols, counts = segment(self.model, pretoken), np.ones(len(ids), np.int64)
        ends = np.cumsum(counts)
        places = np.array([(symbol.start, symbol.end) for symbol in symbols], np.int64).reshape(-1, 2)
        return np.stack([places[ends - counts, 0], places[ends - 1, 1]], axis=1)

    @cached_property
    def _consumed(self) -> NDArray[np.int64]:
        return bytes_of_tokens(self.model)

    @cached_property
    def _n_symbols(self) -> NDArray[np.int64]:
        return symbols_of_tokens(self.model)
