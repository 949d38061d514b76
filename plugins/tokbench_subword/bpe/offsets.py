"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tokbench.tokenizer import TokenBatch
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.patterns import byte_positions
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.preparation import Preparation
from tokbench_subword.kernels.pointers import PADDING
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.stretch import Stretch


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
        positions = byte_positions(data)
        pattern = self._preparation.pattern
        if pattern is not None:
            spans = pattern.byte_spans(stretch.text, data)
            origin = stretch.origin
        else:
            pieces = list(self._preparation.pretokens(stretch))
            data = b"".join(piece.text.encode() for piece in pieces)
            positions = byte_positions(data)
            ends = np.cumsum([0, *(len(piece.text.encode()) for piece in pieces)])
            spans = np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int64)
            origin = None if stretch.origin is None else [one for piece in pieces for one in piece.origin or []]
        if not len(spans):
            return np.zeros((0, 2), np.int64)
        padded = np.frombuffer(data + bytes(PADDING), np.uint8)
        batch = self._encoder.encode_spans(padded, [span.reshape(1, 2) for span in spans])
        starts, ends = self._token_spans(data, batch, spans)
        first = np.searchsorted(positions, starts, side="right") - 1
        last = np.maximum(np.searchsorted(positions, ends, side="left"), first)
        if origin is None:
            return np.stack([first, last], axis=1)
        table = np.array([*origin, (origin[-1][1], origin[-1][1])], np.int64).reshape(-1, 2)
        return np.stack([table[first, 0], table[np.maximum(last - 1, first), 1]], axis=1)

    def _token_spans(
        self, data: bytes, batch: TokenBatch, spans: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and last byte of each token, where each document of `batch` is one pre-token."""
        lengths = self._consumed[batch.ids]
        if (lengths < 0).any():
            lengths = np.concatenate(
                [[s.n_bytes for s in segment(self.model, data[a:b])] for a, b in spans.tolist()] or [[]]
            ).astype(np.int64)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        counts = batch.lengths()
        used = np.concatenate([[0], ends])[batch.offsets[:-1]]
        shift = np.repeat(spans[:, 0] - used, counts)
        return starts + shift, ends + shift

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
