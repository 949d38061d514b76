"""Ids to text: the bytes of all tokens by one gather, where the decoder of the file comes down to joining them.

It does for models of bytes. It does for Llama's as well, whose decoder puts something in the place of some
characters of each token, makes bytes of ``<0x..>`` tokens, joins, and strips: what it makes of each token is
known beforehand. Only where such bytes are no UTF-8 does the decoder itself have to say what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import flat_ids, known_ids
from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import kernel
from tokbench.kernels.copies import cached_property
from tokbench.kernels.joining import list_decoder
from tokbench.kernels.pointers import PADDING, Bytes, Ints
from tokbench.kernels.text import end_to_end
from tokbench_subword.bpe.token_table import TokenLookup
from tokbench_subword.files.tokenizer_json import TokenizerJson, steps_of
from tokbench_subword.pipeline.decoders import decoder_of

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")


@kernel
def joined(blob: Bytes, starts: Ints, ids: Ints) -> tuple[Bytes, Ints] | None:
    """The bytes of ids end to end, ``blob[starts[id]:starts[id + 1]]`` each, and where each begins.

    None where some id is not in the vocabulary.
    """
    limits = np.empty(len(ids) + 1, np.int64)
    limits[0] = 0
    for i in range(len(ids)):
        token = ids[i]
        if token < 0 or token >= len(starts) - 1:
            return None
        limits[i + 1] = limits[i] + starts[token + 1] - starts[token]
    out = np.empty(limits[len(ids)], np.uint8)
    for i in range(len(ids)):
        begin = starts[ids[i]] - limits[i]
        for o in range(limits[i], limits[i + 1]):
            out[o] = blob[begin + o]
    return out, limits


class BpeDecoder:
    """Decodes ids by the decoder of a document; `joins_bytes` where that only joins bytes.

    `text` and `texts` raise `TokenizerError` for what is no id.
    """

    def __init__(self, tokens: TokenLookup, document: TokenizerJson, *, joins_bytes: bool) -> None:
        self._tokens = tokens
        self._decode = decoder_of(document.decoder)
        self._joins_bytes = joins_bytes
        self._steps = steps_of(document.decoder, "decoders")

    def text(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of some ids."""
        array = flat_ids(ids, name=self._tokens.name)
        if self._pieces is None:
            return self._step_by_step(array)
        return self._finished(self._joined(array)[0].tobytes(), array)

    def one_by_one(self) -> Callable[[Sequence[int] | NDArray[Any]], str]:
        """`text` as a function that takes a fraction of the time for a list."""
        return list_decoder(*self._rows, self.text) if self._joins_bytes else self.text

    def texts(self, batch: TokenBatch) -> list[str]:
        """The text of every document; the bytes of all of them are put together at once."""
        ids, bounds = batch.ids, list(pairwise(batch.offsets.tolist()))
        if self._pieces is None:
            return [self._step_by_step(ids[start:end]) for start, end in bounds]
        out, limits = self._joined(ids)
        whole, cuts = out.tobytes(), limits[batch.offsets].tolist()
        return [
            self._finished(whole[cuts[document] : cuts[document + 1]], ids[start:end])
            for document, (start, end) in enumerate(bounds)
        ]

    def _joined(self, ids: NDArray[Any]) -> tuple[Bytes, Ints]:
        found = joined(*self._rows, ids.astype(np.int64, copy=False))
        if found is None:
            known_ids(ids, len(self._rows[1]) - 1, name=self._tokens.name)  # says which is none
            raise AssertionError
        return found

    def _finished(self, data: bytes, ids: NDArray[Any]) -> str:
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

    def _step_by_step(self, ids: NDArray[Any]) -> str:
        texts = self._tokens.written_texts
        # An id that the vocabulary leaves out adds nothing, not even the space between tokens.
        known = known_ids(ids, len(texts), name=self._tokens.name)
        return "".join(self._decode([text for index in known if (text := texts[index])]))

    @cached_property
    def _pieces(self) -> list[bytes] | None:
        """The bytes of every id, to be joined; None where decoding is more than that."""
        if self._joins_bytes:
            return self._tokens.decoded_bytes
        kinds = [str(step.get("type")) for step in self._steps]
        if "Fuse" not in kinds:
            return None
        fuse = kinds.index("Fuse")
        one_by_one = self._steps[:fuse]
        fallback = kinds[fuse - 1 : fuse] == ["ByteFallback"]
        replaced = kinds[: fuse - 1] if fallback else kinds[:fuse]
        if {*replaced} - {"Replace"} or {*kinds[fuse + 1 :]} - {"Strip"}:
            return None
        return _decoded_one_by_one(self._tokens.written_texts, one_by_one)

    @cached_property
    def _rows(self) -> tuple[Bytes, Ints]:
        """Bytes of all ids end to end, with `PADDING` after them, and where those of each begin."""
        return end_to_end(self._pieces or [], PADDING)

    @cached_property
    def _strips(self) -> Sequence[Mapping[str, Any]]:
        return [step for step in self._steps if step.get("type") == "Strip"]


def _decoded_one_by_one(texts: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> list[bytes] | None:
    """The bytes of each token after steps that see one token at a time; None where some text has no UTF-8."""
    tokens = list(texts)
    for step in steps:
        if step["type"] == "Replace":
            tokens = decoder_of(step)(tokens)
    fallback = bool(steps) and steps[-1]["type"] == "ByteFallback"
    data: list[bytes] = []
    for token in tokens:
        match = _BYTE.match(token) if fallback else None
        try:
            data.append(bytes([int(match[1], 16)]) if match else token.encode())
        except UnicodeEncodeError:
            return None
    return data
