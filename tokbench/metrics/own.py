"""What a metric with options, or with counters of its own, sees of the counts: these by its own names."""

from __future__ import annotations

from typing import Any

from tokbench.metrics.metric import Metric
from tokbench.tally.own import Counting


def scoped(metric: Metric, counts: Any) -> Any:
    """The counts as `metric` sees them: its counters by their names, and `options` with every option's value.

    Example:
        >>> from tokbench.metrics.counts import Counts
        >>> from tokbench.spec import Option, Spec
        >>> long = Metric(name="long", unit="share", better="none", summary="Long words.", needs=("words",),
        ...               counters={"long": "long words"}, options=(Option("least", "int", 8),),
        ...               count=lambda texts, options: [0 for text in texts],
        ...               compute=lambda t: t.long / t.words)
        >>> asked = long.asked_as(Spec.parse("long:least=9"))
        >>> seen = scoped(asked, Counts(words=10, **{"long:least=9.long": 3}))
        >>> seen.long, seen.words, seen.options
        (3, 10, {'least': 9})
    """
    return _Seen(metric, counts) if metric.counters or metric.options else counts


class _Seen:
    """Counts seen through the names of one metric; the rest is as it is."""

    __slots__ = ("_counts", "_metric", "options")

    def __init__(self, metric: Metric, counts: Any) -> None:
        self._metric, self._counts, self.options = metric, counts, metric.settings

    def __getattr__(self, name: str) -> Any:
        if name in self._metric.counters:
            name = f"{self._metric.name}.{name}"
        return getattr(self._counts, name)

    def one(self, index: int) -> _Seen:
        """One resample alone."""
        return _Seen(self._metric, self._counts.one(index))


def counting_of(metric: Metric) -> Counting | None:
    """How a metric counts, for those that do."""
    if metric.count is None:
        return None
    return Counting(metric.name, tuple(metric.counters), metric.count, metric.settings)
