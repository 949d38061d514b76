"""Recipes: all that a process needs to build a registry, a tokenizer or a dataset for itself.

Objects never cross processes; recipes do. That of a tokenizer has its fingerprint with it, which covers all
that its ids depend on (`tokbench.runner.fingerprint`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tokbench.corpus import Dataset, TrainingCorpus
from tokbench.errors import TokenizerError
from tokbench.family import LoadContext
from tokbench.registry import PluginChoice, Registry, registry_of
from tokbench.runner import fingerprint
from tokbench.spec import Spec
from tokbench.tokenizer import Tokenizer
from tokbench.wording import writable


def key_of(spec: Spec) -> str:
    """The canonical spec as results name it: text that any file takes, whatever a path in it is made of."""
    return writable(str(spec))


@dataclass(frozen=True, slots=True)
class RegistryRecipe:
    """How to find what plugins offer: which of them are loaded, and what the environment and the user allow."""

    plugins: PluginChoice
    context: LoadContext

    @classmethod
    def of(cls, registry: Registry) -> RegistryRecipe:
        """The recipe of a registry that there is."""
        return cls(registry.choice, registry.context)

    def load(self) -> Registry:
        """The registry, built once in each process; in the coordinator, that of its run."""
        known = _registries.get(self)
        if known is None:
            known = _registries[self] = registry_of(self.plugins, self.context)
        return known


_registries: dict[RegistryRecipe, Registry] = {}


def adopt(registry: Registry) -> None:
    """Make a registry that of this process: a run begins, and what an earlier one knew is forgotten."""
    _registries.clear()
    _registries[RegistryRecipe.of(registry)] = registry
    _dataset.cache_clear()
    fingerprint.forget()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build one tokenizer.

    `key` is the canonical spec, under which results stand; `spec` is what is loaded, which for a tokenizer
    trained here is the trained file. `fingerprint` covers files, options, library versions and plugin code;
    `files` are the paths of those files with their SHA-256.
    """

    key: str
    spec: Spec
    registry: RegistryRecipe
    fingerprint: str
    files: tuple[tuple[str, str], ...] = ()

    def load(self) -> Tokenizer:
        """The tokenizer, built in this process; `check_files` says whether it is that of the fingerprint."""
        return self.registry.load().load(self.spec)

    def check_files(self) -> None:
        """Raise `TokenizerError` where a file is not what it was when its fingerprint was taken.

        Called after `load`, so that what was read is what was hashed.
        """
        for name, digest in self.files:
            path = Path(name)
            if not path.is_file() or fingerprint.file_sha256(path) != digest:
                raise TokenizerError(f"{self.key}: {path} has changed since the run began; run it again")


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """How to open one dataset; `key` is its canonical spec."""

    key: str
    spec: Spec
    registry: RegistryRecipe

    def load(self) -> Dataset:
        """The dataset, opened in this process (once per process)."""
        return _dataset(self)


@dataclass(frozen=True)
class TrainingRecipe:
    """How to open the text to train on: one dataset, or several in a row."""

    parts: tuple[DatasetRecipe, ...]

    @property
    def key(self) -> str:
        """The canonical specs, joined by " + "."""
        return " + ".join(part.key for part in self.parts)

    def load(self) -> TrainingCorpus:
        """All languages of all datasets, opened in this process."""
        opened = [part.load() for part in self.parts]
        return TrainingCorpus.joined([TrainingCorpus(dataset, tuple(dataset.languages)) for dataset in opened])

    @property
    def registry(self) -> RegistryRecipe:
        """The registry that its parts are of."""
        return self.parts[0].registry


@lru_cache(maxsize=64)
def _dataset(recipe: DatasetRecipe) -> Dataset:
    return recipe.registry.load().dataset(recipe.spec)
