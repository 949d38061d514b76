"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer.

Most texts come to the model character for character, perhaps with something before them: a pattern cuts them,
and normalizing changes nothing or puts one character in the place of one. The tokens of such a text stand for
its bytes one after the other, so that one walk over both finds the spans, for many texts in one call. All other
texts, with added tokens or characters that normalizing joins, take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols, segment
from tokbench_subword.bpe.preparation import Preparation
from tokbench_subword.bpe.token_sizes import bytes_of_tokens, symbols_of_tokens
from tokbench_subword.files.tokenizer_json import steps_of
from tokbench_subword.pipeline.stretch import Stretch

_ALL_OR_NOTHING = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}
"""Normalizers that may join and part characters, but none of a text that comes out as it went in."""


@kernel
def _walk(ids, ends, consumed, data, starts, ahead, spans, walked):  # type: ignore[no-untyped-def]
    """Write the spans of the tokens of whole texts; ``walked[t]`` says whether those of text t could be found.

    Text t is ``data[starts[t]:starts[t + 1]]``, its tokens ``ids[ends[t]:ends[t + 1]]``, and each stands for
    ``consumed[id]`` bytes, or -1 where that varies. ``ahead[t]`` of its characters were put before it, and are
    taken for its first.
    """
    for t in range(len(starts) - 1):
        at, begun, known = starts[t], -ahead[t], True
        for token in range(ends[t], ends[t + 1]):
            length = consumed[ids[token]]
            known = known and length >= 0 and at + length <= starts[t + 1]
            if not known:
                break
            first = begun if (data[at] & 0xC0) != 0x80 else begun - 1
            for i in range(at, at + length):
                begun += (data[i] & 0xC0) != 0x80
            at += length
            spans[token, 0], spans[token, 1] = max(first, 0), max(begun, 1)
        walked[t] = known and at == starts[t + 1]


class Offsets:
    """The spans of tokens: a token takes as many bytes of its pre-token as it stands for."""

    def __init__(self, model: BpeModel, preparation: Preparation, encoder: Encoder) -> None:
        self.model = model
        self._preparation = preparation
        self._encoder = encoder

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of the tokens of many texts, ``(total, 2)``, and where those of each text begin and end."""
        announce(_walk)
        texts = [repaired(text) for text in texts]
        found = [self._in_place(text) for text in texts]
        ready = [text or "" for text in found]
        data, starts = utf8_of(ready)
        ahead = np.array([len(a) - len(b) for a, b in zip(ready, texts, strict=True)], np.int64)
        batch = self._encoder.encode_batch(ready)
        spans, walked = np.empty((len(batch.ids), 2), np.int64), np.zeros(len(texts), np.bool_)
        _walk(batch.ids, batch.offsets, self._consumed, data, starts, ahead, spans, walked)
        walked &= np.array([text is not None for text in found], np.bool_)
        if walked.all():
            return spans, batch.offsets
        limits = batch.offsets.tolist()
        every = [
            spans[limits[t] : limits[t + 1]] if walked[t] else self.of(text) for t, text in enumerate(texts)
        ]
        return np.concatenate([np.zeros((0, 2), np.int64), *every]), np.cumsum([0, *map(len, every)])

    def _in_place(self, text: str) -> str | None:
        """`text` as the model gets it, where that is character for character what it was; else None."""
        if self._preparation.pattern is None:
            return None
        normal = self._preparation.simple(text)
        if normal is None or self._keeps_places:
            return normal
        same = self._all_or_nothing and normal in (text, " " + text)
        return normal if same else None

    @cached_property
    def _steps(self) -> Sequence[Mapping[str, Any]]:
        return steps_of(self._preparation.document.normalizer, "normalizers")

    @cached_property
    def _keeps_places(self) -> bool:
        """Whether normalizing at most puts something before a text and one character in the place of one."""
        for step in self._steps:
            one = len(step.get("pattern", {}).get("String", "")) == len(step.get("content", "")) == 1
            if step["type"] != "Prepend" and not (step["type"] == "Replace" and one):
                return False
        return True

    @cached_property
    def _all_or_nothing(self) -> bool:
        return all(step["type"] in _ALL_OR_NOTHING for step in self._steps)

    def of(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text`, which holds no surrogates, in code points: int64 ``(n, 2)``."""
        rows: list[NDArray[np.int64]] = [np.zeros((0, 2), np.int64)]
        track = not self._preparation.transparent or self._preparation.pattern is None
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
