"""A tokenizer that calls sys.exit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "politely_exits"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        sys.exit("enough")

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [
        tokbench.TokenizerFamily(name="politely_exits", summary="at fault", load=lambda spec, context: Faulty())
    ]
