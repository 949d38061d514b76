"""A tokenizer that calls os._exit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "exits"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        os._exit(3)

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="exits", summary="at fault", load=lambda spec, context: Faulty())]
