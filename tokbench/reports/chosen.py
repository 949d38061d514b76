"""Which metrics a report shows: those whose definition says so, and those that the run was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tokbench.metrics import Metric
from tokbench.metrics.measurement import ALL
from tokbench.metrics.metric import Place
from tokbench.results import Run

MOST, LEAST = 10, 4
"""The most columns of a headline, and how many metrics asked for are shown in any case."""

_GIVEN = {"prices": "prices", "context_length": "context_length", "model": "model"}
"""The needs of metrics that only the user can provide, and the suite's keys for them."""


def metric_facts(run: Run) -> Mapping[str, Metric]:
    """Definitions by name: those of the catalogue, and of the plugins that the run used."""
    from tokbench.metrics.definitions import defined

    return defined(run.manifest.get("definitions", ()))


def metrics_shown(run: Run, place: Place) -> list[str]:
    """The metrics that are shown at a place by their definition, in their order there."""
    there = [metric for metric in metric_facts(run).values() if place in metric.shown]
    return [metric.name for metric in sorted(there, key=lambda metric: metric.order)]


def headline_metrics(
    run: Run, dataset: str, place: Place = "headline", without: Collection[str] = ()
) -> list[str]:
    """The metrics shown at a place and measured on a dataset, then those asked for; none of `without`.

    Metrics that the run was asked for are always shown, such as a plugin's, or the cost of the text.
    """
    frame = run.frame
    here = (frame["language"] == ALL) & frame["dataset"].isin([dataset, ""]) & frame["value"].notna()
    measured = set(frame.loc[here, "metric"])
    usual = metrics_shown(run, place)
    found = [name for name in usual if name in measured and name not in without]
    beside = [name for name in asked(run) if name in measured and name not in (*usual, *without)]
    return found + beside[: max(MOST - len(found), LEAST)]


def asked(run: Run) -> list[str]:
    """The metrics that the run was asked for: by name, or by giving what they need (prices, a context)."""
    suite = run.manifest.get("suite", {})
    if suite.get("metrics"):
        return list(dict.fromkeys(suite["metrics"]))
    given = {need for need, key in _GIVEN.items() if suite.get(key)}
    return [metric.name for metric in metric_facts(run).values() if given.intersection(metric.needs)]
