"""Is one tokenizer better than another, beyond chance? Paired bootstrap differences with Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.intervals import holm, intervals, p_value
from tokbench.metrics.measure import ALL, Cell, figures_of, unit_of, value_of
from tokbench.metrics.metric import CellKey, Metric
from tokbench.metrics.needs import missing_need
from tokbench.metrics.resampling import Resampler
from tokbench.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """`tokenizer` minus `baseline` in one metric on the same documents.

    `value` is the difference, `ratio` the quotient of the two figures (None where the baseline's is 0). `p` is
    two-sided; `p_holm` is corrected over all pairs and datasets compared in this metric and language. Nulls
    have their reason in `status`.
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
    p_holm: float | None = None
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
    less than the figures do. Metrics of level ``cell`` that have intervals are compared, on all languages
    together and, with `per_language`, on each (many tokenizers on many languages make very many rows).
    ``pandas.DataFrame(differences(…))`` is the frame.
    """
    compared = [metric for metric in metrics if metric.level == "cell" and metric.better != "none"]
    rows: list[Difference] = []
    resampler = Resampler(context.seed, context.replicates)
    for dataset in dict.fromkeys(key.dataset for key in cells):
        tokenizers = list(dict.fromkeys(key.tokenizer for key in cells if key.dataset == dataset))
        languages = list(
            dict.fromkeys(key.language for key in cells if key.dataset == dataset and key.language != ALL)
        )
        for language in [*(languages if per_language else ()), ALL]:
            found = _cells(cells, tokenizers, dataset, language, languages, context, resampler)
            rows += _pairs(found, compared, context)
    return _corrected(rows)


def _cells(
    cells: Mapping[CellKey, Tally],
    tokenizers: Sequence[str],
    dataset: str,
    language: str,
    languages: Sequence[str],
    context: MeasureContext,
    resampler: Resampler,
) -> dict[str, Cell]:
    """The cells of one language (or of all together) by tokenizer, where there are any."""
    found: dict[str, Cell] = {}
    for tokenizer in tokenizers:
        wanted = [CellKey(tokenizer, dataset, each) for each in (languages if language == ALL else [language])]
        if all(key in cells for key in wanted):
            tally = Tally.sum(cells[key] for key in wanted)
            found[tokenizer] = Cell(CellKey(tokenizer, dataset, language), tally, context, resampler)
    return found


def _pairs(found: Mapping[str, Cell], metrics: Sequence[Metric], context: MeasureContext) -> list[Difference]:
    import numpy as np

    names = list(found)
    if context.baseline is not None:
        pairs = [
            (name, context.baseline) for name in names if name != context.baseline and context.baseline in found
        ]
    else:
        pairs = [(b, a) for a, b in combinations(names, 2)]
    figures = {(name, metric.name): _figure(found[name], metric) for name in names for metric in metrics}
    with np.errstate(all="ignore"):
        again = {
            key: figures_of(metric, [resamples])
            for name in names
            if (resamples := found[name].resamples) is not None
            for metric in metrics
            if figures[key := (name, metric.name)][0] is not None and not metric.no_interval
        }
    rows: list[Difference] = []
    for one, other in pairs:
        rows += _between(found[one], found[other], metrics, figures, again)
    return rows


def _figure(cell: Cell, metric: Metric) -> tuple[float | None, str]:
    missing = missing_need(metric, [cell.counts])
    return (None, missing) if missing else value_of(metric, [cell.counts])


def _between(
    one: Cell,
    other: Cell,
    metrics: Sequence[Metric],
    figures: Mapping[tuple[str, str], tuple[float | None, str]],
    again: Mapping[tuple[str, str], Figures | None],
) -> list[Difference]:
    """Every metric of two tokenizers on the same documents."""
    rows: list[Difference] = []
    apart: dict[int, Figures] = {}
    for metric in metrics:
        (value, status), (base, why) = (figures[each.key.tokenizer, metric.name] for each in (one, other))
        row = Difference(
            tokenizer=one.key.tokenizer,
            baseline=other.key.tokenizer,
            dataset=one.key.dataset,
            language=one.key.language,
            metric=metric.name,
            unit=unit_of(metric, one.counts),
            n_documents=one.n_documents,
        )
        if value is None or base is None:
            rows.append(replace(row, status=status if value is None else f"{why} (in the baseline)"))
            continue
        mine, theirs = (again.get((each.key.tokenizer, metric.name)) for each in (one, other))
        if mine is not None and theirs is not None:
            difference = apart[len(rows)] = mine - theirs
            # a difference of rounding alone is none
            difference[abs(difference) <= 1e-12 * (abs(mine) + abs(theirs))] = 0.0
        rows.append(replace(row, value=value - base, ratio=value / base if base else None))
    limits = intervals(list(apart.values()), one.context.confidence)
    for (index, difference), limit in zip(apart.items(), limits, strict=True):
        low, high = limit or (None, None)
        rows[index] = replace(rows[index], ci_low=low, ci_high=high, p=p_value(difference))
    return rows


def _corrected(rows: Sequence[Difference]) -> list[Difference]:
    """`rows` with Holm's correction over each metric and language."""
    families: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        if row.p is not None:
            families.setdefault((row.metric, row.language), []).append(index)
    result = list(rows)
    for indices in families.values():
        for index, corrected in zip(indices, holm([float(rows[i].p or 0) for i in indices]), strict=True):
            result[index] = replace(result[index], p_holm=corrected)
    return result
