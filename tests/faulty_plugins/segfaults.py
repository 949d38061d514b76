"""A tokenizer that reads where there is nothing."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "segfaults"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        ctypes.string_at(0)
        return []

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="segfaults", summary="at fault", load=lambda spec, context: Faulty())]
