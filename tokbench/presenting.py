"""How a run comes by its plots and reports: what draws and writes stands above runs, and is put here for them.

`tokbench.api`, which comes with every import of tokbench, does that; `tokbench.results.Run` asks.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


class Presenter(Protocol):
    """What a `Run` hands itself over to; see its methods of these names."""

    def plot(self, run: Any, name: str, plugins: Sequence[str]) -> Any:
        """Draw a plot as a figure of matplotlib."""

    def report(
        self, run: Any, path: str | os.PathLike[str] | None, format: str | None, plugins: Sequence[str]
    ) -> Path:
        """Write a report, and give its file."""

    def notebook(self, run: Any) -> str:
        """The headline as HTML."""


_presenters: list[Presenter] = []


def present_by(presenter: Presenter) -> None:
    """Have runs drawn and written by `presenter` from now on."""
    _presenters[:] = [presenter]


def presenter() -> Presenter:
    """What draws and writes runs."""
    return _presenters[0]
