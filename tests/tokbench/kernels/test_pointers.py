"""Arrays that kernels make for themselves live as long as the pointers to them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import keep, pointer

ROOT = Path(__file__).parents[3]
MAKERS = {"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "arange", "astype", "copy"}


@kernel
def _written_and_read_again(size):  # type: ignore[no-untyped-def]
    one = np.empty(size, np.int64)
    first = pointer(one)
    first[0] = 7
    other = np.empty(size, np.int64)
    second = pointer(other)
    second[0] = 9
    found = first[0]
    keep(one)
    keep(other)
    return found


@pytest.mark.parametrize("size", [4, 6, 257, 100_000])
def test_what_is_kept_is_not_given_to_the_next_array(size: int) -> None:
    assert _written_and_read_again(size) == 7


def _place(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""


def _holds(value: ast.expr, taken: list[ast.AST]) -> bool:
    """Whether a value has one of these pointers in it: it is one, a tuple or a record of some."""
    if isinstance(value, ast.Tuple) or _called(value)[:1].isupper():
        return any(node in taken for node in ast.walk(value))
    return value in taken


def freed_too_early(function: ast.FunctionDef) -> set[str]:
    """Arrays that a function makes and does not use, nor keep, behind the last use of a pointer to them."""
    assigned: list[tuple[ast.Name, ast.expr]] = []
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)]  # type: ignore[attr-defined]
            if isinstance(target, ast.Tuple) and isinstance(pairs[0][1], ast.Tuple):
                pairs = list(zip(target.elts, pairs[0][1].elts, strict=True))
            assigned += [(name, value) for name, value in pairs if isinstance(name, ast.Name)]
    names = [
        node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]
    found = set()
    for array in {name.id for name, value in assigned if _called(value) in MAKERS}:
        mine = [name for name in names if name.id == array]
        taken = [
            node
            for node in ast.walk(function)
            if _called(node) == "pointer" and any(inside in mine for inside in ast.walk(node))
        ]
        ends = [(node.end_lineno, node.end_col_offset) for node in taken]  # type: ignore[attr-defined]
        for held, value in assigned:
            if _holds(value, taken):
                anew = [
                    _place(name) for name, _ in assigned if name.id == held.id and _place(name) > _place(held)
                ]
                until = min(anew, default=(1 << 30, 0))
                ends += [_place(name) for name in names if name.id == held.id and _place(name) < until]
        if ends and max(map(_place, mine)) < max(ends):
            found.add(array)
    return found


def test_no_kernel_uses_a_pointer_to_an_array_that_numba_has_freed() -> None:
    looked_at, wrong = 0, []
    for path in [*(ROOT / "tokbench").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                looked_at += 1
                wrong += [f"{path.relative_to(ROOT)}: {node.name}: {name}" for name in freed_too_early(node)]
    assert looked_at > 500
    assert wrong == []


def test_the_check_finds_what_it_is_for() -> None:
    early = "def f(n):\n    a = np.empty(n)\n    p = pointer(a)\n    g(p)\n    return p[0]\n"
    passed = "def f(n):\n    a = np.empty(n)\n    return g(pointer(a))\n"
    late = "def f(n):\n    a = np.empty(n)\n    p = pointer(a)\n    x = p[0]\n    keep(a)\n    return x\n"
    found = [freed_too_early(ast.parse(text).body[0]) for text in (early, passed, late)]  # type: ignore[arg-type]
    assert found == [{"a"}, {"a"}, set()]
