"""Raw timings to figures: rows of the speed metrics, and a summary with every form for the manifest."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tokbench.metrics.metric import Measurement
from tokbench.results.cell import Failure
from tokbench.results.run import OVERALL
from tokbench.runner.speed import SpeedResult
from tokbench.runner.stability import Summary, summarize
from tokbench.runner.subjects import Subject

Row = Mapping[str, Any]

FIGURES = (
    ("encode_speed", "batch", "warm"),
    ("encode_speed_cold", "batch", "cold"),
    ("decode_speed", "decode", "warm"),
)
LATENCIES = ("latency_p50", "latency_p95", "latency_p99")
OF_TOKENIZER = (
    ("load_time", "s"),
    ("first_call_time", "s"),
    ("peak_memory", "MiB"),
    ("train_time", "s"),
    ("train_memory", "MiB"),
)
_MOST_WAITING = 0.05
"""Share of a round that a process may have waited for the processor before it is said."""


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
        summary = _summary(chosen, result.clock)
        size = chosen[0]["n_bytes"] / 1e6
        yield Measurement(
            key,
            dataset,
            OVERALL,
            metric,
            size / summary.median,
            size / summary.high if summary.high is not None else None,
            size / summary.low if summary.low is not None else None,
            "MB/s",
            chosen[0]["n_documents"],
        )
    for metric in LATENCIES:
        quantile = metric.removeprefix("latency_")
        chosen = [row for row in rounds if row[quantile] is not None]
        if broken is not None or not chosen:
            yield _nothing(key, dataset, metric, "ms", broken)
            continue
        summary = summarize([row[quantile] * 1e3 for row in chosen], [row["process"] for row in chosen])
        n = chosen[0]["n_documents"]
        yield Measurement(key, dataset, OVERALL, metric, summary.median, summary.low, summary.high, "ms", n)


def _of_tokenizer(result: SpeedResult, subject: Subject, broken: Failure | None) -> Iterator[Measurement]:
    key = subject.entry.key
    fewest = _fewest_threads(result)
    set_ups = [row for row in result.set_ups if row["tokenizer"] == key and row["threads"] == fewest]
    training = subject.training
    values = {
        "load_time": [row["load_seconds"] for row in set_ups],
        "first_call_time": [row["first_call_seconds"] for row in set_ups],
        "peak_memory": [row["peak_bytes"] / 2**20 for row in set_ups],
        "train_time": [training["seconds"]] if training else [],
        "train_memory": [training["peak_memory_bytes"] / 2**20] if training else [],
    }
    for metric, unit in OF_TOKENIZER:
        if broken is not None or not values[metric]:
            untrained = metric.startswith("train_") and broken is None
            reason = "undefined: it was not trained here" if untrained else None
            yield _nothing(key, "", metric, unit, broken, reason)
            continue
        summary = summarize(values[metric])
        yield Measurement(key, "", OVERALL, metric, summary.median, summary.low, summary.high, unit, 0)


def _nothing(
    key: str, dataset: str, metric: str, unit: str, broken: Failure | None, reason: str | None = None
) -> Measurement:
    status = broken.status if broken is not None else reason or "skipped: this form was not timed"
    return Measurement(key, dataset, OVERALL, metric, None, None, None, unit, 0, status)


def _fewest_threads(result: SpeedResult) -> int:
    return min((row["threads"] for row in result.set_ups), default=1)


def _summary(rows: Sequence[Row], clock: str) -> Summary:
    """Seconds a pass. CPU seconds say how fast one thread is, but not how fast several are together."""
    taken = "cpu_seconds" if clock == "cpu" and rows[0]["threads"] == 1 else "seconds"
    return summarize(
        [row[taken] / row["loops"] for row in rows],
        [row["process"] for row in rows],
        shortest=min(row[taken] for row in rows),
    )


def speed_summary(result: SpeedResult) -> list[dict[str, Any]]:
    """Every tokenizer, dataset, form, state and thread count in brief: seconds a pass, MB/s, and warnings."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in result.rounds:
        key = tuple(row[name] for name in ("tokenizer", "dataset", "form", "state", "threads"))
        groups.setdefault(key, []).append(row)
    found = []
    for (tokenizer, dataset, form, state, threads), rows in groups.items():
        summary = _summary(rows, result.clock)
        about = {"tokenizer": tokenizer, "dataset": dataset, "form": form, "state": state, "threads": threads}
        shape = {name: rows[0][name] for name in ("n_bytes", "n_documents", "output", "loops")}
        speed = {"mb_per_second": rows[0]["n_bytes"] / 1e6 / summary.median}
        warnings = [*summary.warnings, *_of_processors(rows)]
        found.append({**about, **shape, **speed, **asdict(summary), "warnings": warnings})
    return found


def _of_processors(rows: Sequence[Row]) -> Iterator[str]:
    """What the two clocks tell of a single thread: that it had to wait, or was not single."""
    if rows[0]["threads"] > 1:
        return
    share = statistics.median(row["cpu_seconds"] / row["seconds"] for row in rows)
    if share < 1 - _MOST_WAITING:
        yield f"the process had a processor for {share:.0%} of the time only"
    elif share > 1 + _MOST_WAITING:
        yield f"{share:.1f} processors were used, though one thread was asked for"


def same_ids(result: SpeedResult) -> list[list[str]]:
    """Tokenizers that gave the same ids on every passage: among them a speed is of the same work."""
    groups: dict[str, dict[str, None]] = {}
    for row in result.set_ups:
        if row["tokenizer"] not in result.failures:
            groups.setdefault(row["digest"], {})[row["tokenizer"]] = None
    return [list(group) for group in groups.values() if len(group) > 1]
