"""Reports the progress of a run to a `Display` and to the event hooks of plugins.

The display of `tokbench run` shows progress bars (`tokbench.cli.bars`).
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
    """Receives the progress of a run; this base class shows nothing, for Python callers and tests."""

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
        """Progress of the speed pass, or of a training (of 100)."""

    def say(self, text: str) -> None:
        """A line for the user."""

    def measured(self, run: Run) -> None:
        """The figures are computed; reports and plots are not yet written."""

    def wrote(self, path: Path) -> None:
        """A report was written."""

    def end(self) -> None:
        """The run is over, finished or not."""


def tell(registry: Registry, hook: str, **what: Any) -> None:
    """Call an event hook of every plugin; one that raises, exits or hangs is marked as failed.

    Each hook runs in its own thread, which is abandoned if it takes too long. The hooks of a failed plugin are
    not called again.
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
