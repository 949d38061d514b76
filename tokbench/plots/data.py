"""The views of a run from which figures and reports are made: small pandas frames, no drawing.

Every function accepts any object with the attributes of `tokbench.results.Run` that it uses, mostly `frame`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from tokbench.metrics.context import CONFIDENCE
from tokbench.metrics.measurement import ALL
from tokbench.metrics.speed import METRICS
from tokbench.results import Run
from tokbench.wording import data_size

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

Given = ParamSpec("Given")
T = TypeVar("T")

TELLING_TOKENIZERS = 3
TELLING_TEXT = 100_000
"""With so many tokenizers, or so many bytes of text, figures say more than tables."""


def worth_drawing(run: Run) -> bool:
    """Whether a run is drawn without being asked: two tokenizers on a few pages give two dots and noise."""
    languages = [known for entry in run.manifest["datasets"] for known in entry["languages"].values()]
    n_bytes = sum(known.get("bytes") or 0 for known in languages)
    return len(run.tokenizers) >= TELLING_TOKENIZERS or n_bytes >= TELLING_TEXT


_remembered: dict[int, dict[Any, Any]] = {}


def remembered(function: Callable[Concatenate[Run, Given], T]) -> Callable[Concatenate[Run, Given], T]:
    """Cache the result of a function of a run for as long as its frame exists; neither must be changed.

    A report needs the same few rows hundreds of times: without the cache it took half as long again.
    """

    @wraps(function)
    def once(run: Run, /, *given: Given.args, **named: Given.kwargs) -> T:
        frame = run.frame
        if id(frame) not in _remembered:
            _remembered[id(frame)] = {}
            weakref.finalize(frame, _remembered.pop, id(frame), None)
        known, key = _remembered[id(frame)], (function, given, *named.items())
        if key not in known:
            known[key] = function(run, *given, **named)
        found: T = known[key]
        return found

    return once


@remembered
def _by_metric(run: Run) -> dict[str, pd.DataFrame]:
    measured = run.frame[run.frame["value"].notna()]
    return dict(iter(measured.groupby("metric", sort=False, observed=True)))


@remembered
def values(run: Run, metric: str, dataset: str | None = None) -> pd.DataFrame:
    """The measured rows of a metric (`value` is never null), on one dataset or on all."""
    rows = _by_metric(run).get(metric, run.frame.iloc[:0])
    return rows if dataset is None else rows[rows["dataset"] == dataset]


@remembered
def overall(run: Run, metric: str, dataset: str | None = None) -> pd.DataFrame:
    """The rows of a metric over all languages of a dataset: one per tokenizer (and dataset)."""
    rows = values(run, metric, dataset)
    return rows[rows["language"] == ALL]


def figures(run: Run, metric: str, dataset: str) -> dict[str, float]:
    """A metric over a whole dataset, by tokenizer."""
    rows = overall(run, metric, dataset)
    return {str(row.tokenizer): float(row.value) for row in rows.itertuples()}


def by_language(run: Run, metric: str, dataset: str) -> pd.DataFrame:
    """A metric as a table of languages (rows) by tokenizers (columns), in the run's order."""
    rows = values(run, metric, dataset)
    rows = rows[rows["language"] != ALL]
    table = rows.pivot_table(index="language", columns="tokenizer", values="value", aggfunc="first")
    order = [language for language in run.languages(dataset) if language in table.index]
    return table.reindex(index=order, columns=[name for name in run.tokenizers if name in table.columns])


def shaded(values: ArrayLike) -> tuple[float, float]:
    """The ends of a scale of shades, without the outermost hundredth, so that outliers do not flatten it.

    Example:
        >>> shaded([2.0, 1.0, 3.0]), shaded([*range(201), float("nan")])
        ((1.0, 3.0), (2.0, 198.0))
    """
    import numpy as np

    known = np.asarray(values, float)
    low, high = np.nanquantile(known, 0.01, method="lower"), np.nanquantile(known, 0.99, method="higher")
    return float(low), float(high)


def overall_intervals(run: Run, metric: str, dataset: str) -> dict[str, tuple[float, float]]:
    """The intervals of a metric over a whole dataset, by tokenizer; those without one are left out."""
    return {name: ends for (code, name), ends in intervals(run, metric, dataset).items() if code == ALL}


def intervals(run: Run, metric: str, dataset: str) -> dict[tuple[str, str], tuple[float, float]]:
    """The intervals of a metric by (language, tokenizer); those without one are left out."""
    rows = values(run, metric, dataset)
    rows = rows[rows["ci_low"].notna() & rows["ci_high"].notna()]
    return {
        (str(row.language), str(row.tokenizer)): (float(row.ci_low), float(row.ci_high))
        for row in rows.itertuples()
    }


def speed_metric(run: Run) -> str:
    """The speed metric shown first: that of one pass over new text, or else that of text encoded before."""
    first = "encode_speed_cold"
    return first if len(overall(run, first)) else "encode_speed"


def speeds(run: Run) -> pd.DataFrame:
    """The rows of `speed_metric` on `timed_dataset`, by tokenizer."""
    return overall(run, speed_metric(run), timed_dataset(run)).set_index("tokenizer")


def timed_dataset(run: Run) -> str:
    """The dataset whose speeds are shown: the main one if it was timed, else the first that was; else empty."""
    timed = list(overall(run, speed_metric(run))["dataset"])
    main = main_dataset(run)
    return main if main in timed or not timed else str(timed[0])


_SPEEDS = frozenset(metric.name for metric in METRICS)


def level(run: Run, metric: str) -> str:
    """The confidence of a run's intervals of a metric; those of speeds are always at 95 %."""
    return f"{100 * CONFIDENCE:.6g} %" if metric in _SPEEDS else run.level


def levels(run: Run) -> str:
    """The confidence of a run's intervals, in words."""
    timed = level(run, speed_metric(run))
    return run.level if timed == run.level or speeds(run).empty else f"{run.level} (of speeds {timed})"


def first_pass(run: Run, dataset: str) -> str:
    """The amount of text in a first pass over a dataset: "one pass over 8 MB never seen"; empty without one."""
    summary = (run.manifest.get("speed") or {}).get("summary", [])
    sizes = [row["n_bytes"] for row in summary if (row["dataset"], row["state"]) == (dataset, "cold")]
    size = max(sizes, default=0)
    return f"one pass over {data_size(size)} never seen" if size else ""


def shown_pass(run: Run, dataset: str) -> str:
    """What `speed_metric` timed: the text of `first_pass`, or "batches of text met before"."""
    cold = speed_metric(run) == "encode_speed_cold"
    return first_pass(run, dataset) if cold else "batches of text met before"


def busy(run: Run) -> str:
    """A sentence if other processes used the machine while speeds were timed; else empty."""
    notes = (run.manifest.get("speed") or {}).get("notes", [])
    return f"Speeds are uncertain: {'; '.join(notes)}." if notes else ""


@remembered
def main_dataset(run: Run) -> str:
    """The dataset that a report starts with: a parallel one if there is one, with the most languages."""
    parallel = parallel_datasets(run)
    return max(run.datasets, key=lambda name: (name in parallel, len(run.languages(name))), default="")


@remembered
def parallel_datasets(run: Run) -> list[str]:
    """The datasets in which languages were compared, because their lines say the same."""
    there = set(values(run, "premium")["dataset"]) | set(values(run, "gini")["dataset"])
    return [name for name in run.datasets if name in there]


def natural_datasets(run: Run) -> list[str]:
    """The datasets to rank on, the main one first; without corpora of hard cases."""
    main = main_dataset(run)
    rest = [name for name in run.datasets if name != main and not facts_of(run, name).get("hard_cases")]
    return ([main] if main else []) + rest


def differences(run: Run, metric: str, dataset: str, language: str = ALL) -> pd.DataFrame:
    """The rows of `comparisons.parquet` for a metric: the paired differences of all pairs compared."""
    table = run.comparisons
    if not len(table):
        return table
    here = (table["dataset"] == dataset) & (table["language"] == language)
    return table[(table["metric"] == metric) & here]


def known_difference(run: Run, metric: str, dataset: str, one: str, other: str) -> Any:
    """The paired difference of two tokenizers over a whole dataset, in either direction; None without one."""
    rows = differences(run, metric, dataset)
    if not len(rows):
        return None
    rows = rows[rows["tokenizer"].isin([one, other]) & rows["baseline"].isin([one, other])]
    return None if rows.empty else rows.iloc[0]


def p_values(run: Run, metric: str, dataset: str, language: str = ALL) -> dict[frozenset[str], float]:
    """The corrected p-values of a metric's paired differences, by pair; without untested pairs."""
    return {
        frozenset((row.tokenizer, row.baseline)): float(row.p_adjusted)
        for row in differences(run, metric, dataset, language).itertuples()
        if row.p_adjusted is not None and row.p_adjusted == row.p_adjusted
    }


def main_metric(run: Run, dataset: str) -> str:
    """The metric that ranks tokenizers on a dataset: compression, with several languages their mean."""
    macro = "compression_ratio_macro"
    return macro if len(overall(run, macro, dataset)) else "compression_ratio"


def ranked(run: Run, metric: str, dataset: str, *, higher: bool = True) -> pd.DataFrame:
    """The overall rows of a metric, best first."""
    return overall(run, metric, dataset).sort_values("value", ascending=not higher, kind="stable")


def dataset_entry(run: Run, dataset: str) -> Mapping[str, Any]:
    """The manifest's entry of a dataset; empty if there is none."""
    return next((entry for entry in run.manifest.get("datasets", []) if entry["spec"] == dataset), {})


def facts_of(run: Run, dataset: str) -> Mapping[str, Any]:
    """The facts that a dataset states about itself."""
    return dataset_entry(run, dataset).get("facts") or {}


def kind(run: Run, dataset: str) -> str:
    """Whether a dataset is "text" or "code", whose languages are programming languages."""
    return str(dataset_entry(run, dataset).get("kind", "text"))
