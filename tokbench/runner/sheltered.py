"""A task run in a worker process of its own: whatever the tokenizer does, each piece has an outcome.

This is the function that engines execute: in a thread of the coordinator for the local engine, on another
machine for Dask and Ray. Everywhere the tokenizer itself lives one process further, so that limits and
crashes mean the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tokbench.runner.counting import count, failure, get_ready
from tokbench.runner.limits import CallFailed, WorkerLost
from tokbench.runner.pool import borrowed
from tokbench.runner.tasks import Outcome, Task, without

MOST_LOSSES = 3
"""After so many lost workers in a row a tokenizer's remaining pieces of the task are not tried."""


class _Stopped(Exception):
    """The user asked to stop, and a piece has just been finished."""


def run_task(
    task: Task,
    on_event: Callable[[Any], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Outcome]:
    """The outcome of every piece, or of those done when `should_stop`; raises `WorkerLost` if interrupted.

    `on_event` hears ``("progress", cell, bytes)`` and ``("done", outcome)`` as they happen.
    """
    done: list[Outcome] = []
    losses = 0
    while pieces := without(task, done):
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
        except WorkerLost as loss:
            if loss.kind == "interrupted":
                raise
            why = failure(loss.kind, str(loss), output=loss.output)
        except CallFailed as error:
            why = failure(error.kind, str(error), traceback=error.traceback, output=error.output)
        losses = losses + 1 if len(done) == before else 1
        cell, part = begun[-1] if begun else (pieces[0].cell, pieces[0].part)
        failed = [Outcome(cell, part, failure=why)]
        if losses >= MOST_LOSSES:
            note = replace(why, message=f"not tried after {losses} such failures in a row: {why.message}")
            rest = without(task, [*done, *failed])
            failed += [Outcome(piece.cell, piece.part, failure=note) for piece in rest]
        for outcome in failed:
            done.append(outcome)
            if on_event is not None:
                on_event(("done", outcome))
    return done
