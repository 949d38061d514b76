"""A training text kept aside as one file, where getting at it is slow and it is to be read many times.

Every trainer reads the text for itself, in a process of its own. A file of lines is as quick to read as any
copy; documents that must be parsed out of something (docstrings, tables, compressed files) are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokbench.corpus import Document, Shard, TrainingCorpus
from tokbench.results.atomic import replacing

LARGEST = 64_000_000
"""Bytes up to which a text is kept aside; larger ones are streamed from where they are."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A dataset of one file, a JSON string a line; otherwise as the dataset it was made from."""

    path: Path
    name: str
    languages: Sequence[str] = ("und",)
    parallel: bool = False

    def shards(self, language: str) -> Sequence[Shard]:
        """The one shard there is."""
        return [Shard(language, str(self.path), n_bytes=self.path.stat().st_size)]

    def read(self, shard: Shard) -> Iterator[Document]:
        """The documents, in the order in which they were put aside."""
        with self.path.open(encoding="utf-8") as lines:
            for line in lines:
                yield Document(json.loads(line))

    def digest(self, shard: Shard) -> str:
        """Not asked: what is trained is known by the digest of the original."""
        return str(self.path)


def spool(corpus: TrainingCorpus, path: Path) -> Path | None:
    """Put the text of `corpus` aside in `path`; None where it is too large to be worth it."""
    if corpus.n_bytes > LARGEST:
        return None
    with replacing(path) as aside, aside.open("w", encoding="utf-8") as lines:
        for text in corpus.texts():
            lines.write(json.dumps(text) + "\n")
    return path


def spooled(path: Path, name: str) -> TrainingCorpus:
    """The corpus in a file that `spool` wrote."""
    dataset = Spooled(path, name)
    return TrainingCorpus(dataset, tuple(dataset.languages))
