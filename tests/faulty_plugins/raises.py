"""A tokenizer that raises on some text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "raises"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        raise ValueError("no such merge")

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="raises", summary="at fault", load=lambda spec, context: Faulty())]
