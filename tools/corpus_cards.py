"""Brings the tables of files in the cards of bundled corpora up to date: ``python tools/corpus_cards.py``."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

from tokbench.corpora.bundled import CARD, READERS, CardFile, datasets_folder
from tokbench.corpora.naming import code_language, text_language
from tokbench.corpus import Shard


def count_files(folder: Path, reader: str, kind: str) -> list[CardFile]:
    """The files of a corpus as they are on disk, sorted by path."""
    counted = []
    for path in sorted(folder.rglob("*")):
        if path.name == CARD or not path.is_file():
            continue
        data = path.read_bytes()
        language = code_language(str(path)) if kind == "code" else text_language(str(path))
        documents = sum(1 for _ in READERS[reader].documents(Shard(language, str(path))))
        name = path.relative_to(folder).as_posix()
        counted.append(CardFile(name, language, documents, len(data), hashlib.sha256(data).hexdigest()))
    return counted


def refresh(folder: Path) -> None:
    """Write the table of files of the card in `folder` anew; what stands above it stays."""
    card = folder / CARD
    head = card.read_text("utf-8").partition("\n[files]")[0].rstrip("\n")
    table = tomllib.loads(head)
    lines = [
        f'"{file.path}" = {{ language = "{file.language}", documents = {file.documents}, '
        f'bytes = {file.bytes}, sha256 = "{file.sha256}" }}'
        for file in count_files(folder, table["reader"], table["kind"])
    ]
    card.write_text("\n".join([head, "", "[files]", *lines, ""]), "utf-8", newline="\n")


if __name__ == "__main__":
    for found in sorted(datasets_folder().glob(f"*/{CARD}")):
        refresh(found.parent)
        print(f"{found}: refreshed")
