"""Timings summed up: their median, its interval, and warnings where they are unstable.

The interval of the median is the distribution-free one, from order statistics: among n independent timings the
median lies between the k-th smallest and the k-th largest with a probability that the binomial distribution
gives. Fewer than six never reach 95 % in this way; for them it is Student's interval of the logarithms, or all
of them where that is more. Timings of one process are not independent, since they share where its memory came
to lie; so the interval also spans the medians of the processes. The warnings are those of pyperf's `check`.

A first pass is timed once, in parts: its interval is that of a sum over a sample of texts, each part being one,
and it also spans the passes of the processes.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tokbench.wording import percent

T = TypeVar("T")

Row = Mapping[str, Any]
"""A `timings.Timing` by name, with its tokenizer, thread count and process."""

STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}
"""The 97.5 % point of Student's t by the number of values."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Timings in brief, in the unit of what was given; `warnings` is empty where they look stable.

    `value` is their median; of first passes, the mean over the processes. `low` and `high` bound it at 95 %;
    None where there was one timing, which bounds nothing.
    """

    n: int
    value: float
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
        >>> summary.value, summary.low, summary.high, summary.warnings
        (1.0, 0.9, 1.1, ())
    """
    ordered = sorted(values)
    median = statistics.median(ordered)
    rank = interval_rank(len(ordered))
    spanned = [*map(statistics.median, _by_process(values, processes)), *_of_few(ordered)]
    return Summary(
        n=len(ordered),
        value=median,
        mad=statistics.median(abs(value - median) for value in ordered),
        minimum=ordered[0],
        maximum=ordered[-1],
        low=min(ordered[rank], *spanned) if len(ordered) > 1 else None,
        high=max(ordered[-1 - rank], *spanned) if len(ordered) > 1 else None,
        warnings=tuple(_warnings(ordered, ordered[0] if shortest is None else shortest)),
    )


def _by_process(items: Sequence[T], processes: Sequence[int]) -> list[list[T]]:
    """What each process gave, in order; all of it as one where nobody says which it was."""
    found: defaultdict[int, list[T]] = defaultdict(list)
    for item, process in zip(items, processes or [0] * len(items), strict=True):
        found[process].append(item)
    return list(found.values())


def _of_few(ordered: Sequence[float]) -> list[float]:
    """The ends of Student's interval of the logarithms, where order statistics are too few for one."""
    n = len(ordered)
    if not 2 <= n <= 5 or ordered[0] <= 0:
        return []
    logs = [math.log(value) for value in ordered]
    middle, half = statistics.fmean(logs), STUDENT[n] * statistics.stdev(logs) / math.sqrt(n)
    return [math.exp(middle - half), math.exp(middle + half)]


def interval_rank(n: int) -> int:
    """How many of n sorted values to leave out at each end for an interval of the median at 95 %.

    Between the (k+1)-th smallest and the (k+1)-th largest the median lies with probability
    1 − 2·P(Binomial(n, 1/2) ≤ k); the largest such k is given, 0 where even the extremes cover less.

    Example:
        >>> [interval_rank(n) for n in (1, 5, 6, 9, 20)]
        [0, 0, 0, 1, 5]
    """
    rank, below = 0, 1 + n  # outcomes of n tosses with at most rank + 1 heads
    while rank + 1 < n / 2 and 2 * below <= 0.05 * 2**n:
        rank += 1
        below += math.comb(n, rank + 1)
    return rank


def _warnings(ordered: Sequence[float], shortest: float) -> list[str]:
    found = []
    mean = statistics.fmean(ordered)
    if len(ordered) > 1:
        deviation = statistics.stdev(ordered)
        if deviation > 0.1 * mean:
            found.append(f"the standard deviation is {percent(deviation / mean)} of the mean")
    if ordered[0] < 0.5 * mean:
        found.append(f"the minimum is {percent(1 - ordered[0] / mean)} below the mean")
    if ordered[-1] > 1.5 * mean:
        found.append(f"the maximum is {percent(ordered[-1] / mean - 1)} above the mean")
    if shortest < 1e-3:
        found.append(f"the shortest round took {shortest * 1e6:.0f} µs, less than 1 ms")
    return found


def summarize_pass(rows: Sequence[Row], clock: str) -> tuple[Summary, int, int]:
    """The summary of the seconds of a pass in one form, its bytes and its documents.

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
    """The summary of passes over parts, one in each process."""
    passes = _by_process(rows, [row["process"] for row in rows])
    longest = max(map(len, passes))  # a process that failed on the way is left out
    passes = [each for each in passes if len(each) == longest]
    sizes = [row["n_bytes"] for row in passes[0]]
    seconds = [statistics.fmean(row[taken] for row in part) for part in zip(*passes, strict=True)]
    totals = [sum(row[taken] for row in each) for each in passes]
    whole = summarize(totals, shortest=min(row[taken] for row in rows))
    ends = [*totals, *_of_parts(seconds, sizes)]
    low, high = (min(ends), max(ends)) if len(ends) > 1 else (None, None)
    summary = replace(whole, value=sum(seconds), low=low, high=high)
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
