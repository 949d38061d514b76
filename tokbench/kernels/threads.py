"""Divides a job over threads; and how many threads there are to use.

Kernels run without the GIL, so threads of one process use all cores. Results come in the order of the parts, so
that adding them up gives the same for any number of threads.

Starting a thread takes half a millisecond: a caller with many short jobs keeps its threads (`kept_threads`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from tokbench.spec import Option

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
    """How many cores this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_of(options: Mapping[str, Any]) -> int:
    """How many threads a training has, by the option `THREADS`."""
    return int(options["threads"] or usable_cores())


_kept: ContextVar[ThreadPoolExecutor | None] = ContextVar("kept", default=None)


@contextmanager
def kept_threads(threads: int) -> Iterator[None]:
    """Within this, `in_threads` has so many threads at hand, the calling one among them, and starts no others.

    They end with it, whatever ends it.

    Example:
        >>> with kept_threads(2):
        ...     in_threads(len, ["a", "bcd"], threads=2)
        [1, 3]
    """
    if threads <= 1:
        yield
        return
    with ThreadPoolExecutor(threads - 1) as pool:
        token = _kept.set(pool)
        try:
            yield
        finally:
            _kept.reset(token)


def in_threads(do: Callable[[Part], Result], parts: Iterable[Part], threads: int) -> list[Result]:
    """`do` of every part, in order; the calling thread is one of the `threads`.

    After an error no further part is begun. It is raised when no thread is at work on any.

    Example:
        >>> in_threads(len, ["a", "bcd"], threads=2)
        [1, 3]
    """
    jobs = list(parts)
    threads = min(threads, len(jobs))
    if threads <= 1:
        return [do(job) for job in jobs]
    pool = _kept.get()
    if pool is None:
        with kept_threads(threads):
            return in_threads(do, jobs, threads)
    results: dict[int, Result] = {}
    waiting = iter(range(len(jobs)))  # each number goes to one of those who ask

    def work() -> None:
        try:
            for index in waiting:
                results[index] = do(jobs[index])
        finally:
            deque(waiting, maxlen=0)

    others = [pool.submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        begun = [other for other in others if not other.cancel()]  # the rest would find nothing left to do
        wait(begun)
    for other in begun:
        other.result()
    return [results[index] for index in range(len(jobs))]
