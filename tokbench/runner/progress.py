"""What a run tells whoever watches it; `tokbench run` shows it as progress bars (`tokbench.cli.bars`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.results.cell import CellResult
    from tokbench.results.folder import RunFolder
    from tokbench.results.run import Run
    from tokbench.runner.cells import PlannedCell
    from tokbench.runner.plan import Plan


class Display:
    """Somebody who watches a run; this one shows nothing, as Python callers and tests want it."""

    def begin(self, plan: Plan, folder: RunFolder) -> None:
        """The run begins."""

    def stage(self, name: str) -> None:
        """A stage begins: ``prepare``, ``quality``, ``inspect``, ``speed``, ``figures``."""

    def count(self, finished: int, todo: Sequence[PlannedCell]) -> None:
        """The cells are known; some are on disk already."""

    def worked(self, cell: PlannedCell, n_bytes: int) -> None:
        """Bytes of a cell were counted."""

    def finished(self, cell: PlannedCell, result: CellResult) -> None:
        """A cell is done."""

    def rounds(self, done: int, total: int, doing: str) -> None:
        """The speed pass goes on, or a training (of 100)."""

    def say(self, text: str) -> None:
        """A line for the user."""

    def measured(self, run: Run) -> None:
        """The figures are there; reports and plots are still to be written."""

    def wrote(self, path: Path) -> None:
        """A report was written."""

    def end(self) -> None:
        """The run is over, finished or not."""
