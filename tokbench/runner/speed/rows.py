"""From raw timings to rows of the speed metrics, and to the summary in the manifest.

No timing is dropped, however inconvenient. A first pass is timed once, in parts: its interval is that of a sum
over a sample of texts, each part being one, and it also spans the passes of the processes.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from tokbench.metrics.metric import CellKey, Measurement
from tokbench.results.cell import TaskFailure
from tokbench.results.run import OVERALL
from tokbench.runner.candidates import Candidate
from tokbench.runner.plan import Plan
from tokbench.runner.speed.summary import STUDENT, Summary, summarize
from tokbench.runner.speed.turns import SpeedResult
from tokbench.runner.unmeasured import unmeasured

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


def speed_measurements(plan: Plan, result: SpeedResult, candidates: Sequence[Candidate]) -> list[Measurement]:
    """The rows of every speed metric asked for: per dataset, or with no dataset where it is the tokenizer's.

    Speeds and latencies are of one thread: the median over the rounds, with the interval of that median.
    """
    wanted = {metric.name for metric in plan.metrics if metric.level == "speed"}
    timed = {row["dataset"] for row in result.rounds}
    rows: list[Measurement] = []
    for candidate in candidates:
        # An estimate stands for a tokenizer that is not here: the time that it takes is not that tokenizer's.
        if candidate.skipped or candidate.estimated:
            continue
        broken = candidate.failure or result.failures.get(candidate.entry.key)
        for corpus in plan.corpora:
            if corpus.recipe.key in timed:
                rows += _of_dataset(result, candidate.entry.key, corpus.recipe.key, broken)
        rows += _of_tokenizer(result, candidate, broken)
    return [row for row in rows if row.metric in wanted]


def _of_dataset(
    result: SpeedResult, key: str, dataset: str, broken: TaskFailure | None
) -> Iterator[Measurement]:
    rounds = [row for row in result.rounds if row["tokenizer"] == key and row["dataset"] == dataset]
    rounds = [row for row in rounds if row["threads"] == _fewest_threads(result)]
    for metric, form, state in FIGURES:
        chosen = [row for row in rounds if row["form"] == form and row["state"] == state]
        if broken is not None or not chosen:
            yield _nothing(key, dataset, metric, "MB/s", broken)
            continue
        summary, n_bytes, n_documents = _summary(chosen, result.clock)
        size = n_bytes / 1e6
        low, high = (None if end is None else size / end for end in (summary.high, summary.low))
        yield Measurement(key, dataset, OVERALL, metric, size / summary.median, low, high, "MB/s", n_documents)
    for metric in LATENCIES:
        quantile = metric.removeprefix("latency_")
        chosen = [row for row in rounds if row[quantile] is not None]
        if broken is not None or not chosen:
            yield _nothing(key, dataset, metric, "ms", broken)
            continue
        summary = summarize([row[quantile] * 1e3 for row in chosen], [row["process"] for row in chosen])
        n = chosen[0]["n_documents"]
        yield Measurement(key, dataset, OVERALL, metric, summary.median, summary.low, summary.high, "ms", n)


def _of_tokenizer(
    result: SpeedResult, candidate: Candidate, broken: TaskFailure | None
) -> Iterator[Measurement]:
    key = candidate.entry.key
    fewest = _fewest_threads(result)
    set_ups = [row for row in result.set_ups if row["tokenizer"] == key and row["threads"] == fewest]
    training = candidate.training
    timed = training is not None and "seconds" in training  # not if trained together with a larger size
    values = {
        "load_time": [row["load_seconds"] for row in set_ups],
        "first_call_time": [row["first_call_seconds"] for row in set_ups],
        "peak_memory": [row["peak_bytes"] / 2**20 for row in set_ups],
        "train_time": [training["seconds"]] if training and timed else [],
        "train_memory": [training["peak_memory_bytes"] / 2**20] if training and timed else [],
    }
    for metric, unit in OF_TOKENIZER:
        if broken is not None or not values[metric]:
            untrained = metric.startswith("train_") and broken is None
            reason = "undefined: it was not trained here" if untrained else None
            if untrained and training and not timed:
                reason = f"undefined: one training made it and {training['nested_in']}"
            yield _nothing(key, "", metric, unit, broken, reason)
            continue
        summary = summarize(values[metric])
        yield Measurement(key, "", OVERALL, metric, summary.median, summary.low, summary.high, unit, 0)


def _nothing(
    key: str, dataset: str, metric: str, unit: str, broken: TaskFailure | None, reason: str | None = None
) -> Measurement:
    status = broken.status if broken is not None else reason or "skipped: this form was not timed"
    return unmeasured(CellKey(key, dataset, OVERALL), metric, unit, status)


def _fewest_threads(result: SpeedResult) -> int:
    return min((row["threads"] for row in result.set_ups), default=1)


def _summary(rows: Sequence[Row], clock: str) -> tuple[Summary, int, int]:
    """Seconds a pass, its bytes and its documents.

    CPU seconds say how fast one thread is, but not how fast several are together.
    """
    taken = "cpu_seconds" if clock == "cpu" and rows[0]["threads"] == 1 else "seconds"
    if rows[0]["state"] == "cold":
        return _first_pass(rows, taken)
    summary = summarize(
        [row[taken] / row["loops"] for row in rows],
        [row["process"] for row in rows],
        shortest=min(row[taken] for row in rows),
    )
    return summary, rows[0]["n_bytes"], rows[0]["n_documents"]


def _first_pass(rows: Sequence[Row], taken: str) -> tuple[Summary, int, int]:
    """The summary of passes over parts, one in each process; its `median` is the mean over the processes."""
    by_process: dict[int, list[Row]] = {}
    for row in rows:
        by_process.setdefault(row["process"], []).append(row)
    longest = max(map(len, by_process.values()))  # a process that failed on the way is left out
    passes = [each for each in by_process.values() if len(each) == longest]
    sizes = [row["n_bytes"] for row in passes[0]]
    seconds = [statistics.fmean(row[taken] for row in part) for part in zip(*passes, strict=True)]
    totals = [sum(row[taken] for row in each) for each in passes]
    whole = summarize(totals, shortest=min(row[taken] for row in rows))
    centre = sum(seconds)
    ends = [*totals, *_of_parts(seconds, sizes)]
    summary = replace(
        whole,
        median=centre,
        low=min(ends) if len(ends) > 1 else None,
        high=max(ends) if len(ends) > 1 else None,
    )
    return summary, sum(sizes), sum(row["n_documents"] for row in passes[0])


def _of_parts(seconds: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """The ends of the 95 % interval of the seconds for all parts, these being a sample of such texts.

    By the residuals of a ratio estimator (Cochran 1977, 2.11), in logarithms; none of a single part.
    """
    n, total = len(seconds), sum(seconds)
    if n < 2 or total <= 0:
        return []
    rate = total / sum(sizes)
    residuals = sum((took - rate * size) ** 2 for took, size in zip(seconds, sizes, strict=True))
    error = math.sqrt(n / (n - 1) * residuals) / total
    return [total * math.exp(-STUDENT[n] * error), total * math.exp(STUDENT[n] * error)]


def speed_summary(result: SpeedResult) -> list[dict[str, Any]]:
    """Every tokenizer, dataset, form, state and thread count in brief: seconds a pass, MB/s, and warnings."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in result.rounds:
        key = tuple(row[name] for name in ("tokenizer", "dataset", "form", "state", "threads"))
        groups.setdefault(key, []).append(row)
    found = []
    for (tokenizer, dataset, form, state, threads), rows in groups.items():
        summary, n_bytes, n_documents = _summary(rows, result.clock)
        about = {"tokenizer": tokenizer, "dataset": dataset, "form": form, "state": state, "threads": threads}
        shape = {"n_bytes": n_bytes, "n_documents": n_documents}
        shape |= {name: rows[0][name] for name in ("output", "loops")}
        speed = {"mb_per_second": n_bytes / 1e6 / summary.median}
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
