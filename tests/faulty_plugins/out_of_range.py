"""A tokenizer that returns ids beyond its vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "out_of_range"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        return [999]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [
        tokbench.TokenizerFamily(name="out_of_range", summary="at fault", load=lambda spec, context: Faulty())
    ]
