"""Special tokens in a training: they get the first ids, and no merge makes the text of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError

if TYPE_CHECKING:
    from tokbench_subword.bpe.model import Level


def first_ids(tokens: Sequence[str]) -> dict[str, int]:
    """The special tokens with the first ids; raises `TokenizerError` for an empty token."""
    special = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    if "" in special:
        raise TokenizerError("a special token must not be empty")
    return special


def never_spelled(special: Iterable[str], tokens: Sequence[bytes], level: Level) -> list[bytes]:
    """The bytes that no merge may make; raises `TokenizerError` if a special token equals a first symbol."""
    from tokbench_subword.pipeline.byte_alphabet import unspelled

    spellings = [(text, text.encode()) for text in special]
    if level == "byte":  # files spell tokens in the byte alphabet
        spellings += [(text, spelled) for text in special if (spelled := unspelled(text))]
    inside = next((text for text, data in spellings if data in tokens), None)
    if inside is not None:
        raise TokenizerError(
            f"the special token {inside!r} is one of the {'bytes' if level == 'byte' else 'characters'} that "
            "every token is made of, so it cannot have an id of its own; give it another text"
        )
    return [data for _, data in spellings]
