"""A run and some text for whatever is tried on them; the page docs/faults.md lists the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs import no_workers_left, runs_into, workers_stay
from tokbench.results import Run

__all__ = ["no_workers_left", "workers_stay"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file of text."""
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\nand a second line\n" * 40, encoding="utf-8")
    return path


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str, str], str]:
    """Writes a plugin file; gives its path."""

    def write(name: str, source: str) -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(f"import tokbench\n{source}\n", encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    """Runs some tokenizers on some text, without the speed pass, and gives the run."""
    return runs_into(tmp_path / "out", samples=1)
