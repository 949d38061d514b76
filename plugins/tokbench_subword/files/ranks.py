"""`.tiktoken` files: one token and its rank a line, the token in base64."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench_subword.files.opening import read_bytes

_LINE = re.compile(rb"[^\r\n]+")
_WRONG_RANK = "token or rank is negative or given twice: "
_EMPTY = b"="
"""How an empty token is written, as one of Whisper's files has it."""


def read_ranks(path: str | os.PathLike[str]) -> dict[bytes, int]:
    """The tokens and ranks of a file; raises `TokenizerError` naming a line that is wrong.

    An empty token, which no text gives, keeps its rank.
    """
    data = read_bytes(path)
    ranks: dict[bytes, int] = {}

    def wrong(line: re.Match[bytes], what: str) -> TokenizerError:
        number = len(data[: line.end()].splitlines())
        return TokenizerError(f"{path}, line {number}: {what}{line[0][:60]!r}")

    for line in _LINE.finditer(data):
        try:
            text, rank_text = line[0].split()
            token = b"" if text == _EMPTY else base64.b64decode(text, validate=True)
            rank = int(rank_text)
        except (ValueError, binascii.Error) as error:
            raise wrong(line, "expected a token in base64 and its rank, found ") from error
        if token in ranks or rank < 0:
            raise wrong(line, _WRONG_RANK)
        ranks[token] = rank
    if not ranks:
        raise TokenizerError(f"{path} holds no tokens")
    if len(set(ranks.values())) < len(ranks):
        taken: set[int] = set()
        for line, rank in zip(_LINE.finditer(data), ranks.values(), strict=True):
            if rank in taken:
                raise wrong(line, _WRONG_RANK)
            taken.add(rank)
    return ranks


def write_ranks(ranks: Mapping[bytes, int], path: str | os.PathLike[str]) -> None:
    """Write tokens and ranks, in the order of ranks."""
    lines = (
        b"%s %d\n" % (base64.b64encode(token) or _EMPTY, rank)
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )
    Path(path).write_bytes(b"".join(lines))
