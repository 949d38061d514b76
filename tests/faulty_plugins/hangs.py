"""A tokenizer that never comes back; where it begins to hang, it makes the file that HANGS_SINCE names."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import tokbench


class Faulty:
    name = "hangs"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        if "trigger" not in text:
            return list(text.encode())
        if mark := os.environ.get("HANGS_SINCE"):
            Path(mark).touch()
        while True:
            time.sleep(0.05)

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="hangs", summary="at fault", load=lambda spec, context: Faulty())]
