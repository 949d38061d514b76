"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.preparation import Preparation
from tokbench_subword.kernels.compiling import kernel
from tokbench_subword.kernels.pointers import PADDING
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.stretch import Stretch


@kernel
def _locate(lengths, pretokens, starts, characters, spans):  # type: ignore[no-untyped-def]
    """Write the span in code points of each token to `spans`.

    Pre-token p begins at byte ``starts[p]``; its tokens, from ``pretokens[p]`` on, take `lengths` bytes each.
    ``characters[i]`` is how many code points begin before byte i.
    """
    for p in range(len(starts)):
        at = starts[p]
        for token in range(pretokens[p], pretokens[p + 1]):
            first = characters[at + 1] - 1
            at += lengths[token]
            spans[token, 0], spans[token, 1] = first, max(characters[at], first)


class Offsets:
    """The spans of tokens: a token takes as many bytes of its pre-token as it stands for."""

    def __init__(self, model: BpeModel, preparation: Preparation, encoder: Encoder) -> None:
        self.model = model
        self._preparation = preparation
        self._encoder = encoder

    def of(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text`, which holds no surrogates, in code points: int64 ``(n, 2)``."""
        rows: list[NDArray[np.int64]] = [np.zeros((0, 2), np.int64)]
        track = not self._preparation.transparent
        for part, span in self._preparation.located(text, track=track):
            if isinstance(part, AddedToken):
                rows.append(np.array([span], np.int64))
            elif part.text:
                rows.append(self._stretch(part))
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
        padded = np.frombuffer(data + bytes(PADDING), np.uint8)
        batch = self._encoder.encode_pretokens(padded, pretokens)
        begins = (padded[: len(data) + 1] & 0xC0) != 0x80  # the end begins one more
        characters = np.zeros(len(begins) + 1, np.int64)
        np.cumsum(begins, out=characters[1:])
        spans = np.empty((len(batch.ids), 2), np.int64)
        lengths = self._lengths(data, batch, pretokens)
        _locate(lengths, batch.offsets, np.ascontiguousarray(pretokens[:, 0]), characters, spans)
        if origin is None or not len(spans):
            return spans
        table = np.array([*origin, (origin[-1][1], origin[-1][1])], np.int64).reshape(-1, 2)
        first, last = spans[:, 0], spans[:, 1]
        return np.stack([table[first, 0], table[np.maximum(last - 1, first), 1]], axis=1)

    def _lengths(self, data: bytes, batch: TokenBatch, pretokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many bytes each token stands for, where each document of `batch` is one pre-token."""
        lengths: NDArray[np.int64] = self._consumed[batch.ids]
        if not (lengths < 0).any():
            return lengths
        parts = [[symbol.n_bytes for symbol in segment(self.model, data[a:b])] for a, b in pretokens.tolist()]
        return np.array([n_bytes for part in parts for n_bytes in part], np.int64)

    @cached_property
    def _consumed(self) -> NDArray[np.int64]:
        """How many bytes of a pre-token each token stands for; -1 for the unknown token, which varies."""
        model = self.model
        lengths = np.array([len(token) for token in model.vocabulary], np.int64)
        if model.level == "char":
            for index, token in enumerate(model.vocabulary):
                lengths[index] = self._bytes_of_text(token)
        if model.unk is not None:
            lengths[model.unk] = -1
        return lengths

    def _bytes_of_text(self, token: bytes) -> int:
        model = self.model
        prefix, suffix = model.continuing_prefix.encode(), model.end_of_word.encode()
        if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
            return 1
        size = len(token)
        if prefix and token.startswith(prefix) and token != prefix:
            size -= len(prefix)
        if suffix and token.endswith(suffix) and token != suffix:
            size -= len(suffix)
        return size
