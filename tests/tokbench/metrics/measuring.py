"""Short ways to one measurement: metrics by name, and tallies of parallel text."""

from __future__ import annotations

import numpy as np

from tokbench.corpus import Document
from tokbench.metrics import CellKey, Metric
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.intervals import bearing, p_value
from tokbench.metrics.measure import measure
from tokbench.metrics.resampling import parts_of
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.tally import Tally

NAMED = {metric.name: metric for metric in CATALOGUE}
TEXTS = [f"ab {'ab' * (i % 5)} c{i}" for i in range(200)]


def metric(compute, **more) -> Metric:
    return Metric(
        **{"name": "mine", "unit": "x", "better": "lower", "summary": "Mine.", "compute": compute} | more
    )


def one(tally: Tally, *metrics: Metric, **more):
    rows = measure({CellKey("t", "d", "eng"): tally}, metrics, context=MeasureContext(**more))
    return next(row for row in rows if row.language in ("eng", "all"))


def parallel(tokenizer, *, languages: dict[str, list[str]], name: str = "t") -> dict[CellKey, Tally]:
    facts = CorpusFacts(parallel=True)
    return {
        CellKey(name, "d", language): collect(
            tokenizer, [Document(text, line=i) for i, text in enumerate(texts)], facts=facts
        )
        for language, texts in languages.items()
    }


def p_of(figures: np.ndarray) -> float | None:
    """The p-value of a difference on resampled counts."""
    parts = parts_of(figures[None])
    return p_value(parts, bearing(parts.left_out, parts.whole))
