"""Files written for a dataset, and the texts of what is read of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokbench.corpus import Document


def texts(documents: Iterable[Document]) -> list[str]:
    return [document.text for document in documents]


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
