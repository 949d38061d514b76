"""Ids to text: the bytes of all tokens by one gather, where the decoder of the file comes down to joining them.

It does for models of bytes. It does for Llama's as well, whose decoder puts something in the place of some
characters of each token, makes bytes of ``<0x..>`` tokens, joins, and strips: what it makes of each token is
known beforehand. Only where such bytes are no UTF-8 does the decoder itself have to say what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench_subword.bpe.token_table import TokenTable
from tokbench_subword.kernels.compiling import kernel
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.tokenizer_json import Document, steps_of

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
Rows = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Bytes of all ids end to end, and where those of each begin."""


@kernel
def gather(blob, starts, ids, out):  # type: ignore[no-untyped-def]
    """Write the bytes of each id, ``blob[starts[id]:starts[id + 1]]``, one after the other; return how many."""
    o = 0
    for i in range(len(ids)):
        token = ids[i]
        for b in range(starts[token], starts[token + 1]):
            out[o] = blob[b]
            o += 1
    return o


class Decoder:
    """Decodes ids, all in range, by the decoder of a document; `joins_bytes` where that only joins bytes."""

    def __init__(self, tokens: TokenTable, document: Document, *, joins_bytes: bool) -> None:
        self._tokens = tokens
        self._decode = decoder_of(document.decoder)
        self._joins_bytes = joins_bytes
        self._steps = steps_of(document.decoder, "decoders")

    def text(self, ids: NDArray[np.int64]) -> str:
        """The text of some ids."""
        if self._rows is None:
            return self._step_by_step(ids)
        blob, starts = self._rows
        out = np.empty(int((starts[ids + 1] - starts[ids]).sum()), np.uint8)
        gather(blob, starts, ids, out)
        return self._finished(out.tobytes(), ids)

    def texts(self, batch: TokenBatch) -> list[str]:
        """The text of every document; the bytes of all of them are put together at once."""
        ids = batch.ids.astype(np.int64)
        bounds = list(pairwise(batch.offsets.tolist()))
        if self._rows is None:
            return [self._step_by_step(ids[start:end]) for start, end in bounds]
        blob, starts = self._rows
        limits = np.append(0, np.cumsum(starts[ids + 1] - starts[ids]))
        out = np.empty(int(limits[-1]), np.uint8)
        gather(blob, starts, ids, out)
        whole, cuts = out.tobytes(), limits[batch.offsets].tolist()
        return [
            self._finished(whole[cuts[document] : cuts[document + 1]], ids[start:end])
            for document, (start, end) in enumerate(bounds)
        ]

    def _finished(self, data: bytes, ids: NDArray[np.int64]) -> str:
        """The text of joined bytes, which are those of some ids."""
        if self._joins_bytes:
            return data.decode("utf-8", "replace")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self._step_by_step(ids)
        for strip in self._strips:
            (text,) = decoder_of(strip)([text])
        return text

    def _step_by_step(self, ids: NDArray[np.int64]) -> str:
        return "".join(self._decode([self._tokens.texts[index] for index in ids.tolist()]))

    @cached_property
    def _rows(self) -> Rows | None:
        """What is joined, or None where decoding is more than that."""
        if self._joins_bytes:
            return self._tokens.joined_bytes
        kinds = [str(step.get("type")) for step in self._steps]
        if "Fuse" not in kinds:
            return None
        fuse = kinds.index("Fuse")
        one_by_one = self._steps[:fuse]
        fallback = kinds[fuse - 1 : fuse] == ["ByteFallback"]
        replaced = kinds[: fuse - 1] if fallback else kinds[:fuse]
        if {*replaced} - {"Replace"} or {*kinds[fuse + 1 :]} - {"Strip"}:
            return None
        return _joined_rows(self._tokens.texts, one_by_one)

    @cached_property
    def _strips(self) -> Sequence[Mapping[str, Any]]:
        return [step for step in self._steps if step.get("type") == "Strip"]


def _joined_rows(texts: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> Rows | None:
    """The bytes of each token after steps that see one token at a time; None where some text has no UTF-8."""
    tokens = list(texts)
    data: list[bytes] = []
    for step in steps:
        if step["type"] == "Replace":
            tokens = decoder_of(step)(tokens)
    fallback = bool(steps) and steps[-1]["type"] == "ByteFallback"
    for token in tokens:
        match = _BYTE.match(token) if fallback else None
        try:
            data.append(bytes([int(match[1], 16)]) if match else token.encode())
        except UnicodeEncodeError:
            return None
    starts = np.zeros(len(data) + 1, np.int64)
    np.cumsum([len(one) for one in data], out=starts[1:])
    return np.frombuffer(b"".join(data), np.uint8), starts
