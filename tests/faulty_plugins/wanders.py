"""A tokenizer that changes the working directory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "wanders"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        os.chdir("/")
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="wanders", summary="at fault", load=lambda spec, context: Faulty())]
