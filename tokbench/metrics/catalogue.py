"""All metrics of tokbench, in the order in which they are shown."""

from __future__ import annotations

from tokbench.metrics import (
    allocation,
    compression,
    cost,
    digits,
    fairness,
    fidelity,
    information,
    model_cost,
    morphology,
    ngram_metric,
    optimum,
    speed,
    structure,
    vocabulary,
    words,
)
from tokbench.metrics.metric import Metric

GROUPS: dict[str, str] = {
    "compression": "Compression",
    "words": "Words",
    "information": "Use of the vocabulary",
    "fairness": "Fairness between languages",
    "fidelity": "Fidelity",
    "structure": "Characters and numbers",
    "code": "Code",
    "morphology": "Morphology",
    "vocabulary": "Vocabulary",
    "cost": "Cost and context",
    "model": "Cost for a model",
    "text": "The text itself",
    "speed": "Speed and memory",
}
"""Headings by `Metric.group`."""

_MODULES = (
    compression, optimum, words, information, ngram_metric, allocation, fairness, fidelity, structure, digits,
    morphology, vocabulary, cost, model_cost, speed,
)  # fmt: skip

CATALOGUE: tuple[Metric, ...] = tuple(
    sorted(
        (metric for module in _MODULES for metric in module.METRICS), key=lambda m: list(GROUPS).index(m.group)
    )
)
