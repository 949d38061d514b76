"""What tokbench itself plugs in: dataset families, metrics, plots, report formats, engines, estimates.

It is a plugin like any other. Each hook imports only what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from tokbench.hookspecs import hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from tokbench.extension import Command
    from tokbench.family import TokenizerFamily


def _offer(hook: str, module: str, name: str) -> Callable[[], Iterable[object]]:
    """A hook that gives `name` of a module, which is imported when the hook is asked."""

    @hookimpl(specname=hook)
    def offered() -> Iterable[object]:
        things: Iterable[object] = getattr(import_module(module), name)
        return things

    return offered


datasets = _offer("tokbench_datasets", "tokbench.corpora", "FAMILIES")
metrics = _offer("tokbench_metrics", "tokbench.metrics.catalogue", "CATALOGUE")
plots = _offer("tokbench_plots", "tokbench.plots", "PLOTS")
report_writers = _offer("tokbench_report_writers", "tokbench.reports", "WRITERS")
engines = _offer("tokbench_engines", "tokbench.runner.counting.engines", "ENGINES")
checks = _offer("tokbench_checks", "tokbench.lint.catalogue", "CATALOGUE")


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """Closed tokenizers, estimated."""
    from tokbench.inspection.calibrated import CALIBRATED

    return [CALIBRATED]


@hookimpl
def tokbench_suites() -> Iterable[tuple[str, Path]]:
    """The suites that come with tokbench."""
    from tokbench.runner.planning.suite import shipped_suites

    return shipped_suites().items()


@hookimpl
def tokbench_commands() -> Iterable[Command]:
    """The commands of the command line, whose names no plugin can take."""
    from tokbench.cli.program import built_in  # upwards: only where commands are asked for

    return built_in()
