"""A tokenizer that returns text instead of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "wrong_type"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        return list(text)  # type: ignore[arg-type]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [
        tokbench.TokenizerFamily(name="wrong_type", summary="at fault", load=lambda spec, context: Faulty())
    ]
