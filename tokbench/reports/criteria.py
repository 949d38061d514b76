"""Each tokenizer's figure of each criterion of the decision, and how far chance bears on it.

A figure is on a ratio scale on which more is better: text per unit of price, the even share of languages, text
that fits, parameters left to the model, speed. So tokenizers compare by ratios, whose weighted logarithms add
up; how two compare does not depend on a third. Of several datasets each counts the same: their geometric mean.
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
"""Logarithms of ratios below this are those of equals."""


class Known(NamedTuple):
    """The figures of one criterion: `values` by tokenizer, more is better, above zero; `noise` of a pair.

    `noise(one, other)` is the standard error of the logarithm of their ratio, None where it is not known.
    `metric` says what it is made of, `datasets` of which text; `unsure` are those left out, of which
    it is not known how far chance bears.
    """

    values: Mapping[str, float]
    noise: Callable[[str, str], float | None]
    metric: str
    datasets: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


@data.remembered
def known_criteria(run: Run) -> dict[str, Known]:
    """The criteria that the run has figures for; losslessness is a condition and not among them."""
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
    """Whether two figures differ, and nothing tells by how much they may by chance."""
    return known.noise(one, other) is None and known.values[one] != known.values[other]


def _together(run: Run, of: Callable[[Run, str], Known | None]) -> Known | None:
    """A criterion over the datasets that have it, of the tokenizers that all of these have a figure of.

    A dataset of which it is not known how far chance bears decides nothing where there is another. The noise is
    the mean of theirs, as if they varied together, so that it is never too small.
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
    """What all of a run's text costs, by tokenizer; none of those without a price, or failed on some."""
    rows = data.overall(run, "cost")
    rows = rows[rows["dataset"].isin(data.natural_datasets(run))]
    sums = rows.groupby("tokenizer", sort=False)["value"].agg(["sum", "size"])
    return {str(name): float(row["sum"]) for name, row in sums.iterrows() if row["size"] == sums["size"].max()}


def unpriced_tokenizers(run: Run) -> list[str]:
    """The tokenizers that no price was given for; of one that failed everywhere that is not known."""
    rows = run.frame[run.frame["metric"] == "cost"]
    priced = set(rows.loc[rows["value"].notna(), "tokenizer"])
    told = set(rows.loc[~rows["status"].str.startswith("failed"), "tokenizer"])
    failed = set(rows["tokenizer"]) - told
    return [name for name in run.tokenizers if name not in priced | failed]


def _price(run: Run, dataset: str) -> Known | None:
    """Text per price where there are prices, whose noise is that of the tokens; else text per token."""
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
    """Text of the language that takes most tokens a line, on parallel text; else text per token."""
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
    values = {name: 1 / tokens for name, tokens in most.items() if tokens}  # one that gives none has no value
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
    """The standard error of a logarithm, from an interval so many of them wide."""
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

    A figure that never varies has no interval of its own (bytes are a byte a token). Where a baseline is all
    that others were paired with, the noise of two is at most what each has beside it, together.
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
