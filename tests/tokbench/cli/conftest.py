"""The command line as a shell calls it, and some text for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tokbench
from tokbench.cli import main
from tokbench.results import Run


@pytest.fixture(autouse=True, scope="module")
def _workers_stay(workers_stay: None) -> None:
    """In every module of this folder."""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file of text, in which is the word that faulty plugins wait for."""
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\ntrigger something\n" * 30, encoding="utf-8")
    return path


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Calls `tokbench` with some arguments; gives its exit status."""

    def called(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["tokbench", *arguments])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return called


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that was asked for metrics of which all but the last come to nothing."""
    home = tmp_path_factory.mktemp("run")
    (home / "text.txt").write_text("some words\n" * 30)
    return tokbench.run(
        ["bytes", "chars"], [f"text:{home}/text.txt"], output=home / "out", speed=False, jobs=1,
        metrics=["premium", "indentation_tokens", "fertility"],
    )  # fmt: skip
