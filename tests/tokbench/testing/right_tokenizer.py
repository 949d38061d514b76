"""A right tokenizer with every capability."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import Step


class Right:
    """Bytes, with every capability."""

    name = "right"
    vocab_size = 257
    lossless = True
    decode_joins_bytes = True
    special_ids = frozenset({256})

    def encode(self, text: str) -> Any:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(int(token) for token in ids).decode("utf-8", "replace")

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        return TokenBatch.of(self.encode(text) for text in texts)

    def encode_utf8(self, data: Any, offsets: Any) -> TokenBatch:
        cuts = itertools.pairwise(offsets.tolist())
        return self.encode_batch([data[start:end].tobytes().decode() for start, end in cuts])

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        return [self.decode(ids) for ids in batch.to_lists()]

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id]) if token_id < 256 else b""

    def offsets(self, text: str) -> Any:
        spans = [(place, place + 1) for place, char in enumerate(text) for _ in char.encode()]
        return np.array(spans, np.int64).reshape(-1, 2)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        return self.encode(text)

    def trace(self, text: str) -> list[Step]:
        return [Step("bytes", tuple(bytes([byte]) for byte in text.encode()))]
