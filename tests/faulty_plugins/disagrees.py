"""A tokenizer whose batch call gives other ids than its single call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "disagrees"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())

    def encode_batch(self, texts: Sequence[str]) -> tokbench.TokenBatch:
        return tokbench.TokenBatch.of([list(text.encode())[::-1] for text in texts])

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="disagrees", summary="at fault", load=lambda spec, context: Faulty())]
