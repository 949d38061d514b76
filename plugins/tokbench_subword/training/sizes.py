"""How large a vocabulary can be asked for, and how small other numbers of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokbench.errors import TokenizerError

MOST = 2**31 - 1
"""Ids are int32."""


def check_size(family: str, vocab_size: int) -> None:
    """Raise `TokenizerError` for a vocabulary that ids cannot number."""
    if vocab_size > MOST:
        raise TokenizerError(
            f"{family}: vocab_size={vocab_size} is too large: ids are numbers of 32 bits, to {MOST:,}"
        )


def check_least(family: str, options: Mapping[str, Any], name: str, least: float) -> None:
    """Raise `TokenizerError` for an option that is set below its least value."""
    if options[name] is not None and options[name] < least:
        raise TokenizerError(f"{family}: {name} must be at least {least:,}; it is {options[name]}")
