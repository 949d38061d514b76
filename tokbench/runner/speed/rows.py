"""Raw timings to figures: rows of the speed metrics, and a summary with every form for the manifest.

No timing is dropped, however inconvenient. The interval of the median is the distribution-free one, from
order statistics: among n independent timings the median lies between the k-th smallest and the k-th largest
with a probability that the binomial distribution gives. Fewer than six never reach 95 % in this way; for them
it is Student's interval of the logarithms, or all of them where that is more. Timings of one process are not
independent, since they share where its memory came to lie; so the interval also spans the medians of the
processes. A first pass is timed once, in parts: its interval is that of a sum over a sample of texts, each part
being one, and it also spans the passes of the processes. The warnings are those of pyperf's `check`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tokbench.metrics.metric import Measurement
from tokbench.results.cell import Failure
from tokbench.results.run import OVERALL
from tokbench.runner.plan import Plan
from tokbench.runner.speed.turns import SpeedResult
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


def speed_measurements(plan: Plan, result: SpeedResult, subjects: Sequence[Subject]) -> list[Measurement]:
    """The rows of every speed metric asked for: per dataset, or with no dataset where it is the tokenizer's.

    Speeds and latencies are of one thread: the median over the rounds, with the interval of that median.
    """
    wanted = {metric.name for metric in plan.metrics if metric.level == "speed"}
    timed = {row["dataset"] for row in result.rounds}
    rows: list[Measurement] = []
    for subject in subjects:
        if not subject.skipped and not subject.estimated:  # of an estimate, what it is told from takes time
            broken = subject.failure or result.failures.get(subject.entry.key)
            for corpus in plan.corpora:
                if corpus.recipe.key in timed:
                    rows += _of_dataset(result, subject.entry.key, corpus.recipe.key, broken)
            rows += _of_tokenizer(result, subject, broken)
    return [row for row in rows if row.metric in wanted]


def _of_dataset(result: SpeedResult, key: str, dataset: str, broken: Failure | None) -> Iterator[Measurement]:
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


def _of_tokenizer(result: SpeedResult, subject: Subject, broken: Failure | None) -> Iterator[Measurement]:
    key = subject.entry.key
    fewest = _fewest_threads(result)
    set_ups = [row for row in result.set_ups if row["tokenizer"] == key and row["threads"] == fewest]
    training = subject.training
    timed = training is not None and "seconds" in training  # not where its size is nested in another's
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
    key: str, dataset: str, metric: str, unit: str, broken: Failure | None, reason: str | None = None
) -> Measurement:
    status = broken.status if broken is not None else reason or "skipped: this form was not timed"
    return Measurement(key, dataset, OVERALL, metric, None, None, None, unit, 0, status)


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
    longest = max(map(len, by_process.values()))  # one that failed on the way is no pass
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
    return [total * math.exp(-_STUDENT[n] * error), total * math.exp(_STUDENT[n] * error)]


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


_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}
"""The 97.5 % point of Student's t by the number of values."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Timings in brief, in the unit of what was given; `warnings` is empty where they look stable.

    `low` and `high` bound the median at 95 %; None where there was one timing, which bounds nothing.
    """

    n: int
    median: float
    mad: float
    minimum: float
    maximum: float
    low: float | None
    high: float | None
    warnings: tuple[str, ...] = ()


def summarize(
    values: Sequence[float], processes: Sequence[int] = (), *, shortest: float | None = None
) -> Summary:
    """The summary of timings in seconds; raises `ValueError` where there are none.

    `processes` tells which process each timing is from; left out, they count as independent. `shortest` is the
    shortest stretch that was timed at once, where that is not the least of the timings.

    Example:
        >>> summary = summarize([1.0, 1.1, 0.9, 1.0, 1.05, 0.95])
        >>> summary.median, summary.low, summary.high, summary.warnings
        (1.0, 0.9, 1.1, ())
    """
    ordered = sorted(values)
    median = statistics.median(ordered)
    rank = interval_rank(len(ordered))
    spanned = [*_medians(values, processes), *_of_few(ordered)]
    return Summary(
        n=len(ordered),
        median=median,
        mad=statistics.median(abs(value - median) for value in ordered),
        minimum=ordered[0],
        maximum=ordered[-1],
        low=min(ordered[rank], *spanned) if len(ordered) > 1 else None,
        high=max(ordered[-1 - rank], *spanned) if len(ordered) > 1 else None,
        warnings=tuple(_warnings(ordered, ordered[0] if shortest is None else shortest)),
    )


def _medians(values: Sequence[float], processes: Sequence[int]) -> list[float]:
    by_process: dict[int, list[float]] = {}
    for value, process in zip(values, processes or [0] * len(values), strict=True):
        by_process.setdefault(process, []).append(value)
    return [statistics.median(each) for each in by_process.values()]


def _of_few(ordered: Sequence[float]) -> list[float]:
    """The ends of Student's interval of the logarithms, where order statistics are too few for one."""
    n = len(ordered)
    if not 2 <= n <= 5 or ordered[0] <= 0:
        return []
    logs = [math.log(value) for value in ordered]
    middle, half = statistics.fmean(logs), _STUDENT[n] * statistics.stdev(logs) / math.sqrt(n)
    return [math.exp(middle - half), math.exp(middle + half)]


def interval_rank(n: int, confidence: float = 0.95) -> int:
    """How many of n sorted values to leave out at each end for an interval of the median.

    Between the (k+1)-th smallest and the (k+1)-th largest the median lies with probability
    1 − 2·P(Binomial(n, 1/2) ≤ k); the largest such k is given, 0 where even the extremes cover less.

    Example:
        >>> [interval_rank(n) for n in (1, 5, 6, 9, 20)]
        [0, 0, 0, 1, 5]
    """
    rank, below = 0, 1 + n  # outcomes of n tosses with at most rank + 1 heads
    while rank + 1 < n / 2 and 2 * below <= (1 - confidence) * 2**n:
        rank += 1
        below += math.comb(n, rank + 1)
    return rank


def _warnings(ordered: Sequence[float], shortest: float) -> list[str]:
    found = []
    mean = statistics.fmean(ordered)
    if len(ordered) > 1:
        deviation = statistics.stdev(ordered)
        if deviation > 0.1 * mean:
            found.append(f"the standard deviation is {deviation / mean:.0%} of the mean")
    if ordered[0] < 0.5 * mean:
        found.append(f"the minimum is {1 - ordered[0] / mean:.0%} below the mean")
    if ordered[-1] > 1.5 * mean:
        found.append(f"the maximum is {ordered[-1] / mean - 1:.0%} above the mean")
    if shortest < 1e-3:
        found.append(f"the shortest round took {shortest * 1e6:.0f} µs, less than 1 ms")
    return found
