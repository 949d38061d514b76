"""The command line as a shell calls it, and some text for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.cli import main


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
