"""A pool of idle workers: `borrowed` lends one, `attempt` makes one call and always has an answer.

Whoever runs a task, a thread of the coordinator or a machine of a cluster, has a pool of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Iterator

from tokbench.results.failure import TaskFailure
from tokbench.workers.calls import NO_LIMITS, CallFailed, Emit, Given, Limits, NoAnswer, T, failure_from
from tokbench.workers.parent import Worker

_idle: list[Worker] = []
_lock = threading.Lock()


@contextlib.contextmanager
def borrowed(*, fresh: bool = False) -> Iterator[Worker]:
    """A single-threaded worker of this process's pool, which it goes back to; or a `fresh` one, which ends."""
    with _lock:
        worker = next((each for each in _idle if each.alive and not fresh), None)
        if worker is not None:
            _idle.remove(worker)
    worker = worker or Worker()
    whole = False  # not where it was lost, or left in the middle of a call
    try:
        yield worker
        whole = True
    except CallFailed:
        whole = True
        raise
    finally:
        if whole and not fresh:
            with _lock:
                _idle.append(worker)
        else:
            worker.close()


def start_ahead(
    number: int, function: Callable[[Emit], None], compiling: Callable[[], None] | None = None
) -> None:
    """Start workers until `number` are idle, and have each call ``function(emit)`` while nobody needs it yet.

    A process takes half a second to import what counts; meanwhile we have other things to do.
    """
    with _lock:
        for _ in range(number - len(_idle)):
            worker = Worker()
            worker.begin(function, compiling)
            _idle.append(worker)


def attempt(
    function: Callable[[Emit, *Given], T],
    *arguments: *Given,
    limits: Limits = NO_LIMITS,
    doing: str = "",
    again: bool = False,
) -> T | TaskFailure:
    """What ``function(emit, *arguments)`` gives in a pooled worker, or why nothing; `doing` says when.

    With `again`, it is tried a second time where the process just died: for our own functions, which do not do
    that, so that somebody else killed it. Raises `WorkerLost` of kind ``interrupted`` only.
    """
    try:
        with borrowed() as worker:
            return worker.call(function, *arguments, limits=limits)
    except NoAnswer as error:
        if again and error.kind == "crashed":
            return attempt(function, *arguments, limits=limits, doing=doing)
        return failure_from(error, doing)


def close_idle() -> None:
    """End the workers that nobody uses."""
    with _lock:
        workers, _idle[:] = list(_idle), []
    for worker in workers:
        worker.close()


atexit.register(close_idle)
