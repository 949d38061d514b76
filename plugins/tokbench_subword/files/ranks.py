"""`.tiktoken` files: one token and its rank a line, the token in base64."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench_subword.files.opening import read_bytes

_EMPTY = b"="
"""How an empty token is written, as one of Whisper's files has it."""


def read_ranks(path: str | os.PathLike[str]) -> dict[bytes, int]:
    """The tokens and ranks of a file; raises `TokenizerError` naming the line that is wrong.

    An empty token, which no text gives, keeps its rank.
    """
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        if not line:
            continue
        try:
            text, rank_text = line.split()
            token = b"" if text == _EMPTY else base64.b64decode(text, validate=True)
            rank = int(rank_text)
        except (ValueError, binascii.Error) as error:
            raise TokenizerError(
                f"{path}, line {number}: expected a token in base64 and its rank, found {line[:60]!r}"
            ) from error
        if token in ranks or rank in taken or rank < 0:
            raise TokenizerError(
                f"{path}, line {number}: token or rank is negative or given twice: {line[:60]!r}"
            )
        ranks[token] = rank
        taken.add(rank)
    if not ranks:
        raise TokenizerError(f"{path} holds no tokens")
    return ranks


def write_ranks(ranks: Mapping[bytes, int], path: str | os.PathLike[str]) -> None:
    """Write tokens and ranks, in the order of ranks."""
    lines = (
        b"%s %d\n" % (base64.b64encode(token) or _EMPTY, rank)
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )
    Path(path).write_bytes(b"".join(lines))
