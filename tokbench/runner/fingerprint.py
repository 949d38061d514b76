"""Fingerprints: digests of all that a result depends on; if one changes, cached results are stale.

A tokenizer depends on its spec and options, its files, the versions of its libraries and the code of its
plugin; a dataset depends on its bytes and the code that reads them. Digests of code are computed once per run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokbench.inspection.facts import versions
from tokbench.manager import PROJECT
from tokbench.registry import Registry, registry_of
from tokbench.runner.recipe import DatasetRecipe, dataset_of
from tokbench.spec import Spec


def forget_digests() -> None:
    """Forget the digests of files and code from an earlier run of this process; they may have changed."""
    for cached in (dataset_of, source_digest, reader_digest, imported_beside):
        cached.cache_clear()


def fingerprint(registry: Registry, spec: Spec, files: Iterable[dict[str, Any]], *more: Any) -> str:
    """The digest of what a tokenizer's output depends on: spec, files, libraries, plugin code, and `more`."""
    return digest_of(str(spec), [entry["sha256"] for entry in files], *_code(registry, spec), *more)


def _code(registry: Registry, spec: Spec) -> list[Any]:
    """The versions of a tokenizer's libraries and the digest of its code, and those of what it builds on."""
    family = registry.tokenizers[spec.family]
    own = [versions(family.libraries), code_digest(registry, registry.owner(spec.family))]
    if family.builds_on is None:
        return own
    return own + _code(registry, family.builds_on(spec, registry.context))


def digest_of(*parts: object) -> str:
    """SHA-256 of JSON-ready values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def code_digest(registry: Registry, plugin: str) -> str:
    """A digest of a plugin's own Python files, so that editing a plugin makes its cached results stale.

    These are its package or file, and the modules that it imports from its own folder. Tokbench's own plugins
    import nothing from there (`tests/test_layout.py`), so theirs are not searched, which would take a while.
    """
    file, about = registry.host.source(plugin), registry.host.plugins[plugin]
    if file is None:
        return about.version
    beside = () if about.distribution == PROJECT else imported_beside(file)
    return digest_of(source_digest(str(file)), [source_digest(str(each)) for each in beside])


@lru_cache(maxsize=64)
def imported_beside(file: Path) -> tuple[Path, ...]:
    """The modules and packages in a file's own folder that it imports, directly or through one another.

    Empty in a folder of installed packages, whose other modules belong to other distributions with versions.
    """
    package = file.name == "__init__.py"
    folder = file.parents[1] if package else file.parent
    if any(folder.glob("*.dist-info")):
        return ()
    found: dict[Path, None] = {file: None}
    waiting = [file]
    while waiting:
        source = waiting.pop()
        for inside in sorted(source.parent.rglob("*.py")) if source.name == "__init__.py" else [source]:
            for name in _imported_names(inside):
                beside = [folder / f"{name}.py", folder / name / "__init__.py"]
                new = [path for path in beside if path.is_file() and path not in found]
                found.update(dict.fromkeys(new))
                waiting += new
    return tuple(sorted(path for path in found if path != file))


# CPython 3.11 counts the depth of a tree for all threads together: two that parse at once raise SystemError.
_parsing = threading.Lock()


def _imported_names(source: Path) -> set[str]:
    """The top-level names that a module imports, at any place."""
    try:
        with _parsing:
            tree = ast.parse(source.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.level):
            names |= {alias.name for alias in node.names}
    return {name.partition(".")[0] for name in names} - {""}


@lru_cache(maxsize=64)
def reader_digest(recipe: DatasetRecipe) -> str:
    """A digest of the code that reads a dataset, on which its text depends as well as on its bytes."""
    import tokbench.corpora

    registry = registry_of(recipe.context)
    if registry.in_house(recipe.spec.family, "tokbench_datasets"):
        return source_digest(str(tokbench.corpora.__file__))
    return code_digest(registry, registry.owner(recipe.spec.family, "tokbench_datasets"))


@lru_cache(maxsize=64)
def source_digest(file: str) -> str:
    """A digest of a module's file, or of a whole package if the file is its ``__init__.py``."""
    path = Path(file)
    sources = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    total = hashlib.sha256()
    for source in sources:
        total.update(os.fsencode(source.relative_to(path.parent)) + b"\0" + source.read_bytes())
    return total.hexdigest()
