"""What makes timings doubtful: others at work on the machine, and ids that differ between processes."""

from __future__ import annotations

from tokbench.runner.speed.timings import SpeedResult
from tokbench.wording import percent
from tokbench.workers.calls import failure

_MOST_BY_OTHERS = 0.25
"""Share of the machine that others may use when timing begins, before it is said."""
_LEAST_OF_ITS_TIME = 0.9
"""Share of its time for which a single thread has a processor, where nothing is said."""


def check_digests(result: SpeedResult) -> None:
    """A tokenizer whose ids differ between processes or thread counts has no speed worth stating."""
    seen: dict[str, str] = {}
    for row in result.set_ups:
        first = seen.setdefault(row["tokenizer"], row["digest"])
        if first != row["digest"]:
            result.failures[row["tokenizer"]] = failure(
                "raised",
                f"ids differ between processes: with {row['threads']} threads, process {row['process']}",
            )


def busy() -> list[str]:
    """A note where others use the machine, which no statistic can take out of timings.

    It is measured while this run does nothing: the load of the last minute would be its own.
    """
    import psutil

    cores = psutil.cpu_count() or 1
    share = psutil.cpu_percent(interval=0.3) / 100
    if share < _MOST_BY_OTHERS:
        return []
    return [f"the machine was busy: others used {share * cores:.1f} of {cores} cores when timing began"]


def waited(result: SpeedResult) -> list[str]:
    """A note where single threads were kept waiting while they were timed."""
    rows = [row for row in result.rounds if row["threads"] == 1]
    had = sum(min(row["cpu_seconds"], row["seconds"]) for row in rows)
    share = had / (sum(row["seconds"] for row in rows) or 1.0)
    if not rows or share > _LEAST_OF_ITS_TIME:
        return []
    return [f"others used the machine: what was timed had a processor for {percent(share)} of its time"]
