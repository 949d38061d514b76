"""Checks of plots and report formats: what they make of two small runs."""

from __future__ import annotations

import io
from collections.abc import Callable
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


def plot_checks(plot: Plot) -> list[ConformanceCheck]:
    """The checks of a plot, each given the `sample_runs`."""

    def drawn(run: Run) -> Problem:
        figure = plot.drawn(run)
        if figure is None:
            return None if plot.needs else "it drew nothing, and `needs` does not say what it lacks"
        figure.savefig(io.BytesIO(), format="svg")
        return None

    return _of_both_runs(
        drawn,
        ("draws", "draw(run) gives a matplotlib Figure, or None for what `needs` says."),
        ("draws_bare", "return None where the run lacks the data, and say which in `needs`."),
    )


def report_checks(writer: ReportWriter) -> list[ConformanceCheck]:
    """The checks of a report format, each given the `sample_runs`."""

    def written(run: Run) -> Problem:
        path = run.path / f"as_asked{writer.suffix}"
        writer.written(run, path)
        return None if path.stat().st_size else "write(run, path) wrote an empty file"

    return _of_both_runs(
        written,
        ("writes", "write(run, path) writes the report to that path."),
        ("writes_bare", "write what the run has: figures may be missing, and null."),
    )


def _of_both_runs(
    tried: Callable[[Run], Problem], on_whole: tuple[str, str], on_bare: tuple[str, str]
) -> list[ConformanceCheck]:
    """Two checks, of names and remedies, that try something on each of the `sample_runs`."""

    def tried_on_bare(whole: Run, bare: Run) -> Problem:
        found = tried(bare)
        return f"of a run of one letter, with no metric but `tokens`: {found}" if found else None

    return [
        ConformanceCheck(*on_whole, lambda whole, bare: tried(whole)),
        ConformanceCheck(*on_bare, tried_on_bare),
    ]
