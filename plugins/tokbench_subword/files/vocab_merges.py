"""`vocab.json` with `merges.txt` (and `encoder.json` with `vocab.bpe`, their first names): read and written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_text
from tokbench_subword.files.tokenizer_json import parse

PARTNER = {
    "vocab.json": "merges.txt",
    "merges.txt": "vocab.json",
    "encoder.json": "vocab.bpe",
    "vocab.bpe": "encoder.json",
}
"""The names of the two files, each with the name of the other file."""

_VERSION = "#version: 0.2"


def read_token_ids(path: str | os.PathLike[str]) -> dict[str, int]:
    """The id of each token in a `vocab.json`; raises `TokenizerError` if the file contains anything else."""
    ids = parse(read_text(path), str(path))
    if not isinstance(ids, dict) or not all(type(index) is int and index >= 0 for index in ids.values()):
        raise TokenizerError(f"{path}: expected an object that gives each token an id, from 0 on")
    return ids


def read_merges(path: str | os.PathLike[str]) -> list[list[str]]:
    """The two tokens of each merge, best first; raises `TokenizerError` naming the line that is wrong."""
    pairs = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip("\r") or line.startswith("#version"):
            continue
        pair = line.rstrip("\r").split(" ")
        if len(pair) != 2:
            raise TokenizerError(f"{path}, line {number}: expected two tokens, found {line[:60]!r}")
        pairs.append(pair)
    return pairs


def write_vocab_merges(
    ids: Mapping[str, int], pairs: Iterable[tuple[str, str]], folder: str | os.PathLike[str]
) -> None:
    """Write `vocab.json` and `merges.txt` into a folder, which is created if it does not exist."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    ordered = dict(sorted(ids.items(), key=lambda item: item[1]))
    (target / "vocab.json").write_text(json.dumps(ordered, ensure_ascii=False), encoding="utf-8")
    lines = [_VERSION, *(f"{left} {right}" for left, right in pairs)]
    (target / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
