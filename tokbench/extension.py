"""What plugins hand over beside tokenizers, datasets and metrics: plots, report writers, engines, commands …"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import PluginError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tokbench.results import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure drawn from a run. `draw` returns None, and says why in `needs`, where the run lacks the data."""

    name: str
    title: str
    summary: str
    draw: Callable[[Run], Figure | None]
    needs: str = ""

    def drawn(self, run: Run) -> Figure | None:
        """What `draw` gives; raises `PluginError` for what is no figure."""
        from matplotlib.figure import Figure

        found = self.draw(run)
        if found is not None and not isinstance(found, Figure):
            raise PluginError(
                f"the plot {self.name!r} drew {type(found).__name__}; return a Figure of matplotlib, or None "
                "where the run lacks the data"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWriter:
    """Writes a run as one file of a format, whose name ends in `suffix` (".txt"): `write(run, path)`."""

    name: str
    summary: str
    suffix: str
    write: Callable[[Run, Path], None]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\.[^A-Z]+", str(self.suffix)):
            raise PluginError(
                f"report format {self.name!r}: suffix is {self.suffix!r}; "
                "it is how its files end, in lower case, as '.txt'"
            )

    def written(self, run: Run, path: Path) -> None:
        """Write a run; raises `PluginError` where there is no file then.

        Raises `ResultsError` for a file of the run itself, which is left as it is.
        """
        run.folder.spare(path)
        self.write(run, path)
        if not path.is_file():
            raise PluginError(f"the report format {self.name!r} wrote no {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where cells are computed: `open(jobs, address)` gives a `concurrent.futures.Executor` for the run.

    `shared` says that its workers are processes of their own, perhaps on other machines: functions and
    arguments must then be picklable, speed is not timed there, and files must be visible from them. Without it,
    tasks run in threads of this process, and start worker processes themselves.
    """

    name: str
    summary: str
    open: Callable[[int, str | None], AbstractContextManager[Executor]]
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command ``tokbench NAME``: `run` is a function with typer's annotations, or a `typer.Typer`."""

    name: str
    summary: str
    run: Callable[..., Any]
