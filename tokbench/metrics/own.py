"""Metrics with options or counters of their own: how these are counted, and what `compute` is given of them.

In a tally such a counter stands as ``METRIC:OPTIONS.NAME``; the metric itself reads it as ``t.NAME``.
"""

from __future__ import annotations

from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import Metric
from tokbench.tally.own import OwnCounting


def scoped(metric: Metric, counts: Counts) -> Counts:
    """The counts as `metric` sees them: its counters by their names, and `options` with every option's value.

    Example:
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
    if not (metric.counters or metric.options):
        return counts
    known = vars(counts)
    own = {name: known[f"{metric.name}.{name}"] for name in metric.counters if f"{metric.name}.{name}" in known}
    return type(counts)(**{**known, **own, "options": metric.settings})


def counting_of(metric: Metric) -> OwnCounting | None:
    """How a metric counts, for those that do."""
    if metric.count is None:
        return None
    return OwnCounting(metric.name, tuple(metric.counters), metric.count, metric.settings)
