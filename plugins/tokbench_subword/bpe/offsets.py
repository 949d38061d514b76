"""Where the tokens of a text stand in it: spans in code points, through normalizer and pre-tokenizer.

Most texts come to the model character for character, perhaps with something before them: a pattern cuts them,
and normalizing changes nothing or puts one character in the place of one. The tokens of such a text stand for
its bytes one after the other, so that one walk over both finds the spans, for many texts in one call. All other
texts, with added tokens or characters that normalizing joins, take their spans from `Stretch.origin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.preparation import Preparation
from tokbench_subword.kernels.compiling import announce, kernel
from tokbench_subword.kernels.pointers import PADDING
from tokbench_subword.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.pipeline.tokenizer_json import steps_of

_ALL_OR_NOTHING = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}
"""Normalizers that may join and part characters, but none of a text that comes out as it went in."""


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
        encoded = [text.encode() for text in ready]
        starts = np.cumsum([0, *map(len, encoded)])
        data = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
        ahead = np.array([len(a) - len(b) for a, b in zip(ready, texts, strict=True)], np.int64)
        batch = self._encoder.encode_batch(ready)
        spans, walked = np.empty((len(batch.ids), 2), np.int64), np.zeros(len(texts), np.bool_)
        _walk(batch.ids, batch.offsets, self._consumed, data, starts, ahead, spans, walked)
        walked &= [text is not None for text in found]
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
        """How many bytes of a pre-token each token stands for; -1 where that varies.

        It does for the unknown token, where a pre-token may be a token as it is written, affixes and all, and
        where a merge makes what a character with its affix is, too.
        """
        model = self.model
        lengths = [len(token) for token in model.vocabulary]
        if model.level == "char":
            for index, token in enumerate(model.vocabulary):
                size = self._bytes_of_text(token)
                lengths[index] = -1 if model.whole_tokens and size != len(token) else size
        if model.unk is not None:
            lengths[model.unk] = -1
        for left, right, result in model.merges.tolist() if model.level == "char" else []:
            if lengths[left] < 0 or lengths[right] < 0 or lengths[left] + lengths[right] != lengths[result]:
                lengths[result] = -1
        return np.array(lengths, np.int64)

    def _bytes_of_text(self, token: bytes) -> int:
        model = self.model
        prefix, suffix = model.continuing_prefix.encode(), model.end_of_word.encode()
        if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
            return 1
        text = token.removeprefix(prefix) or token
        return len(text.removesuffix(suffix) or text)
