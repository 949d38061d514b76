"""What timings amount to: a median and its interval, and the warnings that belong to it."""

from __future__ import annotations

import math
import random
from math import comb
from typing import Any

import pytest

from tokbench.runner.speed.rows import speed_summary
from tokbench.runner.speed.summary import interval_rank, summarize
from tokbench.runner.speed.timings import SpeedResult


def timed(state: str, n_bytes: int, seconds: float, cpu_seconds: float) -> dict[str, Any]:
    """A row of raw timings."""
    return {
        **{"tokenizer": "t", "dataset": "d", "form": "batch", "state": state, "threads": 1, "process": 0},
        **{"seconds": seconds, "cpu_seconds": cpu_seconds, "loops": 1, "n_bytes": n_bytes, "n_documents": 1},
        "output": "list",
    }


@pytest.mark.long
def test_the_interval_of_a_first_pass_is_of_other_texts_of_the_kind() -> None:
    def part(size: int, seconds: float) -> dict[str, Any]:
        return timed("cold", size, seconds, seconds)

    rng = random.Random(1)
    covered = 0
    for _ in range(2000):
        sizes = [rng.randint(900, 1100) for _ in range(8)]
        (row,) = speed_summary(SpeedResult([part(size, size * rng.gauss(1.0, 0.1)) for size in sizes]))
        assert row["n_bytes"] == sum(sizes)
        covered += row["low"] <= sum(sizes) <= row["high"]
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)
    (alone,) = speed_summary(SpeedResult([part(1000, 1.0)]))
    assert alone["low"] is alone["high"] is None


def test_waiting_for_a_processor_and_hidden_threads_are_said() -> None:
    def warnings(cpu_seconds: float) -> list[str]:
        [summary] = speed_summary(SpeedResult([timed("warm", 1, 1.0, cpu_seconds)] * 2))
        return list(summary["warnings"])

    assert warnings(0.99) == []
    assert warnings(0.6) == ["the process had a processor for 60 % of the time only"]
    assert warnings(1.9) == ["1.9 processors were used, though one thread was asked for"]


def test_the_interval_spans_the_medians_of_the_processes() -> None:
    slow, fast = [2.0, 2.1, 2.2], [1.0, 1.1, 1.2]
    alone = summarize([*slow, *[1.5] * 20, *fast])
    assert (alone.low, alone.high) == (1.5, 1.5)
    grouped = summarize([*slow, *[1.5] * 20, *fast], [*[0] * 3, *[1] * 20, *[2] * 3])
    assert (grouped.low, grouped.high) == (1.1, 2.1)


@pytest.mark.parametrize(("processes", "share"), [(3, 0.75), (6, 0.97)])
def test_few_processes_that_differ_more_than_rounds_hold_their_median_too_seldom(
    processes: int, share: float
) -> None:
    """As `docs/speed.md` says: the median of all lies between that of n with a probability of 1 - 2^(1-n)."""
    rng = random.Random(processes)
    held = 0
    for _ in range(1000):
        levels = [rng.gauss(0, 0.05) for _ in range(processes)]
        timings = [math.exp(rng.gauss(level, 0.01)) for level in levels for _ in range(5)]
        summary = summarize(timings, [which for which in range(processes) for _ in range(5)])
        held += summary.low <= 1 <= summary.high
    assert held / 1000 == pytest.approx(share, abs=0.04)


@pytest.mark.long
@pytest.mark.parametrize("n", range(2, 6))
def test_the_interval_of_a_few_covers_as_well(n: int) -> None:
    rng = random.Random(n)
    drawn = [summarize([rng.lognormvariate(0, 0.1) for _ in range(n)]) for _ in range(8000)]
    assert sum(each.low <= 1 <= each.high for each in drawn) / len(drawn) == pytest.approx(0.95, abs=0.01)
    assert all(each.low <= each.minimum and each.high >= each.maximum for each in drawn)
    assert summarize([1.0]).low is summarize([1.0]).high is None


def test_no_round_is_dropped_and_unsteady_ones_are_said() -> None:
    summary = summarize([1.0, 1.0, 1.0, 9.0])
    assert summary.maximum == 9.0
    assert any("above the mean" in warning for warning in summary.warnings)
    assert summarize([1.0, 1.01, 0.99]).warnings == ()
    assert "less than 1 ms" in summarize([1e-5, 1e-5]).warnings[-1]
    assert summarize([1e-5, 1e-5], shortest=4e-3).warnings == (), "many passes were timed at once"


@pytest.mark.parametrize("n", range(6, 60))
def test_the_interval_of_the_median_covers(n: int) -> None:
    def covers(rank: int) -> float:
        return 1 - 2 * sum(comb(n, k) for k in range(rank + 1)) / 2**n

    rank = interval_rank(n)
    assert covers(rank) >= 0.95
    assert covers(rank + 1) < 0.95
