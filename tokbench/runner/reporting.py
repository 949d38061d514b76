"""Writes the reports and plots of a finished run; each may fail on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tokbench.errors import StorageError, described
from tokbench.registry import Registry, registry_of
from tokbench.results import Run
from tokbench.results.failure import TaskFailure
from tokbench.runner.planning.plan import Plan
from tokbench.spec import LoadContext
from tokbench.workers.calls import Emit
from tokbench.workers.pool import attempt

FORMATS = ("html", "md")
"""The reports that a run writes by itself."""


def write_reports(plan: Plan, run: Run, wrote: Callable[[Path], None]) -> Iterator[TaskFailure]:
    """Write the reports and plots of a run; yields a failure for each that could not be written.

    Tokbench's own are written here, those of plugins by a worker; plots come first, because reports show them.
    Raises `StorageError` if the disk cannot be written.
    """
    from tokbench.plots.data import worth_drawing

    registry = plan.registry
    brought = [plot.name for plot in registry.brought_plots]
    ours = [name for name in registry.plots if name not in brought] if worth_drawing(run) else []
    reports = [name for name in FORMATS if name in registry.report_writers]
    wanted = [("plot", brought), ("report", reports), ("plot", ours)]
    for kind, name in ((kind, name) for kind, names in wanted for name in names):
        found = _made(plan, run, kind, name)
        if isinstance(found, TaskFailure):
            yield found
        else:
            run.folder.remember(found)
            if kind == "report":
                wrote(found[0])


def _made(plan: Plan, run: Run, kind: str, name: str) -> list[Path] | TaskFailure:
    """The files written, or the failure; tokbench's own are written in one process and share results."""
    registry, (hook, write) = plan.registry, _KINDS[kind]
    if registry.in_house(name, hook):
        try:
            return write(run, registry, name)
        except StorageError:
            raise
        except Exception as error:
            return TaskFailure(kind, f"the {kind} {name!r}: {described(error)}")
    owner = registry.owner(name, hook)
    found = attempt(_elsewhere, registry.context, write, run.path, name, limits=plan.limits)
    if isinstance(found, TaskFailure):
        why = f"the {kind} {name!r} of the plugin {owner!r}: {found.kind}: {found.message}"
        return TaskFailure(
            kind, why, f"leave it out with --disable-plugin {owner}", found.traceback, found.output
        )
    return found


Write = Callable[[Run, Registry, str], list[Path]]
"""A function that writes the report or plot of a name for a run, and returns the paths of its files."""


def _elsewhere(emit: Emit, context: LoadContext, write: Write, path: Path, name: str) -> list[Path]:
    return write(Run.open(path), registry_of(context), name)


def write_report(run: Run, registry: Registry, name: str) -> list[Path]:
    """Write one report of a run."""
    writer = registry.report_writers[name]
    target = run.path / f"report{writer.suffix}"
    writer.written(run, target)
    return [target]


def write_plot(run: Run, registry: Registry, name: str) -> list[Path]:
    """Draw one plot of a run; nothing if the run lacks the data."""
    from tokbench.plots.files import write_plots

    return write_plots(run, [registry.plots[name]], run.folder.plots)


_KINDS: dict[str, tuple[str, Write]] = {
    "plot": ("tokbench_plots", write_plot),
    "report": ("tokbench_report_writers", write_report),
}
"""The hook that offers each kind, and the function that writes one."""
