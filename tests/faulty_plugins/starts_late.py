"""A tokenizer whose first batch takes a while, as where it imports a library or starts threads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "starts-late"
    vocab_size = 256
    started = False

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())

    def encode_batch(self, texts: Sequence[str]) -> tokbench.TokenBatch:
        if not self.started:
            time.sleep(0.2)
            self.started = True
        return tokbench.TokenBatch.of([list(text.encode()) for text in texts])

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="starts-late", summary="late", load=lambda spec, context: Faulty())]
