"""A tokenizer that prints to stdout, from Python and from below."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "talks"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        print("chatter" * 10)
        os.write(1, b"chatter from below")
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="talks", summary="at fault", load=lambda spec, context: Faulty())]
