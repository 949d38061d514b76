"""`tiktoken`: OpenAI's byte-level BPE, with exactly the ids of its library.

It opens every encoding that tiktoken or one of its plugins registers, by encoding or model name, and
`.tiktoken` files.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl
from tokbench_tiktoken.aliases import ALIASES, dated


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """The family `tiktoken`."""
    from tokbench_tiktoken.family import TIKTOKEN

    return [TIKTOKEN]


@hookimpl
def tokbench_aliases() -> Iterable[tuple[str, str]]:
    """Names of OpenAI's models."""
    return ALIASES.items()


@hookimpl
def tokbench_resolve_alias(name: str) -> str | None:
    """Dated names such as ``gpt-4o-2024-05-13``."""
    return dated(name)
