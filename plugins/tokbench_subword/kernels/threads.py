"""How many threads to work with, and parts of a job done by so many at once.

Kernels run without the GIL, so threads of one process use all cores. What they return is in the order of the
parts: whoever adds it up in that order gets the same result from any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tokbench import Option

Part = TypeVar("Part")
Result = TypeVar("Result")

THREADS = Option(
    "threads",
    "int",
    None,
    "Training: threads; the result is the same for any number. Not set: all cores this process may use.",
)
"""The option of every family here that can be trained."""


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(do: Callable[[Part], Result], parts: Iterable[Part], threads: int) -> list[Result]:
    """`do` of every part, in order; the calling thread is one of the `threads`.

    Example:
        >>> in_threads(len, ["a", "bcd"], threads=2)
        [1, 3]
    """
    jobs = list(parts)
    threads = min(threads, len(jobs))
    if threads <= 1:
        return [do(job) for job in jobs]
    results: dict[int, Result] = {}
    waiting = iter(range(len(jobs)))  # each number goes to one of those who ask

    def work() -> None:
        for index in waiting:
            results[index] = do(jobs[index])

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
    for other in others:
        other.result()
    return [results[index] for index in range(len(jobs))]
