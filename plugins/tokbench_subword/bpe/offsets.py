"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer.

A token stands for the bytes of its pre-token one after another, and `pipeline.origins` leads these back. Texts
that it leaves take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import padded
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe.dropout import first_symbols_in
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.pipeline.cutters import units_of
from tokbench_subword.pipeline.origins import Located, located, walk
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import replaced
from tokbench_subword.pipeline.stretch import Stretch

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
        texts, pipeline = [repaired(text) for text in texts], self._preparation.before_model
        found = located(pipeline, Segments(*utf8_of(texts)))
        if found is None:
            every = [np.zeros((0, 2), np.int64), *map(self.of, texts)]
            return np.concatenate(every), np.cumsum(list(map(len, every)))
        if self._preparation.spelling:  # the encoder is one of letters, which cuts nothing
            found = cast(Located, found.cut(pipeline.cutters))
        batch = self._encoder.encode_utf8(found.data, found.offsets)
        places, walked = self._walked(batch, found.offsets)
        found.leave(np.flatnonzero(~walked))
        spans, limits = found.spans(places, batch.offsets)
        return replaced(spans, limits, found.left, [self.of(texts[index]) for index in found.left])

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

    def _walked(
        self, batch: TokenBatch, offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where the tokens of texts that `offsets` part begin and end, and for which that could be told."""
        places, walked = np.empty((len(batch.ids), 2), np.int64), np.zeros(len(batch), np.bool_)
        walk(batch.ids, batch.offsets, self._consumed, offsets, places, walked)
        return places, walked

    def _stretch(self, stretch: Stretch) -> NDArray[np.int64]:
        data = stretch.text.encode()
        pattern = self._preparation.pattern
        if pattern is not None:  # which leaves no gaps
            ends = np.append(0, pattern.byte_spans(data)[:, 1])
            origin = stretch.origin
        else:
            pieces = list(self._preparation.pretokens(stretch))
            encoded = [piece.text.encode() for piece in pieces]
            data, ends = b"".join(encoded), np.cumsum([0, *map(len, encoded)])
            origin = None if stretch.origin is None else [one for piece in pieces for one in piece.origin or []]
        places = self._places(data, ends)
        begun = np.cumsum((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)  # characters up to each byte, with it
        spans = np.stack([begun[places[:, 0]] - 1, begun[places[:, 1] - 1]], axis=1)
        if origin is None or not len(spans):
            return spans
        table = np.array(origin, np.int64)
        return np.stack([table[spans[:, 0], 0], table[spans[:, 1] - 1, 1]], axis=1)

    def _places(self, data: bytes, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bytes of `data` that the tokens of its pre-tokens stand for: (start, end) of each."""
        batch = self._encoder.encode_pretokens(padded(data), units_of(ends))
        places, walked = self._walked(batch, ends)
        for p in np.flatnonzero(~walked).tolist():
            tokens, start, end = slice(batch.offsets[p], batch.offsets[p + 1]), ends[p], ends[p + 1]
            places[tokens] = start + self._by_symbols(data[start:end], batch.ids[tokens])
        return places

    def _by_symbols(self, pretoken: bytes, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """The same for one pre-token with unknown symbols, or some that are dropped."""
        if self.model.whole_tokens and pretoken in self.model.ids:
            return np.array([[0, len(pretoken)]], np.int64)
        symbols = first_symbols(self.model, pretoken)
        counts = self._n_symbols[ids]
        if (counts < 0).any() or counts.sum() != len(symbols):
            counts = first_symbols_in(self.model, [symbol.id for symbol in symbols])
        ends = np.cumsum(counts)
        places = np.array([(symbol.start, symbol.end) for symbol in symbols], np.int64).reshape(-1, 2)
        return np.stack([places[ends - counts, 0], places[ends - 1, 1]], axis=1)

    @cached_property
    def _consumed(self) -> NDArray[np.int64]:
        """How many bytes each token stands for."""
        return _sizes(self.model, len, unknown=_VARIES)

    @cached_property
    def _n_symbols(self) -> NDArray[np.int64]:
        """How many first symbols each token is made of.

        To ask the kernel of each pre-token instead takes 2.3 times as long over text that is mostly unknown.
        """
        bytewise = self.model.level == "byte"
        count = len if bytewise else lambda text: len(text.decode("utf-8", "surrogatepass"))
        return _sizes(self.model, count, unknown=1)


def _sizes(model: BpeModel, size: Callable[[bytes], int], *, unknown: int) -> NDArray[np.int64]:
    """The size of what each token stands for in a pre-token: int64, `unknown` for the unknown token.

    It varies for a token that a pre-token may be as it is written, affixes and all, and for one that some merge
    makes of sides which have another size together: what a character with its affix is, too.
    """
    if model.level == "byte":
        sizes = [size(token) for token in model.vocabulary]
    else:
        texts = [(token, _bare(model, token)) for token in model.vocabulary]
        sizes = [_VARIES if model.whole_tokens and bare != token else size(bare) for token, bare in texts]
    if model.unk is not None:
        sizes[model.unk] = unknown
    for left, right, result in [] if model.level == "byte" and model.unk is None else model.merges.tolist():
        if sizes[left] < 0 or sizes[right] < 0 or sizes[left] + sizes[right] != sizes[result]:
            sizes[result] = _VARIES
    return np.array(sizes, np.int64)


def _bare(model: BpeModel, token: bytes) -> bytes:
    """A token without its affixes; of one that stands for a byte, something of that size."""
    if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
        return b"?"
    text = token.removeprefix(model.continuing_prefix.encode()) or token
    return text.removesuffix(model.end_of_word.encode()) or text
