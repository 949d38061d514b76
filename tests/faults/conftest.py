"""A run and some text for whatever is tried on them; the page docs/faults.md lists the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tokbench.results import Run
from tokbench.workers.pool import close_idle


@pytest.fixture(autouse=True, scope="module")
def _no_workers_left() -> Iterator[None]:
    yield
    close_idle()


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
    from tokbench.runner.run import run_suite

    def call(tokenizers: Sequence[str], datasets: Sequence[str], **options: Any) -> Run:
        known = {"speed": False, "output": tmp_path / "out", "jobs": 2, "audit": False, "samples": 1}
        return run_suite(None, tokenizers, datasets, **{**known, **options})

    return call
