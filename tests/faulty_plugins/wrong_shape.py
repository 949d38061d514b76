"""A tokenizer that returns a nested list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "wrong_shape"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        return [list(text.encode())]  # type: ignore[list-item]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [
        tokbench.TokenizerFamily(name="wrong_shape", summary="at fault", load=lambda spec, context: Faulty())
    ]
