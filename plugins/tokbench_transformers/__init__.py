"""`transformers`: tokenizers of the Hugging Face hub, of folders and `tokenizer.json` files; trainers.

A `tokenizer.json` is opened with `tokenizers`. The classes of `transformers` are used if there is none, or on
request.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl
from tokbench_transformers.aliases import ALIASES


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """The family `transformers`."""
    from tokbench_transformers.family import TRANSFORMERS

    return [TRANSFORMERS]


@hookimpl
def tokbench_aliases() -> Iterable[tuple[str, str]]:
    """Names of open models."""
    return ALIASES.items()
