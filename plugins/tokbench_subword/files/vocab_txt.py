"""BERT's `vocab.txt`: one token a line, in UTF-8, the line number its id."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_text
from tokbench_subword.pipeline.added_tokens import SPACE


def read_vocabulary(path: str | os.PathLike[str]) -> dict[str, int]:
    """Map each token to its id. As in `tokenizers`, white space at the end of a line is not part of the token,
    and if a token is listed twice, the last line counts.

    Raises `TokenizerError` for a file that cannot be read, is empty or is not UTF-8.
    """
    lines = read_text(path).removesuffix("\n").split("\n")
    vocabulary = {line.rstrip(SPACE): index for index, line in enumerate(lines)}
    if not any(vocabulary):
        raise TokenizerError(f"{path}: no tokens in it; a vocab.txt has one on each line")
    return vocabulary


def write_vocabulary(tokens: Sequence[str | None], path: str | os.PathLike[str]) -> None:
    """Write the token of each id; raises `TokenizerError` for a token that would be read back differently."""
    lines = []
    for index, token in enumerate(tokens):
        if token is None:
            raise TokenizerError(
                f"vocab.txt has an id for every line, and no token has the id {index}; save a .json instead"
            )
        wrong = "readers take a file that contains NUL for a damaged one" if "\0" in token else ""
        if token != token.rstrip(SPACE) or "\n" in token:
            wrong = "white space at its end would be lost"
        if wrong:
            raise TokenizerError(
                f"the token {token!r} cannot be a line of vocab.txt: {wrong}; save a .json instead"
            )
        lines.append(f"{token}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")
