"""The hooks that a plugin may implement. Each returns what the plugin offers; none loads or computes anything.

Plugins outside this repository rely on the names; docs/hooks.md says how they may change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from pathlib import Path

    from tokbench.corpus import DatasetFamily
    from tokbench.extension import Command, Engine, Plot, ReportWriter
    from tokbench.family import TokenizerFamily
    from tokbench.lint.check import Check
    from tokbench.metrics import Metric
    from tokbench.results import CellResult, Run

PROJECT = "tokbench"
HOOKS_VERSION = 1
"""Raised with every change that an existing plugin could notice. A plugin may state the version it was written
for: a tokbench with another version refuses a module with ``TOKBENCH_HOOKS_VERSION = 1``, and says what to
do."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:  # type: ignore[empty-body]
    """Offer tokenizer families."""


@hookspec
def tokbench_datasets() -> Iterable[DatasetFamily]:  # type: ignore[empty-body]
    """Offer dataset families."""


@hookspec
def tokbench_metrics() -> Iterable[Metric]:  # type: ignore[empty-body]
    """Offer metrics: pure functions of tallies."""


@hookspec
def tokbench_plots() -> Iterable[Plot]:  # type: ignore[empty-body]
    """Offer plots of a run."""


@hookspec
def tokbench_report_writers() -> Iterable[ReportWriter]:  # type: ignore[empty-body]
    """Offer report formats."""


@hookspec
def tokbench_engines() -> Iterable[Engine]:  # type: ignore[empty-body]
    """Offer engines that run cells somewhere else."""


@hookspec
def tokbench_commands() -> Iterable[Command]:  # type: ignore[empty-body]
    """Offer commands of the command line: ``tokbench NAME``."""


@hookspec
def tokbench_suites() -> Iterable[tuple[str, Path]]:  # type: ignore[empty-body]
    """Offer suites as (name, TOML file) pairs: ``tokbench run NAME``."""


@hookspec
def tokbench_prices() -> Iterable[tuple[str, Path]]:  # type: ignore[empty-body]
    """Offer price tables as (name, TOML file) pairs: ``tokbench run --prices NAME``."""


@hookspec
def tokbench_checks() -> Iterable[Check]:  # type: ignore[empty-body]
    """Offer checks for `tokbench lint`."""


@hookspec
def tokbench_aliases() -> Iterable[tuple[str, str]]:  # type: ignore[empty-body]
    """Offer (alias, spec) pairs: common names ("gpt-4o") and their specs ("tiktoken:o200k_base")."""


@hookspec(firstresult=True)
def tokbench_resolve_alias(name: str) -> str | None:
    """Turn a name that is not listed ("gpt-4o-2024-05-13") into a spec ("tiktoken:o200k_base"), or None."""


@hookspec
def tokbench_cell_finished(cell: CellResult) -> None:
    """Called for each finished cell, in the coordinating process."""


@hookspec
def tokbench_run_finished(run: Run) -> None:
    """Called when a run is complete and written."""
