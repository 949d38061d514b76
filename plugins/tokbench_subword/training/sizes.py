"""Checks of vocabulary sizes, and of the least values of other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import Level

MOST = 2**31 - 1
"""Ids are int32."""


def check_size(family: str, vocab_size: int) -> None:
    """Raise `TokenizerError` for a vocabulary size above the range of ids."""
    if vocab_size > MOST:
        raise TokenizerError(
            f"{family}: vocab_size={vocab_size} is too large: ids are numbers of 32 bits, to {MOST:,}"
        )


def check_room(
    vocab_size: int, n_special: int, n_tokens: int, level: Level, option: str = "vocab_size"
) -> None:
    """Raise `TokenizerError` if a size leaves no room for the special tokens and the first symbols."""
    if vocab_size < n_special + n_tokens:
        special = f"{n_special} special tokens and " if n_special else ""
        raise TokenizerError(
            f"{option}={vocab_size} is less than the {special}{n_tokens} "
            f"{'bytes' if level == 'byte' else 'characters'} that every token is made of; "
            f"ask for at least {n_special + n_tokens}"
        )


def check_least(family: str, options: Mapping[str, Any], name: str, least: float) -> None:
    """Raise `TokenizerError` for an option that is set below its least value."""
    if options[name] is not None and options[name] < least:
        raise TokenizerError(f"{family}: {name} must be at least {least:,}; it is {options[name]}")
