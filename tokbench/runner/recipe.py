"""Recipes, from which each process builds tokenizers and datasets itself: the objects never cross processes.

A worker keeps the last tokenizer that it loaded (`loaded`), and every dataset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tokbench.corpus import Dataset
from tokbench.errors import TokbenchError, TokenizerError
from tokbench.inspection.facts import file_sha256
from tokbench.registry import Registry, registry_of
from tokbench.spec import LoadContext, Spec
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus
from tokbench.wording import writable
from tokbench.workers.memory import give_back


def key_of(spec: Spec) -> str:
    """The canonical spec as results name it, as text that every file format can hold."""
    return writable(str(spec))


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build one tokenizer.

    `key` is the canonical spec, which names its results; `spec` is the one to load, that of the trained file if
    the tokenizer was trained in the run. `fingerprint` covers files, options, library versions and plugin code;
    `files` are the paths of those files with their SHA-256.
    """

    key: str
    spec: Spec
    context: LoadContext
    fingerprint: str
    files: tuple[tuple[str, str], ...] = ()

    def load(self) -> Tokenizer:
        """The tokenizer, built in this process; `check_files` checks that its files have the fingerprint."""
        return registry_of(self.context).load(replace(self.spec, asked_as=self.key))

    def check_files(self) -> None:
        """Raise `TokenizerError` if a file has changed since its fingerprint was computed.

        Called after `load`, so that the files that were read are those that were hashed.
        """
        for name, digest in self.files:
            path = Path(name)
            if not path.is_file() or file_sha256(path) != digest:
                raise TokenizerError(f"{self.key}: {path} has changed since the run began; run it again")


_held: dict[str, Tokenizer | TokbenchError] = {}


def loaded(recipe: Recipe) -> Tokenizer:
    """The tokenizer of a recipe; the last one is kept, or the error that it raised."""
    name = recipe.key + recipe.fingerprint
    if name not in _held:
        let_go()  # one at a time: some vocabularies take 100 MB
        try:
            _held[name] = recipe.load()
            recipe.check_files()
        except TokbenchError as error:
            _held[name] = error
    found = _held[name]
    if isinstance(found, TokbenchError):
        raise found
    return found


def let_go() -> None:
    """Forget the loaded tokenizer and free its memory."""
    if _held:
        _held.clear()
        give_back()


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """How to open one dataset; `key` is its canonical spec."""

    key: str
    spec: Spec
    context: LoadContext

    @classmethod
    def of(cls, registry: Registry, spec: Spec) -> DatasetRecipe:
        """The recipe of a dataset that a registry offers."""
        return cls(key_of(spec), spec, registry.context)

    def load(self) -> Dataset:
        """The dataset, opened in this process (once per process)."""
        return dataset_of(self)


@dataclass(frozen=True)
class TrainingRecipe:
    """How to open the text to train on: one dataset, or several one after another."""

    parts: tuple[DatasetRecipe, ...]

    @property
    def key(self) -> str:
        """The canonical specs, joined by " + "."""
        return " + ".join(part.key for part in self.parts)

    def load(self) -> TrainingCorpus:
        """All languages of all datasets, opened in this process."""
        return TrainingCorpus.of(*(part.load() for part in self.parts))


@lru_cache(maxsize=64)
def dataset_of(recipe: DatasetRecipe) -> Dataset:
    """The dataset of a recipe, opened once in this process."""
    return registry_of(recipe.context).dataset(recipe.spec)
