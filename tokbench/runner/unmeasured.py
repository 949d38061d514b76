"""The rows of what failed, each with the reason; and which rows are left out because they would mislead.

Why a figure is undefined although nothing failed is determined in `tokbench.metrics.needs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tokbench.metrics.measurement import ALL, CellKey, Measurement
from tokbench.metrics.metric import Metric
from tokbench.results.cell import CellResult
from tokbench.runner.training.candidates import Candidate

if TYPE_CHECKING:
    from tokbench.runner.planning.plan import Plan  # workers do not need it


def failed_cells(
    plan: Plan, candidates: Sequence[Candidate], failures: Sequence[CellResult]
) -> dict[CellKey, str]:
    """Every cell without a tally, with the status of its rows."""
    why = {cell.key: cell.status for cell in failures}
    for candidate in candidates:
        if candidate.failure is not None and not candidate.skipped:
            for corpus in plan.corpora:
                for language in corpus.shards:
                    why[CellKey(candidate.entry.key, corpus.recipe.key, language)] = candidate.failure.status
    return why


def failure_rows(why: Mapping[CellKey, str], metrics: Sequence[Metric]) -> Iterator[Measurement]:
    """The rows of a failed cell, and of its dataset's totals, each with the reason."""
    in_totals = [metric for metric in metrics if metric.level != "vocabulary"]
    in_cells = [metric for metric in in_totals if metric.level != "languages" or metric.per_language]
    whole: dict[CellKey, list[str]] = {}
    for key, status in why.items():
        whole.setdefault(key._replace(language=ALL), []).append(status)
        for metric in in_cells:
            yield Measurement(*key, metric.name, unit=metric.unit, status=status)
    for key, statuses in whole.items():
        status = statuses[0] if len(statuses) == 1 else f"{statuses[0]} ({len(statuses)} languages failed)"
        for metric in in_totals:
            yield Measurement(*key, metric.name, unit=metric.unit, status=status)


def without_metric(
    metric: Metric, tokenizer: str, keys: Sequence[CellKey], status: str
) -> Iterator[Measurement]:
    """The rows of a metric that failed, for a tokenizer whose cells are `keys`."""
    totals = [CellKey(tokenizer, dataset, ALL) for dataset in dict.fromkeys(key.dataset for key in keys)]
    if metric.level == "vocabulary":
        keys, totals = [], [CellKey(tokenizer, "", ALL)]
    elif metric.level == "languages" and not metric.per_language:
        keys = []
    for key in [*keys, *totals]:
        yield Measurement(*key, metric.name, unit=str(metric.unit), status=status)


def whole_totals(rows: Iterable[Measurement], why: Mapping[CellKey, str]) -> Iterator[Measurement]:
    """`rows` without the totals of datasets of which a language is missing."""
    broken = {(key.tokenizer, key.dataset) for key in why}
    for row in rows:
        if row.language != ALL or (row.tokenizer, row.dataset) not in broken:
            yield row


def without_repeats(rows: Sequence[Measurement]) -> Iterator[Measurement]:
    """`rows` without those of languages that only repeat why the whole dataset has no figure."""
    why = {
        (row.tokenizer, row.dataset, row.metric): row.status
        for row in rows
        if row.language == ALL and row.status.startswith("undefined: ")
    }
    for row in rows:
        if row.language == ALL or why.get((row.tokenizer, row.dataset, row.metric)) != row.status:
            yield row
