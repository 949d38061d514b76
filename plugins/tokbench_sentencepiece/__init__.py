"""`sentencepiece`: any `.model` file, and its trainer, exactly as the library gives them."""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """The family `sentencepiece`."""
    from tokbench_sentencepiece.family import SENTENCEPIECE

    return [SENTENCEPIECE]
