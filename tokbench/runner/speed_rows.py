"""Raw timings to figures: rows of the speed metrics, and a summary with every form for the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tokbench.metrics.metric import Measurement
from tokbench.results.cell import Failure
from tokbench.results.run import OVERALL
from tokbench.runner.speed import SpeedResult
from tokbench.runner.stability import Summary, summarize
from tokbench.runner.subjects import Subject

FIGURES = (
    ("encode_speed", "batch", "warm"),
    ("encode_speed_cold", "batch", "cold"),
    ("decode_speed", "decode", "warm"),
)
LATENCIES = ("latency_p50", "latency_p95", "latency_p99")
OF_TOKENIZER = (("load_time", "s"), ("train_time", "s"), ("peak_memory", "MiB"))


def speed_measurements(
    result: SpeedResult, subjects: Sequence[Subject], datasets: Sequence[str], wanted: set[str]
) -> Iterator[Measurement]:
    """The rows of every speed metric in `wanted`: per dataset, or with no dataset where it is the tokenizer's.

    Speeds and latencies are of one thread: the median over the rounds, with the interval of that median.
    """
    for subject in subjects:
        if subject.skipped:
            continue
        key = subject.entry.key
        broken = subject.failure or result.failures.get(key)
        for dataset in datasets:
            if not any(row["dataset"] == dataset for row in result.rounds):
                continue
            for row in _of_dataset(result, key, dataset, broken):
                if row.metric in wanted:
                    yield row
        for row in _of_tokenizer(result, subject, broken):
            if row.metric in wanted:
                yield row


def _of_dataset(result: SpeedResult, key: str, dataset: str, broken: Failure | None) -> Iterator[Measurement]:
    rounds = [row for row in result.rounds if row["tokenizer"] == key and row["dataset"] == dataset]
    rounds = [row for row in rounds if row["threads"] == _fewest_threads(result)]
    for metric, form, state in FIGURES:
        chosen = [row for row in rounds if row["form"] == form and row["state"] == state]
        if broken is not None or not chosen:
            yield _nothing(key, dataset, metric, "MB/s", broken)
            continue
        summary = summarize([row["seconds"] / row["loops"] for row in chosen])
        size = chosen[0]["n_bytes"] / 1e6
        yield Measurement(
            key,
            dataset,
            OVERALL,
            metric,
            size / summary.median,
            size / summary.high if summary.n > 1 else None,
            size / summary.low if summary.n > 1 else None,
            "MB/s",
            chosen[0]["n_documents"],
        )
    for metric in LATENCIES:
        quantile = metric.removeprefix("latency_")
        values = [row[quantile] * 1e3 for row in rounds if row[quantile] is not None]
        if broken is not None or not values:
            yield _nothing(key, dataset, metric, "ms", broken)
            continue
        summary = summarize(values)
        n = next(row["n_documents"] for row in rounds if row[quantile] is not None)
        yield Measurement(key, dataset, OVERALL, metric, summary.median, summary.low, summary.high, "ms", n)


def _of_tokenizer(result: SpeedResult, subject: Subject, broken: Failure | None) -> Iterator[Measurement]:
    key = subject.entry.key
    set_ups = [
        row for row in result.set_ups if row["tokenizer"] == key and row["threads"] == _fewest_threads(result)
    ]
    values = {
        "load_time": [row["load_seconds"] for row in set_ups],
        "train_time": [subject.training["seconds"]] if subject.training else [],
        "peak_memory": [row["peak_bytes"] / 2**20 for row in set_ups],
    }
    for metric, unit in OF_TOKENIZER:
        if broken is not None or not values[metric]:
            reason = "undefined: it was not trained here" if metric == "train_time" and not broken else None
            yield _nothing(key, "", metric, unit, broken, reason)
            continue
        summary = summarize(values[metric])
        several = summary.n > 1
        yield Measurement(
            key,
            "",
            OVERALL,
            metric,
            summary.median,
            summary.low if several else None,
            summary.high if several else None,
            unit,
            0,
        )


def _nothing(
    key: str, dataset: str, metric: str, unit: str, broken: Failure | None, reason: str | None = None
) -> Measurement:
    status = broken.status if broken is not None else reason or "skipped: this form was not timed"
    return Measurement(key, dataset, OVERALL, metric, None, None, None, unit, 0, status)


def _fewest_threads(result: SpeedResult) -> int:
    return min((row["threads"] for row in result.set_ups), default=1)


def speed_summary(result: SpeedResult) -> list[dict[str, Any]]:
    """Every tokenizer, dataset, form, state and thread count in brief: seconds a pass, MB/s, and warnings."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in result.rounds:
        key = tuple(row[name] for name in ("tokenizer", "dataset", "form", "state", "threads"))
        groups.setdefault(key, []).append(row)
    found = []
    for (tokenizer, dataset, form, state, threads), rows in groups.items():
        summary: Summary = summarize([row["seconds"] / row["loops"] for row in rows])
        about = {"tokenizer": tokenizer, "dataset": dataset, "form": form, "state": state, "threads": threads}
        shape = {name: rows[0][name] for name in ("n_bytes", "n_documents", "output", "loops")}
        speed = {"mb_per_second": rows[0]["n_bytes"] / 1e6 / summary.median}
        found.append({**about, **shape, **speed, **asdict(summary)})
    return found
