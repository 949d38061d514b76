"""The family `stdlib`: the running Python's own standard library, real text on every machine.

``stdlib:code`` are its sources, a file a document; ``stdlib:docs`` its docstrings. What that is depends on the
Python version, which the dataset's facts state; tests and installed packages are left out.
"""

from __future__ import annotations

import ast
import inspect
import os
import platform
import sysconfig
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.corpora import blocks
from tokbench.corpora.dataset import FileDataset, Format, whole_file
from tokbench.corpora.storage import StoredFile, open_bytes
from tokbench.corpora.text import WholeFileFormat
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError, UnknownNameError
from tokbench.spec import LoadContext, Spec

_LEFT_OUT = frozenset(
    {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3"}
)


@dataclass(frozen=True, slots=True)
class Docstrings(Format):
    """A docstring per document, in the order of the source, its indentation removed as `help` removes it."""

    def identity(self) -> Mapping[str, Any]:
        """The name of the format."""
        return {"format": "docstrings"}

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """The file."""
        return whole_file(file, language)

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The docstrings of a source file."""
        with open_bytes(shard.source) as handle:
            source = blocks.decode(handle.read(), path=shard.source, offset=0, errors="strict")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old escape in a source is no concern of ours
            try:
                tree = ast.parse(source)
            except SyntaxError as error:
                raise CorpusError(f"{shard.source}, line {error.lineno}: not Python: {error.msg}") from error
        holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(tree) if isinstance(node, holders)]
        for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
            text = ast.get_docstring(node, clean=False)
            if text and (text := inspect.cleandoc(text)).strip():
                yield Document(text)


def source_files(folder: Path) -> list[str]:
    """The standard library's modules below `folder`, sorted; tests and installed packages left out."""
    files: list[str] = []
    for inside, folders, names in os.walk(folder):
        folders[:] = set(folders) - _LEFT_OUT  # hundreds of installed packages are not gone through
        files += [str(Path(inside, name)) for name in names if name.endswith(".py")]
    return sorted(files)


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``stdlib:code`` or ``stdlib:docs``."""
    if spec.variant not in ("code", "docs"):
        raise UnknownNameError.of("part of stdlib", spec.variant or "", ["code", "docs"])
    folder = Path(sysconfig.get_path("stdlib"))
    files = source_files(folder)
    if not files:
        raise CorpusError(f"{folder}: this Python comes without the sources of its standard library")
    code = spec.variant == "code"
    return FileDataset(
        name=str(spec),
        files={"python" if code else "eng_Latn": files},
        format=WholeFileFormat() if code else Docstrings(),
        kind="code" if code else "text",
        about={
            "licence": "PSF-2.0",
            "origin": f"standard library of {platform.python_implementation()} {platform.python_version()}",
            "files": {"folder": str(folder), "count": len(files)},
        },
    )
