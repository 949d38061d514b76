"""The family `bundled`: the corpora that come with tokbench, each a folder with its card.

A card, the file `dataset.toml`, says what a corpus is, how it was made, and the checksum of every file. Its
prose is written by hand; its table of files is brought up to date after an edit of the corpus with
``python tools/corpus_cards.py``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from tokbench.corpora.dataset import FileDataset, Format
from tokbench.corpora.jsonl import JsonLines
from tokbench.corpora.naming import choose
from tokbench.corpora.parallel import AlignedLines, ParallelDataset, aligned
from tokbench.corpora.records import Fields
from tokbench.corpora.text import LineFormat, WholeFileFormat
from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, SpecError, UnknownNameError
from tokbench.spec import LoadContext, Spec

CARD = "dataset.toml"

READERS: Mapping[str, Format] = {
    "aligned": AlignedLines(),
    "files": WholeFileFormat(),
    "jsonl": JsonLines(Fields()),
    "paragraphs": LineFormat("paragraph"),
}
"""How documents lie in a corpus's files, by the card's word for it."""


@dataclass(frozen=True, slots=True)
class CardFile:
    """A file of a bundled corpus: path inside the folder, language, counts, SHA-256."""

    path: str
    language: str
    documents: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Card:
    """What a `dataset.toml` says; `reader` is a key of `READERS`, `kind` is "text" or "code".

    `hard_cases` marks texts that were collected because they are hard: a sample of nothing, not to rank by.
    `caveat` is what to know wherever figures that compare its languages are shown.
    """

    name: str
    folder: Path
    title: str
    summary: str
    licence: str
    made: str
    reader: str
    kind: str
    files: tuple[CardFile, ...]
    hard_cases: bool = False
    caveat: str = ""

    @property
    def paths(self) -> dict[str, list[str]]:
        """The absolute paths of the files of each language, sorted."""
        listed: dict[str, list[str]] = {}
        for file in self.files:
            listed.setdefault(file.language, []).append(str(self.folder / file.path))
        return {language: sorted(paths) for language, paths in sorted(listed.items())}

    def about(self, languages: Sequence[str]) -> Mapping[str, Any]:
        """What the manifest says of the corpus."""
        sums = {file.path: file.sha256 for file in self.files if file.language in languages}
        told = {"title": self.title, "licence": self.licence, "origin": self.made, "files": sums}
        marks = {"hard_cases": self.hard_cases, "caveat": self.caveat}
        return {**told, **{name: mark for name, mark in marks.items() if mark}}


def datasets_folder() -> Path:
    """Where the bundled corpora are: inside the installed package, or in the checkout."""
    installed = Path(str(resources.files("tokbench"))) / "_datasets"
    checkout = Path(__file__).parents[2] / "datasets"
    for folder in (installed, checkout):
        if any(folder.glob(f"*/{CARD}")):
            return folder
    raise CorpusError(f"no bundled corpora in {installed} nor in {checkout}: install tokbench anew")


def bundled_names() -> list[str]:
    """The names of the bundled corpora.

    Example:
        >>> bundled_names()
        ['code', 'parallel', 'prose', 'tricky']
    """
    return sorted(card.parent.name for card in datasets_folder().glob(f"*/{CARD}"))


def read_card(name: str) -> Card:
    """The card of a bundled corpus; raises `UnknownNameError` for a name there is not.

    Example:
        >>> read_card("parallel").licence
        'Apache-2.0'
    """
    if name not in (known := bundled_names()):
        raise UnknownNameError.of("bundled corpus", name, known)
    folder = datasets_folder() / name
    table = tomllib.loads((folder / CARD).read_text("utf-8"))
    files = tuple(CardFile(path=path, **entry) for path, entry in sorted(table.pop("files", {}).items()))
    return Card(**table, name=name, folder=folder, files=files)


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``bundled:NAME``."""
    card = read_card(spec.variant or "")
    languages = choose(card.paths, spec.get("languages"), where=str(spec))
    files = {language: card.paths[language] for language in languages}
    about = card.about(languages)
    form = READERS[card.reader]
    if isinstance(form, AlignedLines):
        return ParallelDataset(str(spec), files, aligned(spec), about=about)
    if spec.get("lines"):
        raise SpecError(f"{spec}: lines=even and lines=odd are for parallel text; {card.name!r} is not")
    consecutive = isinstance(form, LineFormat)
    return FileDataset(str(spec), files, form, kind=card.kind, about=about, consecutive=consecutive)
