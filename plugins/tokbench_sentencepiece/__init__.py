"""`sentencepiece`: any `.model` file and the trainer, both by the library itself."""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """The family `sentencepiece`."""
    from tokbench_sentencepiece.family import SENTENCEPIECE

    return [SENTENCEPIECE]
