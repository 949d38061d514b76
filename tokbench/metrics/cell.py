"""One cell under evaluation: its counts, those of its resamples, and metrics of both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tokbench.metrics.computing import figures_of, value_of
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts
from tokbench.metrics.from_tally import ESTIMATED, as_counted, errors_of, known_of, resampled
from tokbench.metrics.intervals import Interval, binomial_limits, intervals
from tokbench.metrics.measurement import ALL, CellKey, Measurement
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import CONDITIONS
from tokbench.metrics.resampling import Floats
from tokbench.metrics.units import unit_of
from tokbench.tally.counters import GROUPS
from tokbench.tally.tally import Tally


class MeasuredCell:
    """One tally under evaluation: its counts, and their resamples (None if none were asked for)."""

    def __init__(
        self, key: CellKey, tally: Tally, context: MeasureContext, languages: Sequence[str] = ()
    ) -> None:
        self.key = key
        self.context = context
        known = known_of(key, context, languages or [key.language])
        self.counts = as_counted(tally, known)
        self.faults = tally.own.faults
        self.n_documents = tally.documents
        self.n_groups = tally.clusters
        self.resamples = resampled(tally, key, context, known)

    @classmethod
    def of(
        cls, cells: Mapping[CellKey, Tally], key: CellKey, languages: Sequence[str], context: MeasureContext
    ) -> MeasuredCell | None:
        """The cell of `key`, or None; the cell of all languages together is the sum of those of `languages`."""
        chosen = [key._replace(language=each) for each in languages] if key.language == ALL else [key]
        if not chosen or not all(each in cells for each in chosen):
            return None
        return cls(key, Tally.sum(cells[each] for each in chosen), context, [each.language for each in chosen])

    def of_this_text(self) -> Counts:
        """The counts of this text as resamples in which only estimated token counts vary."""
        known = vars(self.counts)
        n = self.context.replicates + GROUPS + 1
        same = {name: np.full(n, float(known[name])) for name in ESTIMATED}
        if self.counts.estimated:
            same["tokens"] *= errors_of(self.key, self.context)
        return Counts(**{**known, **same})

    def hides(self, share: float) -> bool:
        """Whether unknown tokens are known to hide more than this share of the text."""
        return bool(vars(self.counts).get("unk_chars", 0) > share * self.counts.chars)

    def keep_only(self, names: Iterable[str]) -> None:
        """Drop n-grams, and resamples except those of `names`, to save memory with many languages."""
        vars(self.counts).pop("ngrams", None)
        if self.resamples is not None:
            # copies, since a view would keep the larger array alive
            kept = {name: getattr(self.resamples, name).copy() for name in names}
            self.resamples = Counts(**kept, **known_of(self.key, self.context, [self.key.language]))

    def rows(
        self, metrics: Sequence[Metric], relative: Sequence[Metric], base: MeasuredCell | None
    ) -> list[Measurement]:
        """The rows of this cell, for metrics of one tokenizer and for those relative to a baseline's."""
        with np.errstate(all="ignore"):  # once here, because it takes as long as a figure
            own = [(metric, evaluate(metric, (self,))) for metric in metrics]
            found = [*own, *((metric, evaluate(metric, (self, base))) for metric in relative)]
        drawn = [each.again for _, each in found if each.again is not None]
        limits = iter(intervals(drawn, self.context.confidence, self.n_groups))
        n, rows = self.n_documents, []
        for index, (metric, (unit, value, status, again, known)) in enumerate(found):
            limit = known if again is None else next(limits)
            if again is not None and index < len(own) and (limit is None or not limit[0] < limit[1]):
                limit = self._of_all_alike(unit, value)
            row = Measurement(*self.key, metric.name, value=value, unit=unit, n_documents=n, status=status)
            rows.append(row if limit is None else replace(row, ci_low=limit[0], ci_high=limit[1]))
        return rows

    def _of_all_alike(self, unit: str, value: float | None) -> Interval | None:
        """The interval of a figure that never varied: only shares of several documents have one."""
        if unit == "share of documents" and value in (0, 1) and self.n_groups > 1:
            return binomial_limits(value == 1, self.n_groups, self.context.confidence)
        return None


class Evaluated(NamedTuple):
    """A metric of a cell: its unit, its value (or None, and `status` says why), and `again` on every resample.

    `limits` is its interval if that does not come from resamples.
    """

    unit: str
    value: float | None
    status: str
    again: Floats | None = None
    limits: Interval | None = None


def _percentiles(figures: Floats | None, context: MeasureContext) -> Interval | None:
    """The interval of figures that differ only by the error of an estimate; None if they do not differ."""
    if figures is None or not context.replicates:
        return None
    ends = (1 - context.confidence) / 2, (1 + context.confidence) / 2
    low, high = map(float, np.quantile(figures[: context.replicates], ends))
    return (low, high) if low < high < math.inf else None


def evaluate(metric: Metric, cells: Sequence[MeasuredCell | None]) -> Evaluated:
    """A metric of some cells: one, or one and the baseline's."""
    cell = cells[0]
    assert cell is not None
    unit = unit_of(metric, cell.counts)
    some = [each for each in cells if each is not None]
    if len(some) < len(cells):
        return Evaluated(unit, None, f"undefined: {CONDITIONS['baseline']}")
    fault = next((each.faults[metric.name] for each in some if metric.name in each.faults), None)
    if fault is not None:
        return Evaluated(unit, None, f"failed: {fault}")
    counts = [each.counts.of_metric(metric) for each in some]
    value, status = value_of(metric, counts)
    if value is None:
        return Evaluated(unit, None, status)
    if metric.no_interval:
        if not any(each.estimated for each in counts):
            return Evaluated(unit, value, status)
        # the text is fixed: only the number of tokens is uncertain
        erring = figures_of(metric, [each.of_this_text().of_metric(metric) for each in some])
        return Evaluated(unit, value, status, limits=_percentiles(erring, cell.context))
    again = [each.resamples.of_metric(metric) for each in some if each.resamples is not None]
    return Evaluated(unit, value, status, figures_of(metric, again) if len(again) == len(some) else None)
