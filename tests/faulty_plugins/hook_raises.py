"""A plugin that raises when it is told of a finished cell."""

from __future__ import annotations

import tokbench
from tokbench.results import CellResult, Run


@tokbench.hookimpl
def tokbench_cell_finished(cell: CellResult) -> None:
    raise RuntimeError("cannot bear the news")


@tokbench.hookimpl
def tokbench_run_finished(run: Run) -> None:
    raise RuntimeError("cannot bear the end")
