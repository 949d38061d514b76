"""Checks of a plot or a report format: what it makes of two small runs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tokbench.extension import Plot, ReportWriter
from tokbench.results import Run
from tokbench.spec import LoadContext
from tokbench.testing.check import ConformanceCheck, Problem
from tokbench.testing.texts import PROSE


def sample_runs(folder: Path, context: LoadContext) -> tuple[Run, Run]:
    """Two small runs, with the plugins of a context: one of two tokenizers on prose and on parallel text, with
    every metric; one that measured next to nothing.
    """
    from tokbench.runner.run import run_suite

    prose, letter = folder / "prose.txt", folder / "letter.txt"
    prose.write_text(PROSE, encoding="utf-8")
    letter.write_text("a", encoding="utf-8")
    texts = [f"text:{prose}", "bundled:parallel,languages=eng_Latn+jpn_Jpan"]
    options: dict[str, Any] = {"plugins": context.plugins, "disable_plugins": context.disable}
    options |= {"speed": False, "jobs": 1, "cache": False}
    whole = run_suite(None, ["bytes", "chars"], texts, folder / "whole", **options)
    bare = run_suite(None, ["bytes"], [f"text:{letter}"], folder / "bare", metrics=["tokens"], **options)
    return whole, bare


def _drawn(plot: Plot, run: Run) -> Problem:
    figure = plot.drawn(run)
    if figure is None:
        return None if plot.needs else "it drew nothing, and `needs` does not say what it lacks"
    figure.savefig(io.BytesIO(), format="svg")
    return None


def _written(writer: ReportWriter, run: Run) -> Problem:
    path = run.path / f"as_asked{writer.suffix}"
    writer.written(run, path)
    return None if path.stat().st_size else "write(run, path) wrote an empty file"


def _of_bare(problem: Problem) -> Problem:
    return f"for a run over one letter, with only the metric `tokens`: {problem}" if problem else None


@ConformanceCheck.of("draws", "draw(run) gives a matplotlib Figure, or None for what `needs` says.")
def _draws(plot: Plot, whole: Run, bare: Run) -> Problem:
    return _drawn(plot, whole)


@ConformanceCheck.of("draws_bare", "return None where the run lacks the data, and say which in `needs`.")
def _draws_bare(plot: Plot, whole: Run, bare: Run) -> Problem:
    return _of_bare(_drawn(plot, bare))


@ConformanceCheck.of("writes", "write(run, path) writes the report to that path.")
def _writes(writer: ReportWriter, whole: Run, bare: Run) -> Problem:
    return _written(writer, whole)


@ConformanceCheck.of("writes_bare", "write what the run has: figures may be missing, and null.")
def _writes_bare(writer: ReportWriter, whole: Run, bare: Run) -> Problem:
    return _of_bare(_written(writer, bare))


PLOT, REPORT = (_draws, _draws_bare), (_writes, _writes_bare)
"""Each is given a plot, or a report format, and the `sample_runs`."""
