"""Parsers for programming languages: the tree-sitter grammars that are installed, and the tokens they see.

Grammars come from the package index (``tree-sitter`` and ``tree-sitter-python``, ``tree-sitter-rust`` …);
none is required. The grammar is part of a corpus's facts, so that a corpus is counted anew once its grammar is
installed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from functools import cache
from typing import Any

_NAMES = {
    "c++": "cpp", "c#": "c_sharp", "csharp": "c_sharp", "js": "javascript", "ts": "typescript", "sh": "bash",
    "shell": "bash", "py": "python", "rs": "rust", "rb": "ruby", "golang": "go", "kt": "kotlin",
}  # fmt: skip


def distribution(language: str) -> str:
    """The package that holds the grammar of a language.

    Example:
        >>> distribution("C++"), distribution("python")
        ('tree-sitter-cpp', 'tree-sitter-python')
    """
    return f"tree-sitter-{_name(language).replace('_', '-')}"


def installed(language: str | None) -> str:
    """The installed grammar of a language with its version, or an empty string."""
    if not language or not _there("tree_sitter") or not _there(f"tree_sitter_{_name(language)}"):
        return ""
    try:
        return f"{distribution(language)} {importlib.metadata.version(distribution(language))}"
    except importlib.metadata.PackageNotFoundError:
        return distribution(language)


@cache
def parser_of(language: str | None) -> Any:
    """A tree-sitter parser for a programming language, or None where its grammar is not installed."""
    if not language or not installed(language):
        return None
    from tree_sitter import Language, Parser

    module = importlib.import_module(f"tree_sitter_{_name(language)}")
    # packages with several dialects name each: language_typescript, language_php
    make = getattr(module, "language", None) or getattr(module, f"language_{_name(language)}", None)
    return None if make is None else Parser(Language(make()))


def leaf_gaps(parser: Any, text: bytes) -> Iterator[tuple[int, int]]:
    """The stretches between one token of the parser and the next, in bytes; mostly empty or blank."""
    last = -1
    for start, end in _leaves(parser.parse(text).walk()):
        if last >= 0 and start >= last:
            yield last, start
        last = max(last, end)


def _leaves(cursor: Any) -> Iterator[tuple[int, int]]:
    """The tokens of a tree that are not empty, in order."""
    while True:
        if cursor.goto_first_child():
            continue
        node = cursor.node
        if node.end_byte > node.start_byte:
            yield node.start_byte, node.end_byte
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _name(language: str) -> str:
    plain = language.strip().lower().replace("-", "_")
    return _NAMES.get(plain, plain)


def _there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
