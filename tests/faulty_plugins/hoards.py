"""A tokenizer that allocates without bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Faulty:
    name = "hoards"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        held = []
        while True:
            held.append(bytearray(b"x") * 20_000_000)

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="hoards", summary="at fault", load=lambda spec, context: Faulty())]
