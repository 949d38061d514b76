"""The metrics of a run: those named, checked for what they need, or all that are not on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokbench.errors import SpecError, TokbenchError, described
from tokbench.manager import PATIENCE, within
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.metric import Metric
from tokbench.registry import Registry
from tokbench.runner.planning.entries import Entry
from tokbench.runner.planning.suite_keys import Suite
from tokbench.wording import listed


def chosen_metrics(asked: Sequence[Metric], registry: Registry) -> tuple[Metric, ...]:
    """The metrics asked for, or all that are not on request; and those always measured, such as losses."""
    chosen = {metric.name: metric for metric in asked}
    for metric in chosen.values():
        _check_settings(metric)
    always = {name: metric for name, metric in registry.metrics.items() if metric.always}
    unasked = {name: metric for name, metric in registry.metrics.items() if not metric.on_request}
    return tuple(({**chosen, **always} if chosen else unasked).values())


def _check_settings(metric: Metric) -> None:
    if metric.check is not None:
        try:
            with within(PATIENCE):
                metric.check(metric.settings)
        except Exception as error:
            what = str(error) if isinstance(error, TokbenchError) else described(error)
            raise SpecError(f"{metric.name}: {what}") from error


_SETTINGS = {
    "prices": "prices: name a table of them with --prices FILE, or by the suite's key `prices`",
    "baseline": "a baseline: name a tokenizer with --baseline SPEC, or by the suite's key `baseline`",
    "context_length": "a length of context: --context-length N, or the suite's key `context_length`",
    "model": "a model: name one with --model PRESET, or describe it in the suite's [model]",
    "morphology": "gold segmentations of words: name a file in the suite's [morphology.LANGUAGE]",
    "audit": "vocabularies that are looked through, and the suite says audit = false",
}
"""The `needs` of metrics that a suite has a key for, and how they are given."""


def check_needs(
    metrics: Iterable[Metric], suite: Suite, prices: PriceTable | None, entries: Sequence[Entry]
) -> None:
    """Raise `SpecError` if the suite lacks what one of the named `metrics` needs.

    Needs that depend on the text (whether it is parallel, or code) are checked when it is measured.
    """
    for metric in metrics:
        for need in metric.needs:
            if need in _SETTINGS and not getattr(suite, need):
                raise SpecError(f"{metric.name} needs {_SETTINGS[need]}")
        if "prices" in metric.needs and prices and all(prices.of(entry.key) is None for entry in entries):
            names = listed(list(prices.names)) or "nothing"
            raise SpecError(
                f"{metric.name} needs a price, and {suite.prices} has none for any tokenizer of this run; "
                f"it names {names}"
            )
        if metric.level == "speed" and suite.speed_settings is None and not suite.left_untimed:
            raise SpecError(
                f"{metric.name} is timed, and this run times nothing: leave it out, or --no-speed (in a suite: "
                "speed = false)"
            )
