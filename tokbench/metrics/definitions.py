"""Definitions of metrics as data, so that a run explains its figures even without the plugin of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import NEEDS

_CODE = ("compute", "count", "counters", "options", "given")
_TEXTS = tuple(field.name for field in fields(Metric) if field.name not in _CODE)


def with_orders(metrics: Sequence[Metric], alphas: Sequence[float]) -> list[Metric]:
    """The metrics, with Rényi efficiency at the further orders asked for after the one at 2.5."""
    from tokbench.metrics.information import renyi_metric

    more = {metric.name: metric for metric in (renyi_metric(alpha) for alpha in alphas if alpha != 2.5)}
    found: list[Metric] = []
    for metric in metrics:
        found.append(metric)
        if metric.name == "renyi_efficiency":
            found += more.values()
    return found


def described(metrics: Iterable[Metric]) -> list[dict[str, Any]]:
    """The metrics outside tokbench's catalogue as JSON, which is everything but their code."""
    from tokbench.metrics.catalogue import CATALOGUE

    own = {metric.name for metric in CATALOGUE}
    return [{name: getattr(metric, name) for name in _TEXTS} for metric in metrics if metric.name not in own]


def defined(descriptions: Iterable[Mapping[str, Any]]) -> dict[str, Metric]:
    """The catalogue and the metrics that `described` told of, by name. The latter cannot be computed again.

    Example:
        >>> mine = Metric(name="mine", unit="x", better="lower", summary="Mine.", compute=len)
        >>> defined(described([mine]))["mine"].summary
        'Mine.'
    """
    from tokbench.metrics.catalogue import CATALOGUE

    found = {metric.name: metric for metric in CATALOGUE}
    for each in descriptions:
        known = {name: value for name, value in each.items() if name in _TEXTS}
        known["needs"] = tuple(need for need in known.get("needs", ()) if need in NEEDS)
        found[str(each["name"])] = Metric(**known, compute=_elsewhere)
    return found


def _elsewhere(*_: Any) -> Any:
    raise TypeError("this metric was measured with a plugin; load the plugin to measure it again")
