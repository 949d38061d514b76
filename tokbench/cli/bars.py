"""What `tokbench run` shows while it goes: progress bars with throughput and time left, and lines of text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.cli.headline import print_headline
from tokbench.results import Run
from tokbench.results.cell import CellResult
from tokbench.results.folder import RunFolder
from tokbench.runner.counting.count import PlannedCell
from tokbench.runner.planning.plan import Plan
from tokbench.runner.progress import Display
from tokbench.wording import beginning, counted, printable

if TYPE_CHECKING:
    from rich.progress import Task, TaskID


class Bars(Display):
    """Progress bars on stderr where it is a terminal, else lines; headline and reports' names on stdout.

    One bar sums the whole pass; below it one bar for each cell that is being counted.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(file=sys.stderr, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[done]}"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._bars: dict[int, TaskID] = {}
        self._whole: Any = None  # none between stages
        self._cells = self._todo = self._failed = 0

    def begin(self, plan: Plan, folder: RunFolder) -> None:
        """The run begins."""
        self._times = plan.suite.speed_settings is not None
        self._progress.start()
        what = f"{counted(len(plan.entries), 'tokenizer')} on {counted(len(plan.corpora), 'dataset')}"
        self.say(f"{what}, {counted(plan.jobs, 'job')}, into {folder.path}")

    def stage(self, name: str) -> None:
        """A stage begins."""
        for bar in [*self._bars.values(), *([] if self._whole is None else [self._whole])]:
            self._progress.remove_task(bar)
        self._bars, self._whole = {}, None
        if name in _STAGES and (self._times or name != "speed"):
            self._whole = self._progress.add_task(_STAGES[name], total=None, done="", speed="")

    def count(self, finished: int, todo: Sequence[PlannedCell]) -> None:
        """The cells are known."""
        if finished:
            are = "is" if finished == 1 else "are"
            self.say(f"{finished} of {counted(finished + len(todo), 'cell')} {are} on disk already")
        self._cells, self._todo, self._failed = 0, len(todo), 0
        total = sum(cell.n_bytes for cell in todo)
        self._progress.update(self._whole, total=total, done=f"0/{len(todo)} cells")

    def worked(self, cell: PlannedCell, n_bytes: int) -> None:
        """Bytes of a cell were counted."""
        if cell.index not in self._bars:
            name = f"  {_short(cell.key.tokenizer)} · {cell.key.language}"
            self._bars[cell.index] = self._progress.add_task(name, total=cell.n_bytes, done="", speed="")
        for bar in (self._bars[cell.index], self._whole):
            self._progress.update(bar, advance=n_bytes, speed=_speed(self._progress.tasks, bar))

    def finished(self, cell: PlannedCell, result: CellResult) -> None:
        """A cell is done."""
        self._cells += 1
        bar = self._bars.pop(cell.index, None)
        if bar is not None:
            self._progress.remove_task(bar)
        self._failed += result.failure is not None
        failed = f", {self._failed} failed" if self._failed else ""
        self._progress.update(self._whole, done=f"{self._cells}/{self._todo} cells{failed}")
        if result.failure is not None and self._progress.disable:  # else the bar, and at the end why
            self.say(
                f"failed: {' · '.join(cell.key)}: {result.failure.kind}: {beginning(result.failure.message)}"
            )

    def rounds(self, done: int, total: int, doing: str) -> None:
        """The speed pass goes on, or a training (of 100)."""
        self._progress.update(self._whole, completed=done, total=total, done=f"{done}/{total}", speed=doing)

    def say(self, text: str) -> None:
        """A line for the user."""
        from rich.text import Text

        self._progress.console.print(Text(printable(text)), soft_wrap=True)

    def measured(self, run: Run) -> None:
        """The figures are there."""
        print_headline(run)

    def wrote(self, path: Path) -> None:
        """A report was written."""
        print(path)

    def end(self) -> None:
        """The run is over."""
        self._progress.stop()


_STAGES = {
    "prepare": "training and loading",
    "quality": "counting",
    "inspect": "looking through vocabularies",
    "speed": "timing",
    "figures": "measuring",
}


def _short(spec: str) -> str:
    return printable(spec if len(spec) <= 36 else spec[:35] + "…")


def _speed(tasks: Sequence[Task], bar: TaskID) -> str:
    task = next((task for task in tasks if task.id == bar), None)
    return f"{task.speed / 1e6:.1f} MB/s" if task is not None and task.speed else ""
