"""The family `bundled`: the corpora that come with tokbench, each a folder with its card `dataset.toml`."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from tokbench.corpora.dataset import FileDataset, Format
from tokbench.corpora.jsonl import JsonLines
from tokbench.corpora.naming import choose
from tokbench.corpora.parallel import AlignedLines, ParallelDataset
from tokbench.corpora.plain import LineFormat, WholeFileFormat
from tokbench.corpora.records import Fields
from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, UnknownNameError
from tokbench.spec import Spec
from tokbench.tokenizer import LoadContext

CARD = "dataset.toml"

_READERS: Mapping[str, Format] = {
    "lines": LineFormat("line"),
    "paragraphs": LineFormat("paragraph"),
    "files": WholeFileFormat(),
    "jsonl": JsonLines(Fields()),
}


def datasets_folder() -> Path:
    """Where the bundled corpora are: inside the installed package, or in the checkout."""
    installed = Path(str(resources.files("tokbench"))) / "_datasets"
    checkout = Path(__file__).parents[2] / "datasets"
    for folder in (installed, checkout):
        if any(folder.glob(f"*/{CARD}")):
            return folder
    raise CorpusError(f"no bundled corpora in {installed} nor in {checkout}: install tokbench anew")


@dataclass(frozen=True, slots=True)
class CardFile:
    """A file of a bundled corpus, as its card lists it: path inside the folder, language, sizes, SHA-256."""

    path: str
    language: str
    documents: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Card:
    """What a `dataset.toml` says. `reader` is lines, paragraphs, files, jsonl or aligned."""

    name: str
    folder: Path
    title: str
    summary: str
    licence: str
    made: str
    reader: str
    kind: str
    files: tuple[CardFile, ...]

    @property
    def languages(self) -> dict[str, list[str]]:
        """The absolute paths of the files of each language, sorted."""
        listed: dict[str, list[str]] = {}
        for file in self.files:
            listed.setdefault(file.language, []).append(str(self.folder / file.path))
        return {language: sorted(paths) for language, paths in sorted(listed.items())}

    def about(self, languages: Sequence[str]) -> Mapping[str, Any]:
        """What the manifest says of the corpus."""
        sums = {file.path: file.sha256 for file in self.files if file.language in languages}
        return {"title": self.title, "licence": self.licence, "origin": self.made, "files": sums}


def bundled_names() -> list[str]:
    """The names of the bundled corpora.

    Example:
        >>> bundled_names()
        ['code', 'parallel', 'prose', 'tricky']
    """
    return sorted(card.parent.name for card in datasets_folder().glob(f"*/{CARD}"))


def read_card(name: str) -> Card:
    """The card of a bundled corpus; raises `UnknownNameError` for a name there is not."""
    if name not in (known := bundled_names()):
        raise UnknownNameError.of("bundled corpus", name, known)
    folder = datasets_folder() / name
    table = tomllib.loads((folder / CARD).read_text("utf-8"))
    keys = ("title", "summary", "licence", "made", "reader", "kind")
    files = tuple(CardFile(path=path, **entry) for path, entry in sorted(table["files"].items()))
    return Card(name, folder, **{key: table[key] for key in keys}, files=files)


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``bundled:NAME``."""
    card = read_card(spec.variant or "")
    languages = choose(card.languages, spec.get("languages"), where=str(spec))
    files = {language: card.languages[language] for language in languages}
    about = card.about(languages)
    if card.reader == "aligned":
        single = {language: paths[0] for language, paths in files.items()}
        return ParallelDataset(str(spec), single, AlignedLines(), about=about)
    return FileDataset(str(spec), files, _READERS[card.reader], kind=card.kind, about=about)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as cards state it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
