"""Checks of a metric: on prose, by a tokenizer of single bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tokbench.corpus import Document
from tokbench.errors import Undefined
from tokbench.metrics import Metric
from tokbench.metrics.measurement import ALL, CellKey, Measurement
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.tally import Tally
from tokbench.testing.check import ConformanceCheck, Problem
from tokbench.testing.texts import EDGE_CASES, PROSE


@ConformanceCheck.of(
    "counts",
    "count must give a whole number for each document, by the names in `counters` where it gives several.",
)
def _counts(metric: Metric) -> Problem:
    if not metric.count:
        return None
    rows = [*_measured(metric, *_LINES), *_measured(metric, "")]
    return next((row.status for row in rows if row.status.startswith(_COUNT)), None)


@ConformanceCheck.of("computes", "compute must give a number, or raise tokbench.Undefined with the reason.")
def _computes(metric: Metric) -> Problem:
    answers: set[str] = set()

    def compute(*given: Any) -> Any:
        try:
            return metric.compute(*given)
        except Undefined:
            answers.add("declined")
            raise
        finally:
            answers.add("called")

    found = _measured(replace(metric, compute=compute), *_LINES)
    failed = [row for row in found if _fails(row)]
    if not failed and answers == {"called"} and all(row.value is None for row in found):
        failed = found  # where `needs` are not met it is not called
    return failed[0].status if failed else None


@ConformanceCheck.of("empty", "name in `needs` what must be there, or raise tokbench.Undefined.")
def _empty(metric: Metric) -> Problem:
    failed = [row for row in _measured(metric, "") if _fails(row)]
    return f"on an empty document: {failed[0].status}" if failed else None


@ConformanceCheck.of("interval", "use plain arithmetic on counts, or say in `no_interval` why there is none.")
def _intervals(metric: Metric) -> Problem:
    rows = _measured(metric, *_LINES)
    measured = [row for row in rows if row.value is not None and row.language == ALL]
    if metric.level != "cell" or metric.no_interval:
        return None
    if any(row.ci_low is not None for row in measured) or not measured:
        return None
    values = {_measured(metric, line)[-1].value for line in _LINES[:20]}
    found = "it varies between documents, and no interval came of it"
    return found if len(values - {None}) > 1 else None


@ConformanceCheck.of("adds_up", "count each document by itself: batches are cut anywhere.")
def _adds_up(metric: Metric) -> Problem:
    if not metric.count:
        return None
    whole, parts = _counted(metric, *_LINES).own, [_counted(metric, line).own.totals() for line in _LINES]
    for name, total in whole.totals().items():
        if total != sum(part.get(name, 0) for part in parts):
            counter = name.rpartition(".")[2]
            return f"{counter} of all documents together is {total}, which is not the sum of the parts"
    return None


METRIC = (_counts, _computes, _empty, _intervals, _adds_up)


_COUNT = "failed: count: "
"""How the status of a row begins where `count` failed, and `compute` was not asked."""


def _fails(row: Measurement) -> bool:
    return row.status.startswith("failed") and not row.status.startswith(_COUNT)


def no_value(metric: Metric) -> str:
    """Why a metric has no value on the text of its checks, so that its numbers are not tried; else empty."""
    rows = _measured(metric, *_LINES)
    if any(row.value is not None for row in rows):
        return ""
    return next((row.status for row in rows), "not measured")


_LINES = [line for line in PROSE.splitlines() if line] * 3 + list(EDGE_CASES)


def _counted(metric: Metric, *texts: str) -> Tally:
    from tokbench.tally.collect import collect

    own = metric.counting
    documents = [Document(text, line=number) for number, text in enumerate(texts)]
    facts = CorpusFacts(language="eng_Latn", parallel=metric.level == "languages")
    return collect(_PlainBytes(), documents, counting=[own] if own else [], facts=facts)


def _measured(metric: Metric, *texts: str) -> list[Measurement]:
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.cost import PriceTable
    from tokbench.metrics.measure import measure
    from tokbench.metrics.model import PRESETS

    names = ("eng_Latn", "jpn_Jpan") if metric.level == "languages" else ("eng_Latn",)
    cells = {CellKey("bytes", "prose", name): _counted(metric, *texts) for name in names}
    known = MeasureContext(
        vocab_sizes={"bytes": 256},
        parallel={"prose": True},
        baseline="bytes",
        context_length=1000,
        prices=PriceTable("EUR", {"bytes": 1.0}),
        model=next(iter(PRESETS.values())),
    )
    return measure(cells, [metric], context=known)


class _PlainBytes:
    name, vocab_size = "bytes", 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8", "surrogatepass"))

    def decode(self, ids: object) -> str:
        return bytes(ids).decode("utf-8", "surrogatepass")  # type: ignore[call-overload,no-any-return]

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])
