"""Texts with added tokens in them, normalized or cut by components: encoded in stretches, and put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.preparation import Preparation
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.stretch import Stretch


def encode_parts(preparation: Preparation, encoder: Encoder, texts: Sequence[str]) -> TokenBatch:
    """The ids of texts, the stretches between added tokens of all of them encoded in one call."""
    plan: list[list[int]] = []  # per text: ids of added tokens, and -1 for each stretch to be encoded
    stretches: list[Stretch] = []
    for text in texts:
        marks: list[int] = []
        for part in preparation.parts(repaired(text)):
            if isinstance(part, AddedToken):
                marks.append(part.id)
            else:
                marks.append(-1)
                stretches.append(part)
        plan.append(marks)
    return _woven(plan, _encode_stretches(preparation, encoder, stretches))


def _encode_stretches(preparation: Preparation, encoder: Encoder, stretches: Sequence[Stretch]) -> TokenBatch:
    """Each stretch as a document of a batch."""
    if preparation.pattern is not None:
        return encoder.encode_batch([stretch.text for stretch in stretches])
    pieces: list[bytes] = []
    counts: list[int] = []
    for stretch in stretches:
        before = len(pieces)
        pieces += [piece.text.encode() for piece in preparation.pretokens(stretch)]
        counts.append(len(pieces) - before)
    ends = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=ends[1:])
    spans = np.stack([ends[:-1], ends[1:]], axis=1)
    data = np.frombuffer(b"".join([*pieces, bytes(PADDING)]), np.uint8)
    return encoder.encode_spans(data, np.split(spans, np.cumsum(counts)[:-1]) if counts else [])


def _woven(plan: Sequence[Sequence[int]], encoded: TokenBatch) -> TokenBatch:
    """Documents put together from ids of added tokens and, for each -1, the next of the encoded stretches."""
    stretches = iter(encoded)
    documents = []
    for marks in plan:
        parts = [next(stretches) if mark < 0 else np.array([mark], np.int32) for mark in marks]
        documents.append(np.concatenate(parts) if parts else np.zeros(0, np.int32))
    return TokenBatch.of(documents)
