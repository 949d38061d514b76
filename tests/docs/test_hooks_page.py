"""The hook reference holds every hook, under a heading of its own, with its exact signature."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import tokbench.hookspecs

ROOT = Path(__file__).parent.parent.parent


def signatures() -> dict[str, str]:
    tree = ast.parse(Path(tokbench.hookspecs.__file__).read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("tokbench_"):
            returns = ast.unparse(node.returns) if node.returns else "None"
            found[node.name] = f"def {node.name}({ast.unparse(node.args)}) -> {returns}: ..."
    return found


def test_every_hook_has_its_heading_and_signature() -> None:
    page = (ROOT / "docs" / "hooks.md").read_text()
    sections = dict(re.findall(r"^## (tokbench_\w+)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    expected = signatures()
    assert set(sections) == set(expected)
    for name, signature in expected.items():
        assert signature in sections[name], f"{name}: the page must show {signature}"


def test_the_specs_of_the_design_are_all_there() -> None:
    assert set(signatures()) >= {
        "tokbench_tokenizers",
        "tokbench_datasets",
        "tokbench_metrics",
        "tokbench_plots",
        "tokbench_report_writers",
        "tokbench_engines",
        "tokbench_resolve_alias",
        "tokbench_cell_finished",
        "tokbench_run_finished",
    }
