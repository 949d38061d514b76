"""Figures that compare languages: all languages of one parallel dataset under one tokenizer, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tokbench.metrics.computing import as_number, computed
from tokbench.metrics.intervals import intervals
from tokbench.metrics.measurement import Measurement
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import CONDITIONS, HIDDEN
from tokbench.metrics.resampling import Floats

if TYPE_CHECKING:
    from tokbench.metrics.cell import MeasuredCell
    from tokbench.metrics.context import MeasureContext


@dataclass(frozen=True, slots=True, eq=False)
class Languages:
    """Counts of the languages of one dataset: each float64 of shape ``(languages,)``, or for resamples
    ``(languages, resamples)``.

    `names` are the languages; `reference` the index of the one that premiums are relative to; `options` those
    of the metric, every one with its value.
    """

    COUNTERS: ClassVar[Mapping[str, str]] = {
        "tokens": "tokens", "bytes": "bytes", "lines": "documents", "chars": "chars"
    }  # fmt: skip
    """The counters of each language that are compared: on parallel text a document is a line."""

    names: tuple[str, ...]
    tokens: Floats
    bytes: Floats
    lines: Floats
    chars: Floats
    reference: int
    parallel: bool
    cells: tuple[MeasuredCell, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Sequence[MeasuredCell], context: MeasureContext) -> Languages:
        """The languages of the cells of one dataset; the cheapest is the reference where none is named."""
        names = tuple(cell.key.language for cell in cells)
        counts = cls._arrays([cell.counts for cell in cells])
        # a language that becomes unknown tokens is cheap for nothing: no reference for others
        hidden = np.array([cell.hides(HIDDEN) for cell in cells], np.bool_)
        usable = np.where(hidden & ~hidden.all(), np.inf, counts["tokens"])
        reference = int(np.argmin(usable)) if cells else -1
        if context.reference is not None:
            reference = names.index(context.reference) if context.reference in names else -1
        parallel = any(context.parallel.get(cell.key.dataset, False) for cell in cells)
        return cls(names, **counts, reference=reference, parallel=parallel, cells=tuple(cells))

    @classmethod
    def _arrays(cls, counts: Sequence[Any]) -> dict[str, Any]:
        """The counts of each language, or their resamples, as the fields that hold them."""
        return {
            name: np.array([getattr(each, counter) for each in counts], np.float64)
            for name, counter in cls.COUNTERS.items()
        }

    def resamples(self) -> Languages | None:
        """The same for resamples, which pair across languages by line; None without them."""
        again = [cell.resamples for cell in self.cells]
        if not again or None in again:
            return None
        return replace(self, **self._arrays(again), cells=())

    def problem(self, metric: Metric) -> str | None:
        """Why a metric of several languages is not defined here, or None.

        Only one that names ``several`` and not ``parallel`` among its needs takes any text.
        """
        parallel = compares(metric)
        if parallel and not self.parallel:
            return CONDITIONS["parallel"]
        if len(self.names) < 2:
            return CONDITIONS["several"]
        if parallel and len(set(self.lines.tolist())) > 1:
            fewest, most = int(self.lines.min()), int(self.lines.max())
            return f"the languages do not have the same lines ({fewest} to {most}), so they are not comparable"
        if (self.tokens == 0).any():
            return f"no tokens in {self.names[int((self.tokens == 0).argmax())]}"
        return None


def compares(metric: Metric) -> bool:
    """Whether a metric of several languages sets them against one another, which takes parallel text."""
    return "several" not in metric.needs or "parallel" in metric.needs


def across(languages: Languages, overall: MeasuredCell, metrics: Sequence[Metric]) -> list[Measurement]:
    """The rows of metrics of level ``languages``.

    A metric that gives one number has the row ``all`` and no others; one that gives a number per language has
    theirs, and says so in ``all``.
    """
    again = languages.resamples()
    rows: list[Measurement] = []
    figures: list[tuple[int, bool, Floats]] = []
    for metric in metrics:
        result, status, resampled = figure_of(metric, languages, again)
        each = metric.per_language
        for index, cell in enumerate([*(languages.cells if each else ()), overall]):
            one = cell is overall
            value, why, own = None, status, None
            if result is not None and each != one:
                value, why = as_number(result[index] if each else result)
                if resampled is not None:
                    own = np.asarray(resampled[index] if each else resampled, np.float64)
            elif result is not None:
                why = "undefined: a figure of single languages"
            n = cell.n_documents
            row = Measurement(*cell.key, metric.name, unit=metric.unit, value=value, n_documents=n, status=why)
            if own is not None and own.ndim == 1 and value is not None:
                figures.append((len(rows), compares(metric), own))
            rows.append(row)
    limits = intervals([values for *_, values in figures], overall.context.confidence, overall.n_groups)
    for (at, compared, _), limit in zip(figures, limits, strict=True):
        # a difference may be the same in every document; what else never varied may be rare
        if limit is not None and (compared or limit[0] < limit[1]):
            rows[at] = replace(rows[at], ci_low=limit[0], ci_high=limit[1])
    return rows


def figure_of(metric: Metric, languages: Languages, again: Languages | None) -> tuple[Any, str, Any]:
    """The figure of some languages (of each, if it is `per_language`), or None; its status; it on resamples.

    `again` are the languages' resamples. None as the last where there are none, or no figure.
    """
    problem = languages.problem(metric)
    if problem is not None:
        return None, f"undefined: {problem}", None
    result, status = computed(metric, replace(languages, options=metric.settings))
    if status == "ok" and not metric.per_language:
        result, status = as_number(result)
    if result is None or again is None or metric.no_interval:
        return result, status, None
    with np.errstate(all="ignore"):
        return result, status, computed(metric, replace(again, options=metric.settings))[0]
