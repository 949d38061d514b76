"""Which endings name a format that a tokenizer can be written in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokbench.errors import TokenizerError

FOLDER = ""
"""The ending of a path without one, which names a folder."""

BPE = (".json", ".tiktoken", ".gguf", FOLDER)
WORDPIECE = (".json", ".txt")
UNIGRAM = (".model", ".json", ".gguf")


def is_tekken(path: Path) -> bool:
    """Whether a file is to be Tekken's, which is BPE, by its name."""
    return path.suffix == ".json" and "tekken" in path.name


def check_ending(name: str, path: Path, endings: Iterable[str]) -> None:
    """Raise `TokenizerError` where the tokenizer `name` has no format for the ending of `path`.

    Example:
        >>> check_ending("bpe:a.json", Path("b.json"), [".json", ".tiktoken"])
    """
    known = list(endings)
    if path.suffix not in known or is_tekken(path):
        choices = " or ".join("a folder" if ending == FOLDER else f"FILE{ending}" for ending in known)
        theirs = "that is Tekken's, which is BPE; " if is_tekken(path) else ""
        raise TokenizerError(f"{name} cannot be written as {path.name!r}; {theirs}name {choices}")
