"""Recipes: all that a process needs to build a tokenizer or a dataset for itself.

Objects never cross processes; recipes do, together with a fingerprint of everything the object depends on.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokbench.corpus import Dataset, TrainingCorpus
from tokbench.errors import TokenizerError
from tokbench.registry import PluginChoice, Registry, registry_of
from tokbench.spec import Spec
from tokbench.tokenizer import LoadContext, Tokenizer


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build one tokenizer.

    `key` is the canonical spec, under which results stand; `spec` is what is loaded, which for a tokenizer
    trained here is the trained file. `fingerprint` covers files, options, library versions and plugin code;
    `files` are the paths of those files with their SHA-256.
    """

    key: str
    spec: Spec
    plugins: PluginChoice
    context: LoadContext
    fingerprint: str
    files: tuple[tuple[str, str], ...] = ()

    def load(self) -> Tokenizer:
        """The tokenizer, built in this process; `check_files` says whether it is that of the fingerprint."""
        return open_registry(self.plugins, self.context).load(self.spec)

    def check_files(self) -> None:
        """Raise `TokenizerError` where a file is not what it was when its fingerprint was taken.

        Called after `load`, so that what was read is what was hashed.
        """
        for name, digest in self.files:
            path = Path(name)
            if not path.is_file() or file_sha256(path) != digest:
                raise TokenizerError(f"{self.key}: {path} has changed since the run began; run it again")


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """How to open one dataset; `key` is its canonical spec."""

    key: str
    spec: Spec
    plugins: PluginChoice
    context: LoadContext

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

    def registry(self) -> Registry:
        """The registry of this recipe's plugins, in this process."""
        return open_registry(self.parts[0].plugins, self.parts[0].context)


@lru_cache(maxsize=4)
def open_registry(plugins: PluginChoice, context: LoadContext) -> Registry:
    """The registry of a choice of plugins, built once in each process."""
    return registry_of(plugins, context)


@lru_cache(maxsize=64)
def _dataset(recipe: DatasetRecipe) -> Dataset:
    return open_registry(recipe.plugins, recipe.context).dataset(recipe.spec)


def file_digests(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of files, and of those in folders, as the manifest lists them."""
    found: list[Path] = []
    for path in map(Path, paths):
        found += [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return [
        {"path": str(path), "bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in sorted(found)
        if path.is_file()
    ]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(*parts: Any) -> str:
    """SHA-256 of JSON-ready values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def fingerprint(registry: Registry, spec: Spec, files: Iterable[dict[str, Any]], *more: Any) -> str:
    """What a tokenizer's output depends on: its spec, files, libraries, plugin code, and `more`."""
    family = registry.tokenizers[spec.family]
    return digest_of(
        str(spec),
        [entry["sha256"] for entry in files],
        versions(family.libraries),
        code_digest(registry, registry.owner(spec.family)),
        *more,
    )


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """The installed versions of distributions; "absent" where one is not installed."""
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


def code_digest(registry: Registry, plugin: str) -> str:
    """A digest of a plugin's own Python files, so that editing a plugin makes its cached results stale."""
    module = registry.host.manager.get_plugin(plugin)
    if module is None or getattr(module, "__file__", None) is None:
        return registry.host.plugins[plugin].version
    return source_digest(str(module.__file__))


@lru_cache(maxsize=64)
def source_digest(file: str) -> str:
    """A digest of a module's file, or of a whole package where it is the package's ``__init__.py``."""
    path = Path(file)
    sources = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    total = hashlib.sha256()
    for source in sources:
        total.update(source.relative_to(path.parent).as_posix().encode() + b"\0" + source.read_bytes())
    return total.hexdigest()


def environment(registry: Registry) -> dict[str, str]:
    """What the workers of a shared engine must have in common with us before work is sent to them."""
    loaded = [plugin for plugin in registry.host.plugins.values() if plugin.status == "loaded"]
    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        **versions(["tokbench", "numpy"]),
        **{f"plugin {plugin.name}": plugin.version for plugin in loaded},
    }
