"""What is compiled into kernels has no form that Python could call: to call it would end the process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tokbench_subword

PACKAGE = Path(tokbench_subword.__path__[0])
INNER = {"inline", "subroutine"}


def compilers(tree: ast.Module) -> set[str]:
    """The names in a module that compile what they decorate."""
    own = ("pipeline.splicing", "words.searching", "unigram.emitting")
    modules = (
        "tokbench.kernels.compiling",
        "tokbench.kernels.calls",
        *(f"tokbench_subword.{one}" for one in own),
    )
    found = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module in modules)
    return {alias.name for node in found for alias in node.names}


def names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def interpreted(node: ast.AST, compiling: set[str]) -> Iterator[ast.Name]:
    """The names that are used where Python runs."""
    for child in ast.iter_child_nodes(node):
        decorators = child.decorator_list if isinstance(child, ast.FunctionDef) else []
        if any(names(decorator) & compiling for decorator in decorators):
            continue
        if isinstance(child, ast.Name):
            yield child
        yield from interpreted(child, compiling)


def test_only_kernels_call_what_is_compiled_into_them() -> None:
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    inner = {
        ("tokbench_subword." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts), node.name)
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(names(one) & INNER for one in node.decorator_list)
    }
    assert len(inner) > 50
    wrong = []
    for path, tree in trees.items():
        module = "tokbench_subword." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        known = {name: (module, name) for where, name in inner if where == module}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                known |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        used = interpreted(tree, compilers(tree))
        wrong += [(module, name.lineno, name.id) for name in used if known.get(name.id) in inner]
    assert not wrong
