"""Is one tokenizer better than another beyond chance? Paired differences, corrected for how many there are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tokbench.metrics.cell import Evaluated, MeasuredCell, evaluate
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.correction import Correction, Significance
from tokbench.metrics.intervals import intervals
from tokbench.metrics.languages import Languages, figure_of
from tokbench.metrics.measurement import ALL, CellKey
from tokbench.metrics.metric import Metric
from tokbench.metrics.resampling import Floats
from tokbench.metrics.units import unit_of
from tokbench.tally.tally import Tally


@dataclass(frozen=True, slots=True)
class Difference:
    """`tokenizer` minus `baseline` in one metric on the same documents.

    `value` is the difference, `ratio` the quotient of the two figures (None where the baseline's is 0). `p` is
    two-sided; `p_adjusted` holds for everything compared on this dataset at once: all pairs, metrics and
    languages (`tokbench.metrics.correction`). Nulls have their reason in `status`.
    """

    tokenizer: str
    baseline: str
    dataset: str
    language: str
    metric: str
    unit: str
    value: float | None = None
    ratio: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n_documents: int = 0
    status: str = "ok"


def differences(
    cells: Mapping[CellKey, Tally],
    metrics: Sequence[Metric],
    *,
    context: MeasureContext,
    per_language: bool = True,
) -> list[Difference]:
    """Every tokenizer against the baseline, or every pair where no baseline is named.

    Both see the same documents, so each resample gives both the same weights and the difference varies far
    less than the figures do. Metrics that have intervals are compared: those of level ``cell`` on all languages
    together and, with `per_language`, on each (many tokenizers on many languages make very many rows); those of
    level ``languages`` that give one number for all of them.
    ``pandas.DataFrame(differences(…))`` is the frame.
    """
    compared = [metric for metric in metrics if metric.level == "cell" and metric.better != "none"]
    together = [
        metric
        for metric in metrics
        if metric.level == "languages" and not metric.per_language and metric.better in ("higher", "lower")
    ]
    rows: list[Difference] = []
    for dataset in dict.fromkeys(key.dataset for key in cells):
        tokenizers = list(dict.fromkeys(key.tokenizer for key in cells if key.dataset == dataset))
        languages = list(
            dict.fromkeys(key.language for key in cells if key.dataset == dataset and key.language != ALL)
        )
        correction, here = Correction(), list[tuple[Difference, Significance | None]]()
        for language in [*(languages if per_language else ()), ALL]:
            keys = [CellKey(tokenizer, dataset, language) for tokenizer in tokenizers]
            measured = [MeasuredCell.of(cells, key, languages, context) for key in keys]
            found = {cell.key.tokenizer: cell for cell in measured if cell is not None}
            with np.errstate(all="ignore"):
                figures = {
                    (name, metric.name): evaluate(metric, (cell,))
                    for name, cell in found.items()
                    for metric in compared
                }
            if language == ALL:
                figures |= _across(cells, list(found), dataset, languages, together, context)
            kinds = [*compared, *(together if language == ALL else ())]
            for one, other in _pairs(list(found), context.baseline):
                here += _differences_of(found[one], found[other], kinds, figures, correction)
        rows += [
            row if test is None else replace(row, p=test.p, p_adjusted=correction.adjusted(test))
            for row, test in here
        ]
    return rows


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Every tokenizer with the baseline, or every pair where no baseline is named."""
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(names, 2)]
    return [(name, baseline) for name in names if name != baseline and baseline in names]


def _across(
    cells: Mapping[CellKey, Tally],
    tokenizers: Sequence[str],
    dataset: str,
    names: Sequence[str],
    metrics: Sequence[Metric],
    context: MeasureContext,
) -> dict[tuple[str, str], Evaluated]:
    """The figures of several languages together, by tokenizer and metric."""
    found: dict[tuple[str, str], Evaluated] = {}
    for tokenizer in tokenizers if metrics and len(names) > 1 else ():
        some = []
        for language in names:
            key = CellKey(tokenizer, dataset, language)
            some.append(MeasuredCell(key, cells[key], context))
            some[-1].keep_only(Languages.COUNTERS.values())
        languages = Languages.of(some, context)
        again = languages.resamples()
        for metric in metrics:
            value, status, drawn = figure_of(metric, languages, again)
            figures = None if drawn is None else np.asarray(drawn, np.float64)
            found[tokenizer, metric.name] = Evaluated(metric.unit, value, status, figures)
    return found


def _differences_of(
    one: MeasuredCell,
    other: MeasuredCell,
    metrics: Sequence[Metric],
    figures: Mapping[tuple[str, str], Evaluated],
    correction: Correction,
) -> list[tuple[Difference, Significance | None]]:
    """Every metric of two tokenizers on the same documents, and how the difference was tested."""
    rows: list[Difference] = []
    apart: dict[int, Floats] = {}  # by row, the difference on every resample
    for metric in metrics:
        if (one.key.tokenizer, metric.name) not in figures:
            continue  # of several languages, where there is one
        own, base = (figures[each.key.tokenizer, metric.name] for each in (one, other))
        row = Difference(
            tokenizer=one.key.tokenizer,
            baseline=other.key.tokenizer,
            dataset=one.key.dataset,
            language=one.key.language,
            metric=metric.name,
            unit=unit_of(metric, one.counts),
            n_documents=one.n_documents,
        )
        if own.value is None or base.value is None:
            why = own.status if own.value is None else f"{base.status} (in the baseline)"
            rows.append(replace(row, status=why))
            continue
        change, ratio = own.value - base.value, own.value / base.value if base.value else math.nan
        if not math.isfinite(change):
            rows.append(replace(row, status="undefined: not a finite number"))
            continue
        if own.again is not None and base.again is not None:
            with np.errstate(all="ignore"):
                difference = apart[len(rows)] = own.again - base.again
                # a difference of rounding alone is none
                difference[abs(difference) <= 1e-12 * (abs(own.again) + abs(base.again))] = 0.0
        rows.append(replace(row, value=change, ratio=ratio if math.isfinite(ratio) else None))
    limits = intervals(list(apart.values()), one.context.confidence, one.n_groups)
    for index, limit in zip(apart, limits, strict=True):
        low, high = limit or (None, None)
        rows[index] = replace(rows[index], ci_low=low, ci_high=high)
    return [(row, correction.add(apart[index]) if index in apart else None) for index, row in enumerate(rows)]
