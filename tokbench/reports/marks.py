"""Which figures are bold: the best, and those that a paired test does not distinguish from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tokbench.metrics.correction import SURE
from tokbench.metrics.measurement import ALL
from tokbench.plots import data
from tokbench.plots.labels import run_labels
from tokbench.plots.losses import comparable
from tokbench.results import Run

BOLD = (
    "Bold: the best, and those that do not differ from it in the paired test over the same documents "
    "(p ≥ 0.05, corrected for everything compared on this text). Nothing is bold if the best was not tested "
    "against all others."
)


def best(
    run: Run, metric: str, dataset: str, better: str, values: Mapping[str, float], language: str = ALL
) -> frozenset[str]:
    """The tokenizers of `values` to show in bold, for one metric on one text.

    Only tokenizers that may be compared take part. Nothing is bold if one of them was not tested against the
    best, or if all are equal.
    """
    if better not in ("higher", "lower"):
        return frozenset()
    taking_part = [name for name in comparable(run, values) if values[name] == values[name]]
    if len({values[name] for name in taking_part}) < 2:
        return frozenset()
    sign = 1 if better == "higher" else -1
    first = max(taking_part, key=lambda name: sign * values[name])
    tests = data.p_values(run, metric, dataset, language)
    chances = {name: tests.get(frozenset((first, name))) for name in taking_part if name != first}
    if any(chance is None for chance in chances.values()):
        return frozenset()
    return frozenset(
        {first, *(name for name, chance in chances.items() if chance is not None and chance >= SURE)}
    )


def nothing_bold(run: Run, metrics: Iterable[str], dataset: str) -> str:
    """Why nothing is bold for these metrics of a dataset: no tests, or none of a best with all others."""
    pairs = {pair for metric in metrics for pair in data.p_values(run, metric, dataset)}
    if not pairs:
        return "Nothing is bold: no two figures here were tested against each other."
    said = "Nothing is bold: no column has one best figure, tested against all others."
    shared = frozenset.intersection(*pairs)
    if len(shared) != 1:
        return said
    return f"{said} Only pairs with {run_labels(run)[next(iter(shared))]} were tested."
