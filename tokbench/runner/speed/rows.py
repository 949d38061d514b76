"""From raw timings to rows of the speed metrics, and to the summary in the manifest.

No timing is dropped, however inconvenient.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from tokbench.metrics.measurement import ALL, CellKey, Measurement
from tokbench.results.failure import TaskFailure
from tokbench.runner.planning.plan import Plan
from tokbench.runner.speed.summary import Row, Summary, summarize, summarize_pass
from tokbench.runner.speed.timings import SpeedResult
from tokbench.runner.training.candidates import Candidate
from tokbench.wording import percent

FIGURES = (
    ("encode_speed", "batch", "warm"),
    ("encode_speed_cold", "batch", "cold"),
    ("decode_speed", "decode", "warm"),
)
LATENCIES = ("latency_p50", "latency_p95", "latency_p99")
NOT_TRAINED = "it was not trained here"
NOT_TIMED = "skipped: this form was not timed"
_MOST_WAITING = 0.05
"""Share of a round that a process may have waited for the processor before it is said."""


def speed_measurements(plan: Plan, result: SpeedResult, candidates: Sequence[Candidate]) -> list[Measurement]:
    """The rows of every speed metric asked for: per dataset, or with no dataset where it is the tokenizer's.

    Speeds and latencies are of one thread: the median over the rounds with its interval; of first passes, the
    mean over the processes.
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
    cell, why = CellKey(key, dataset, ALL), broken.status if broken else NOT_TIMED
    own = (key, dataset, _fewest_threads(result))
    rounds = [
        row for row in result.rounds if (row["tokenizer"], row["dataset"], row["threads"]) == own and not broken
    ]
    for metric, form, state in FIGURES:
        chosen = [row for row in rounds if row["form"] == form and row["state"] == state]
        summary, n = None, 0
        if chosen:
            seconds, n_bytes, n = summarize_pass(chosen, result.clock)
            size = n_bytes / 1e6
            low, high = (None if end is None else size / end for end in (seconds.high, seconds.low))
            summary = replace(seconds, value=size / seconds.value, low=low, high=high)
        yield _row(cell, metric, "MB/s", summary, why, n)
    for metric in LATENCIES:
        quantile = metric.removeprefix("latency_")
        chosen = [row for row in rounds if row[quantile] is not None]
        summary, n = None, 0
        if chosen:
            summary = summarize([row[quantile] * 1e3 for row in chosen], [row["process"] for row in chosen])
            n = chosen[0]["n_documents"]
        yield _row(cell, metric, "ms", summary, why, n)


def _row(cell: CellKey, metric: str, unit: str, summary: Summary | None, why: str, n: int = 0) -> Measurement:
    """The row of a figure, of `n` documents, or `why` there is none."""
    if summary is None:
        return Measurement(*cell, metric, unit=unit, status=why)
    value, low, high = summary.value, summary.low, summary.high
    return Measurement(*cell, metric, unit=unit, value=value, ci_low=low, ci_high=high, n_documents=n)


def _of_tokenizer(
    result: SpeedResult, candidate: Candidate, broken: TaskFailure | None
) -> Iterator[Measurement]:
    key, fewest = candidate.entry.key, _fewest_threads(result)
    set_ups = [row for row in result.set_ups if row["tokenizer"] == key and row["threads"] == fewest]
    training = candidate.training or {}
    timed = "seconds" in training  # not if trained together with a larger size
    weighed = "peak_memory_bytes" in training  # not if kernels were compiled meanwhile
    figures = (
        ("load_time", "s", [row["load_seconds"] for row in set_ups]),
        ("first_call_time", "s", [row["first_call_seconds"] for row in set_ups]),
        ("peak_memory", "MiB", [row["peak_bytes"] / 2**20 for row in set_ups]),
        ("train_time", "s", [training["seconds"]] if timed else []),
        ("train_memory", "MiB", [training["peak_memory_bytes"] / 2**20] if weighed else []),
    )
    untrained = NOT_TRAINED
    if timed:
        untrained = "kernels were compiled meanwhile, once on this machine"
    elif training:
        untrained = f"one training made it and {training['nested_in']}"
    for metric, unit, values in figures:
        why = f"undefined: {untrained}" if metric.startswith("train_") else NOT_TIMED
        summary = summarize(values) if values and not broken else None
        yield _row(CellKey(key, "", ALL), metric, unit, summary, broken.status if broken else why)


def _fewest_threads(result: SpeedResult) -> int:
    return min((row["threads"] for row in result.set_ups), default=1)


def speed_summary(result: SpeedResult) -> list[dict[str, Any]]:
    """Every tokenizer, dataset, form, state and thread count in brief: seconds a pass, MB/s, and warnings."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in result.rounds:
        key = tuple(row[name] for name in ("tokenizer", "dataset", "form", "state", "threads"))
        groups.setdefault(key, []).append(row)
    found = []
    for (tokenizer, dataset, form, state, threads), rows in groups.items():
        summary, n_bytes, n_documents = summarize_pass(rows, result.clock)
        about = {"tokenizer": tokenizer, "dataset": dataset, "form": form, "state": state, "threads": threads}
        shape = {"n_bytes": n_bytes, "n_documents": n_documents}
        shape |= {name: rows[0][name] for name in ("output", "loops")}
        speed = {"mb_per_second": n_bytes / 1e6 / summary.value}
        warnings = [*summary.warnings, *_of_processors(rows)]
        found.append({**about, **shape, **speed, **asdict(summary), "warnings": warnings})
    return found


def _of_processors(rows: Sequence[Row]) -> Iterator[str]:
    """What the two clocks tell of a single thread: that it had to wait, or was not single."""
    if rows[0]["threads"] > 1:
        return
    share = statistics.median(row["cpu_seconds"] / row["seconds"] for row in rows)
    if share < 1 - _MOST_WAITING:
        yield f"the process had a processor for {percent(share)} of the time only"
    elif share > 1 + _MOST_WAITING:
        yield f"{share:.1f} processors were used, though one thread was asked for"


def same_ids(result: SpeedResult) -> list[list[str]]:
    """Tokenizers that gave the same ids on every passage: among them a speed is of the same work."""
    groups: dict[str, dict[str, None]] = {}
    for row in result.set_ups:
        if row["tokenizer"] not in result.failures:
            groups.setdefault(row["digest"], {})[row["tokenizer"]] = None
    return [list(group) for group in groups.values() if len(group) > 1]
