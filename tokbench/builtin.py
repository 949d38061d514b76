"""What tokbench itself plugs in: dataset families, metrics, plots, report formats, engines, estimates.

It is a plugin like any other. Each hook imports only what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tokbench.hookspecs import hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from tokbench.corpus import DatasetFamily
    from tokbench.extension import Command, Engine, Plot, ReportWriter
    from tokbench.family import TokenizerFamily
    from tokbench.lint.check import Check
    from tokbench.metrics import Metric


@hookimpl
def tokbench_datasets() -> Iterable[DatasetFamily]:
    """Bundled corpora, files of text, tables, FLORES folders, the hub, the standard library."""
    from tokbench.corpora import FAMILIES

    return FAMILIES


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """Closed tokenizers, estimated."""
    from tokbench.inspection.calibrated import CALIBRATED

    return [CALIBRATED]


@hookimpl
def tokbench_metrics() -> Iterable[Metric]:
    """The catalogue of docs/metrics.md."""
    from tokbench.metrics.catalogue import CATALOGUE

    return CATALOGUE


@hookimpl
def tokbench_plots() -> Iterable[Plot]:
    """The plots of the report."""
    from tokbench.plots import PLOTS

    return PLOTS


@hookimpl
def tokbench_suites() -> Iterable[tuple[str, Path]]:
    """The suites that come with tokbench."""
    from tokbench.runner.planning.suite import shipped_suites

    return shipped_suites().items()


@hookimpl
def tokbench_report_writers() -> Iterable[ReportWriter]:
    """HTML, Markdown, LaTeX, CSV, JSON …"""
    from tokbench.reports import WRITERS

    return WRITERS


@hookimpl
def tokbench_engines() -> Iterable[Engine]:
    """Local processes, Dask, Ray."""
    from tokbench.runner.counting.engines import ENGINES

    return ENGINES


@hookimpl
def tokbench_checks() -> Iterable[Check]:
    """Checks of the vocabulary, of what becomes of text, of the files, and of special tokens."""
    from tokbench.lint.catalogue import CATALOGUE

    return CATALOGUE


@hookimpl
def tokbench_commands() -> Iterable[Command]:
    """The commands of the command line, whose names no plugin can take."""
    from tokbench.cli.program import built_in  # upwards: only where commands are asked for

    return built_in()
