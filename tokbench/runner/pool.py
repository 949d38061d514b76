"""A few workers, kept warm between tasks, and the calls that use them."""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tokbench.runner.limits import NO_LIMITS, CallFailed, Limits, WorkerLost
from tokbench.runner.shelter import Worker

_idle: list[Worker] = []
_lock = threading.Lock()


@contextlib.contextmanager
def borrowed(*, fresh: bool = False) -> Iterator[Worker]:
    """A single-threaded worker of this process's pool, or a `fresh` one; given back if it still lives."""
    worker = None
    with _lock:
        if not fresh:
            worker = next((each for each in _idle if each.alive), None)
        if worker is not None:
            _idle.remove(worker)
    worker = worker or Worker()
    try:
        yield worker
    except CallFailed:
        _give_back(worker)
        raise
    except BaseException:  # lost, or left in the middle of a call: of no more use
        worker.close()
        raise
    _give_back(worker)


def start_ahead(number: int, function: Callable[..., Any]) -> None:
    """Start workers until `number` are idle, and have each call ``function(emit)`` while nobody needs it yet.

    A process takes half a second to import what counts; meanwhile we have other things to do.
    """
    with _lock:
        for _ in range(number - len(_idle)):
            worker = Worker()
            worker.begin(function)
            _idle.append(worker)


def _give_back(worker: Worker) -> None:
    with _lock:
        _idle.append(worker)


def call_twice(function: Callable[..., Any], *arguments: Any, limits: Limits = NO_LIMITS) -> Any:
    """`Worker.call` in a pooled worker, tried a second time where the process just died.

    For our own functions: where no tokenizer is involved, somebody else killed the process.
    """
    try:
        with borrowed() as worker:
            return worker.call(function, *arguments, limits=limits)
    except WorkerLost as loss:
        if loss.kind != "crashed":
            raise
    with borrowed() as worker:
        return worker.call(function, *arguments, limits=limits)


def close_idle() -> None:
    """End the workers that nobody uses."""
    with _lock:
        workers, _idle[:] = list(_idle), []
    for worker in workers:
        worker.close()


atexit.register(close_idle)
