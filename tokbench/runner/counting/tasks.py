"""Runs one counting task: lends it a worker, and another where a portion of it took the first one down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tokbench.runner.counting.count import CountTask, PortionResult, count, get_ready
from tokbench.runner.counting.dispatch import difference, environment_here
from tokbench.workers.calls import Emit, NoAnswer, failure, failure_from
from tokbench.workers.pool import borrowed

MOST_LOSSES = 3
"""After so many lost workers in a row a tokenizer's remaining portions of the task are not tried."""


class _Stopped(Exception):
    """The user asked to stop, and a portion has just been finished."""


def run_task(
    task: CountTask, on_event: Emit | None = None, should_stop: Callable[[], bool] = lambda: False
) -> list[PortionResult]:
    """The outcome of every portion in order, or of those done when `should_stop`.

    A portion that takes its worker down has failed, and those after it go on in another. `on_event` hears
    `Progress` and each `PortionResult` as they happen. Raises `WorkerLost` if interrupted.
    """
    done: list[PortionResult] = []
    losses = 0

    def hear(event: object) -> None:
        if isinstance(event, PortionResult):
            done.append(event)
        if on_event is not None:
            on_event(event)
        if isinstance(event, PortionResult) and should_stop():
            raise _Stopped

    try:
        while left := task.portions[len(done) :]:
            try:
                with borrowed() as worker:
                    worker.call(get_ready)
                    worker.call(count, replace(task, portions=left), limits=task.limits, on_event=hear)
            except NoAnswer as error:
                why = failure_from(error)
                lost = task.portions[len(done) :]  # the first of them was being counted
                losses = losses + 1 if len(lost) == len(left) else 1
                for portion in lost[:1]:
                    hear(PortionResult(portion.index, portion.part, failure=why))
                why = replace(why, message=f"not tried after {losses} such failures in a row: {why.message}")
                for portion in lost[1:] if losses >= MOST_LOSSES else ():
                    hear(PortionResult(portion.index, portion.part, failure=why))
    except _Stopped:
        pass
    return done


def run_checked(task: CountTask, expected: Mapping[str, str]) -> list[PortionResult]:
    """`run_task` on a worker of a cluster, which may have joined after `check_workers` asked the others."""
    different = difference(expected, environment_here(task.portions[0].recipe.context))
    if different:
        why = failure("environment", f"the worker is not the same as the coordinator: {different}")
        return [PortionResult(portion.index, portion.part, failure=why) for portion in task.portions]
    return run_task(task)
