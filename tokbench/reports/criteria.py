"""The figure of each tokenizer for each criterion of the decision, and its standard error.

Figures are on a ratio scale on which more is better: text per unit of price, evenness over languages, text that
fits a context, parameters left for the model, speed. So tokenizers are compared by ratios, whose weighted
logarithms are added; how two compare does not depend on a third. Several datasets count equally, by their
geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from statistics import NormalDist, fmean
from typing import NamedTuple

from tokbench.metrics.context import CONFIDENCE
from tokbench.plots import data
from tokbench.results import Run

EQUAL = 1e-12
"""Figures whose logarithms differ by less are equal."""


class Known(NamedTuple):
    """The figures of one criterion: `values` by tokenizer, above zero, where more is better.

    `noise(one, other)` is the standard error of the logarithm of the ratio of two figures, None if it is not
    known. `metric` and `datasets` say what the figures come from; `unsure` are datasets left out because the
    error of their figures is not known.
    """

    values: Mapping[str, float]
    noise: Callable[[str, str], float | None]
    metric: str
    datasets: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


@data.remembered
def known_criteria(run: Run) -> dict[str, Known]:
    """The criteria that the run has figures for, without losslessness, which is a condition."""
    found = {
        "price": _together(run, _price),
        "fairness": _together(run, _fairness),
        "context": _together(run, _context),
        "embedding": _embedding(run),
        "speed": _together(run, _speed),
    }
    return {name: known for name, known in found.items() if known is not None}


def level_of(name: str, active: Mapping[str, float], known: Mapping[str, Known]) -> float:
    """The weighted mean of the logarithms of a tokenizer's figures."""
    total = sum(active.values())
    return sum(weight * math.log(known[key].values[name]) for key, weight in active.items()) / total


def noise_unknown(known: Known, one: str, other: str) -> bool:
    """Whether two figures differ although the standard error of their ratio is not known."""
    return known.noise(one, other) is None and known.values[one] != known.values[other]


def _together(run: Run, of: Callable[[Run, str], Known | None]) -> Known | None:
    """A criterion over all datasets that have it, for the tokenizers with a figure on each of them.

    A dataset with unknown errors is left out if there is another. The noise is the mean of the datasets' noise,
    as if they varied together, so that it is never too small.
    """
    found = {name: known for name in data.natural_datasets(run) if (known := of(run, name)) and known.values}
    if not found:
        return None
    parts = {name: known for name, known in found.items() if _noise_known(known)} or found
    first, *others = parts.values()
    unsure = tuple(name for name in found if name not in parts)
    if not others:
        return first._replace(datasets=tuple(parts), unsure=unsure)
    names = [name for name in first.values if all(name in part.values for part in others)]
    values = {name: math.exp(fmean(math.log(part.values[name]) for part in parts.values())) for name in names}

    def noise(one: str, other: str) -> float | None:
        each = [part.noise(one, other) for part in parts.values()]
        return fmean(known for known in each if known is not None) if None not in each else None

    metric = " and ".join(dict.fromkeys(part.metric for part in parts.values()))
    return Known(values, noise, metric, tuple(parts), unsure) if values else None


def _noise_known(known: Known) -> bool:
    return any(known.noise(one, other) is not None for one, other in combinations(known.values, 2))


def costs(run: Run) -> dict[str, float]:
    """The cost of all of a run's text by tokenizer, without those that have no price or failed on some."""
    rows = data.overall(run, "cost")
    rows = rows[rows["dataset"].isin(data.natural_datasets(run))]
    sums = rows.groupby("tokenizer", sort=False)["value"].agg(["sum", "size"])
    return {str(name): float(row["sum"]) for name, row in sums.iterrows() if row["size"] == sums["size"].max()}


def unpriced_tokenizers(run: Run) -> list[str]:
    """The tokenizers without a price; not those that failed everywhere, of which this is not known."""
    rows = run.frame[run.frame["metric"] == "cost"]
    priced = set(rows.loc[rows["value"].notna(), "tokenizer"])
    told = set(rows.loc[~rows["status"].str.startswith("failed"), "tokenizer"])
    failed = set(rows["tokenizer"]) - told
    return [name for name in run.tokenizers if name not in priced | failed]


def _price(run: Run, dataset: str) -> Known | None:
    """Text per price if there are prices (with the noise of tokens), else text per token."""
    metric = data.main_metric(run, dataset)
    noise = _paired(run, metric, dataset)
    known, here = costs(run), data.figures(run, "cost", dataset)
    values = {name: 1 / here[name] for name in known if here.get(name)}
    if len(known) > 1 and len(values) == len(known):
        return Known(values, noise, "cost")
    return Known(data.figures(run, metric, dataset), noise, metric)


def _fairness(run: Run, dataset: str) -> Known | None:
    ginis = data.figures(run, "gini", dataset)
    values = {name: 1 - value for name, value in ginis.items() if value < 1}
    return Known(values, _paired(run, "gini", dataset, of=values), "gini") if values else None


def _context(run: Run, dataset: str) -> Known | None:
    """Text per token of the language with the most tokens per line on parallel text; else of all text."""
    table = data.by_language(run, "tokens_per_line", dataset)
    parallel = len(data.overall(run, "gini", dataset)) > 0
    if not parallel or len(table) < 2:
        values, noise = (
            data.figures(run, "compression_ratio", dataset),
            _paired(run, "compression_ratio", dataset),
        )
        return Known(values, noise, "compression_ratio")
    table = table.dropna(axis=1)
    worst = {str(name): str(table[name].idxmax()) for name in table}
    most = {name: float(table.at[language, name]) for name, language in worst.items()}
    values = {name: 1 / tokens for name, tokens in most.items() if tokens}  # without tokens there is no value
    ends = data.intervals(run, "tokens_per_line", dataset)
    spread = _spread(run.confidence)
    errors = {
        name: _error(ends.get((language, name)), spread) for name, language in worst.items() if name in values
    }
    return Known(values, _apart(errors), "tokens_per_line")


def _embedding(run: Run) -> Known | None:
    shares = data.figures(run, "embedding_share", "")
    values = {name: 1 - share for name, share in shares.items() if share < 1}
    return Known(values, lambda one, other: 0.0, "embedding_share") if values else None


def _speed(run: Run, dataset: str) -> Known | None:
    metric = data.speed_metric(run)
    ends = data.overall_intervals(run, metric, dataset)
    noise = _apart({name: _error(pair, _spread(CONFIDENCE)) for name, pair in ends.items()})
    return Known(data.figures(run, metric, dataset), noise, metric)


def _spread(confidence: float) -> float:
    """How many standard errors wide an interval is."""
    return 2 * NormalDist().inv_cdf((1 + confidence) / 2)


def _error(ends: tuple[float, float] | None, spread: float) -> float | None:
    """The standard error of a logarithm, from an interval that is `spread` standard errors wide."""
    if ends is None or not 0 < ends[0] <= ends[1] < math.inf:
        return None
    return math.log(ends[1] / ends[0]) / spread


def _apart(errors: Mapping[str, float | None]) -> Callable[[str, str], float | None]:
    """The noise of a pair whose figures were measured independently."""

    def noise(one: str, other: str) -> float | None:
        a, b = errors.get(one), errors.get(other)
        return None if a is None or b is None else math.hypot(a, b)

    return noise


def _paired(
    run: Run, metric: str, dataset: str, of: Mapping[str, float] | None = None
) -> Callable[[str, str], float | None]:
    """The noise of a pair by the paired interval of their difference, else by their own intervals.

    A figure that never varies has no interval (the tokenizer `bytes` has one byte per token). If tokenizers
    were paired only with a baseline, the noise of two is at most the sum of their noise against the baseline.
    """
    values = data.figures(run, metric, dataset) if of is None else of
    own = data.overall_intervals(run, metric, dataset)
    spread = _spread(run.confidence)
    widths = {name: (ends[1] - ends[0]) / spread / values[name] for name, ends in own.items() if name in values}
    alone = _apart(widths)
    baseline: str = run.manifest.get("baseline") or ""

    def paired(one: str, other: str) -> float | None:
        row = data.known_difference(run, metric, dataset, one, other)
        if row is None or not (math.isfinite(row["ci_low"]) and math.isfinite(row["ci_high"])):
            return None
        return float(row["ci_high"] - row["ci_low"]) / spread / math.sqrt(values[one] * values[other])

    def noise(one: str, other: str) -> float | None:
        found = paired(one, other)
        if found is None:
            found = alone(one, other)
        if found is None and baseline in values:
            a, b = paired(one, baseline), paired(other, baseline)
            found = None if a is None or b is None else a + b
        return found

    return noise
