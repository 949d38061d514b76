"""How large a vocabulary can be asked for."""

from __future__ import annotations

from tokbench.errors import TokenizerError

MOST = 2**31 - 1
"""Ids are int32."""


def check_size(family: str, vocab_size: int) -> None:
    """Raise `TokenizerError` for a vocabulary that ids cannot number."""
    if vocab_size > MOST:
        raise TokenizerError(
            f"{family}: vocab_size={vocab_size} is too large: ids are numbers of 32 bits, to {MOST:,}"
        )
