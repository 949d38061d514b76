"""BERT's `vocab.txt`: one token a line, in UTF-8, the line number its id."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench_subword.wordpiece.characters import WHITESPACE
from tokbench_subword.wordpiece.model import WordPieceModel

_SPACE = "".join(map(chr, sorted(WHITESPACE)))


def read_vocabulary(path: str | os.PathLike[str]) -> dict[str, int]:
    """Token to id. White space at the end of a line is no part of its token; of a token listed twice the last
    line counts (both as `tokenizers` reads it).

    Raises `TokenizerError` for a file that cannot be read, is empty or is not UTF-8.
    """
    data = read_text(path)
    lines = data.removesuffix("\n").split("\n")
    vocabulary = {line.rstrip(_SPACE): index for index, line in enumerate(lines)}
    if not any(vocabulary):
        raise TokenizerError(f"{path}: no tokens in it; a vocab.txt has one on each line")
    return vocabulary


def read_text(path: str | os.PathLike[str]) -> str:
    """A file's text, with errors that say what to do."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise TokenizerError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{path}: not UTF-8 at byte {error.start}; is it another kind of file?") from error


def write_vocabulary(path: str | os.PathLike[str], model: WordPieceModel) -> None:
    """Write `vocab.txt`; raises `TokenizerError` where reading it back would give another vocabulary."""
    tokens = model.tokens
    missing = next((index for index in range(model.size) if index not in tokens), None)
    if missing is not None:
        raise TokenizerError(
            f"vocab.txt has an id for every line, and no token has the id {missing}; save a .json instead"
        )
    lines = [tokens[index] for index in range(model.size)]
    lost = next((token for token in lines if token != token.rstrip(_SPACE) or "\n" in token), None)
    if lost is not None:
        raise TokenizerError(
            f"the token {lost!r} cannot be a line of vocab.txt: white space at its end would be lost; "
            "save a .json instead"
        )
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def duplicates(path: str | os.PathLike[str], vocabulary: Mapping[str, int]) -> int:
    """How many lines of the file name a token that a later line names again."""
    return read_text(path).removesuffix("\n").count("\n") + 1 - len(vocabulary)
