"""Which metrics stand in a headline: the usual ones, and what was asked for, by name or by figures supplied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tokbench.plots import data

if TYPE_CHECKING:
    from tokbench.results import Run

SUPPLIED = ("cost", "cost_per_million_words", "context_words", "context_chars")
"""Measured only where the user gave prices or the length of a context: so somebody wants to know."""

MOST, LEAST = 10, 4
"""Columns that a headline has room for, and how many beside the usual ones are shown in any case."""


def headline_metrics(run: Run, usual: Sequence[str], without: Collection[str] = ()) -> list[str]:
    """Those of the `usual` that were measured, then those asked for by name, in that order; none `without`.

    A run that was asked for certain metrics shows these, whatever they are: a plugin's, or what the text costs.
    """
    frame = run.frame
    measured = set(frame.loc[(frame["language"] == data.OVERALL) & frame["value"].notna(), "metric"])
    shown = [name for name in usual if name in measured and name not in without]
    beside = [name for name in asked(run) if name in measured and name not in (*usual, *without)]
    return shown + beside[: max(MOST - len(shown), LEAST)]


def asked(run: Run) -> list[str]:
    """The metrics that the run was asked for: by what the user supplied, else by name."""
    suite = run.manifest.get("suite", {})
    supplied = [
        name for name in SUPPLIED if suite.get("prices" if name.startswith("cost") else "context_length")
    ]
    return list(dict.fromkeys([*(suite.get("metrics") or ()), *([] if suite.get("metrics") else supplied)]))
