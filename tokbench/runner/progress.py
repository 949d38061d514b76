"""Tells how a run goes: to whoever watches it, and to the event hooks of plugins.

`tokbench run` shows what it is told as progress bars (`tokbench.cli.bars`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import described
from tokbench.manager import PATIENCE

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.results.cell import CellResult
    from tokbench.results.folder import RunFolder
    from tokbench.results.run import Run
    from tokbench.runner.counting.count import PlannedCell
    from tokbench.runner.planning.plan import Plan


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


def tell(registry: Registry, hook: str, **what: Any) -> None:
    """Call an event hook of every plugin; one that raises, exits or hangs is marked failed and disturbs nobody.

    It runs in a thread of its own, which is left to itself once it takes too long; a plugin that failed is told
    nothing more.
    """
    for implementation in getattr(registry.host.manager.hook, hook).get_hookimpls():
        name = implementation.plugin_name
        if registry.host.plugins[name].status != "loaded":
            continue
        errors: list[str] = []
        arguments = [what[each] for each in implementation.argnames]
        call = (implementation.function, arguments, errors)
        thread = threading.Thread(target=_call, args=call, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        if thread.is_alive():
            errors.append(f"no answer within {PATIENCE:g} s")
        if errors:
            registry.host.fail(name, f"{hook}: {errors[0]}")


def _call(function: Callable[..., Any], arguments: Sequence[Any], errors: list[str]) -> None:
    try:
        function(*arguments)
    except BaseException as error:  # SystemExit, and what Rust panics with, too
        errors.append(described(error))
