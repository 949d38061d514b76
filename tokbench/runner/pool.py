"""A few workers, kept warm between tasks, and the calls that use them: whatever is called, there is an answer.

Engines execute `run_task`: in a thread of the coordinator for the local engine, on another
machine for Dask and Ray. Everywhere the tokenizer itself lives one process further, so that limits and crashes
mean the same on every engine.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tokbench.runner.counting import count, get_ready
from tokbench.runner.limits import NO_LIMITS, CallFailed, Limits, WorkerLost, failure_from
from tokbench.runner.shelter import Worker
from tokbench.runner.tasks import CountTask, Outcome

_idle: list[Worker] = []
_lock = threading.Lock()


@contextlib.contextmanager
def borrowed(*, fresh: bool = False) -> Iterator[Worker]:
    """A single-threaded worker of this process's pool, which it goes back to; or a `fresh` one, which ends."""
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
        _give_back(worker, fresh)
        raise
    except BaseException:  # lost, or left in the middle of a call: of no more use
        worker.close()
        raise
    _give_back(worker, fresh)


def start_ahead(number: int, function: Callable[..., Any], compiling: Callable[[], None] | None = None) -> None:
    """Start workers until `number` are idle, and have each call ``function(emit)`` while nobody needs it yet.

    A process takes half a second to import what counts; meanwhile we have other things to do.
    """
    with _lock:
        for _ in range(number - len(_idle)):
            worker = Worker()
            worker.begin(function, compiling)
            _idle.append(worker)


def _give_back(worker: Worker, fresh: bool) -> None:
    if fresh:
        worker.close()
        return
    with _lock:
        _idle.append(worker)


def attempt(
    function: Callable[..., Any],
    *arguments: Any,
    limits: Limits = NO_LIMITS,
    doing: str = "",
    again: bool = False,
) -> Any:
    """What ``function(emit, *arguments)`` gives in a pooled worker, or why nothing; `doing` says when.

    With `again`, it is tried a second time where the process just died: for our own functions, which do not do
    that, so that somebody else killed it. Raises `WorkerLost` of kind ``interrupted`` only.
    """
    try:
        with borrowed() as worker:
            return worker.call(function, *arguments, limits=limits)
    except (WorkerLost, CallFailed) as error:
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


MOST_LOSSES = 3
"""After so many lost workers in a row a tokenizer's remaining pieces of the task are not tried."""


class _Stopped(Exception):
    """The user asked to stop, and a piece has just been finished."""


def run_task(
    task: CountTask,
    on_event: Callable[[Any], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Outcome]:
    """The outcome of every piece, or of those done when `should_stop`; raises `WorkerLost` if interrupted.

    `on_event` hears ``("progress", cell, bytes)`` and ``("done", outcome)`` as they happen.
    """
    done: list[Outcome] = []
    losses = 0
    while pieces := task.without(done):
        before = len(done)
        begun: list[tuple[int, int]] = []

        def hear(event: Any, begun: list[tuple[int, int]] = begun) -> None:
            if event[0] == "begin":
                begun.append(event[1:])
            elif event[0] == "done":
                done.append(event[1])
            if on_event is not None:
                on_event(event)
            if event[0] == "done" and should_stop():
                raise _Stopped

        try:
            with borrowed() as worker:
                worker.call(get_ready)
                worker.call(count, replace(task, pieces=pieces), limits=task.limits, on_event=hear)
            continue
        except _Stopped:
            return done
        except (WorkerLost, CallFailed) as error:
            why = failure_from(error)
        losses = losses + 1 if len(done) == before else 1
        cell, part = begun[-1] if begun else (pieces[0].cell, pieces[0].part)
        failed = [Outcome(cell, part, failure=why)]
        if losses >= MOST_LOSSES:
            note = replace(why, message=f"not tried after {losses} such failures in a row: {why.message}")
            rest = task.without([*done, *failed])
            failed += [Outcome(piece.cell, piece.part, failure=note) for piece in rest]
        for outcome in failed:
            done.append(outcome)
            if on_event is not None:
                on_event(("done", outcome))
    return done
