"""The file endings that select the format in which a tokenizer is written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokbench.errors import TokenizerError

FOLDER = ""
"""The ending of a path that has none: it names a folder."""

BPE = (".json", ".tiktoken", ".gguf", FOLDER)
WORDPIECE = (".json", ".txt")
UNIGRAM = (".model", ".json", ".gguf")


def is_tekken(path: Path) -> bool:
    """Whether a file name selects Tekken's format, which is for BPE."""
    return path.suffix == ".json" and "tekken" in path.name


def check_ending(name: str, path: Path, endings: Iterable[str]) -> None:
    """Raise `TokenizerError` if the tokenizer `name` has no format for the ending of `path`.

    Example:
        >>> check_ending("bpe:a.json", Path("b.json"), [".json", ".tiktoken"])
    """
    known = list(endings)
    if path.suffix not in known or is_tekken(path):
        choices = " or ".join("a folder" if ending == FOLDER else f"FILE{ending}" for ending in known)
        theirs = "that is Tekken's, which is BPE; " if is_tekken(path) else ""
        raise TokenizerError(f"{name} cannot be written as {path.name!r}; {theirs}name {choices}")
