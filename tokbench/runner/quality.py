"""The quality pass: tasks to an executor, tallies back, a file for each finished cell."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tokbench.results.cell import CellResult, Failure, write_cell
from tokbench.results.folder import RunFolder
from tokbench.runner.cells import Cell
from tokbench.runner.counting import CountTask, Outcome, Progress, Summing, count, get_ready
from tokbench.runner.engines import difference, environment_here, result_of, submitted
from tokbench.runner.fingerprint import digest_of
from tokbench.runner.limits import CallFailed, WorkerLost, failure, failure_from
from tokbench.runner.pool import borrowed
from tokbench.runner.shelter import Stop
from tokbench.runner.worker import Emit

if TYPE_CHECKING:
    from tokbench.runner.progress import Display  # which a worker does without

MOST_DIGESTS = 1_000
"""Shards of a cell up to which each is listed; beyond, one digest stands for them all."""


@dataclass
class _Growing:
    """A cell whose pieces are coming in. Pieces are added in order, so nothing depends on who was faster."""

    cell: Cell
    parts: int
    waiting: dict[int, Outcome] = field(default_factory=dict)
    done: int = 0
    tallies: Summing = field(default_factory=Summing)
    failure: Failure | None = None
    digests: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cached: bool = True

    def add(self, outcome: Outcome) -> None:
        """Take a piece, and every later one that was waiting for it."""
        self.waiting[outcome.part] = outcome
        while (following := self.waiting.pop(self.done, None)) is not None:
            self.done += 1
            self.seconds += following.seconds
            self.digests += following.digests
            self.cached &= following.failure is None and following.seconds == 0
            if following.failure is not None:
                self.failure = self.failure or following.failure
            elif following.tally is not None and self.failure is None:
                self.tallies.add(following.tally)

    @property
    def complete(self) -> bool:
        """Whether every piece is in."""
        return self.done == self.parts


class QualityPass:
    """Counts cells, cut into `work`, through an executor.

    `digests` then holds the shard digests of each dataset and language.
    Outcomes arrive on the threads of the local engine, or with the futures of a shared one; a lock makes
    them one line.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        work: Sequence[CountTask],
        folder: RunFolder,
        display: Display,
        *,
        tell: Callable[[CellResult], None],
    ) -> None:
        parts = Counter(piece.cell for task in work for piece in task.pieces)
        self._work = work
        self._growing = {cell.index: _Growing(cell, parts[cell.index]) for cell in cells}
        self._folder = folder
        self._display = display
        self._tell = tell
        self._lock = threading.Lock()
        self._reported: dict[int, int] = {}
        self.digests: dict[tuple[str, str], list[str]] = {}
        self.failures: list[CellResult] = []

    def run(
        self,
        executor: Executor,
        stop: Stop,
        *,
        jobs: int,
        expected: Mapping[str, str] | None = None,
    ) -> None:
        """Run every task, at most twice `jobs` waiting at once; ends early where the user asked to stop.

        `expected` is what workers of a shared engine must have; None for others. Raises what the coordinator
        itself cannot survive: a disk that is full, above all.
        """
        waiting: set[Future[list[Outcome]]] = set()
        queue = iter(self._work)
        exhausted = False
        while True:
            while not exhausted and not stop.asked and len(waiting) < 2 * jobs:
                task = next(queue, None)
                if task is None:
                    exhausted = True
                elif expected is None:
                    waiting.add(executor.submit(run_task, task, self.hear, lambda: stop.asked))
                else:  # nobody can be heard from another machine: outcomes come with the future
                    waiting.add(submitted(executor, run_checked, task, expected))
            if stop.asked:
                waiting = {future for future in waiting if not future.cancel()}
            if not waiting:
                return
            # The timeout lets a signal handler run between two looks.
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                outcomes = result_of(future, shared=expected is not None)
                for outcome in outcomes if expected is not None else ():
                    self.hear(outcome)

    def hear(self, event: object) -> None:
        """Take an event of a task: progress, or a piece that is done."""
        with self._lock:
            if isinstance(event, Progress):
                self._progress(event)
            elif isinstance(event, Outcome):
                self._piece(event)

    def _progress(self, more: Progress) -> None:
        self._reported[more.cell] = self._reported.get(more.cell, 0) + more.n_bytes
        self._display.worked(self._growing[more.cell].cell, more.n_bytes)

    def _piece(self, outcome: Outcome) -> None:
        growing = self._growing[outcome.cell]
        growing.add(outcome)
        if growing.complete:
            del self._growing[outcome.cell]
            self._finish(growing)

    def _finish(self, growing: _Growing) -> None:
        cell = growing.cell
        digests = growing.digests if len(growing.digests) <= MOST_DIGESTS else [digest_of(growing.digests)]
        result = CellResult(
            cell.key,
            cell.identity,
            growing.tallies.total() if growing.failure is None else None,
            growing.failure,
            growing.seconds,
            growing.cached,
            tuple(digests),
        )
        write_cell(self._folder.cells, result)
        if growing.failure is None:
            self.digests.setdefault((cell.key.dataset, cell.key.language), digests)
        else:
            self.failures.append(result)
        self._display.worked(cell, cell.n_bytes - self._reported.pop(cell.index, 0))
        self._display.finished(cell, result)
        self._tell(result)


# --- one task -----------------------------------------------------------------------------------------------

MOST_LOSSES = 3
"""After so many lost workers in a row a tokenizer's remaining pieces of the task are not tried."""


class _Stopped(Exception):
    """The user asked to stop, and a piece has just been finished."""


def run_task(
    task: CountTask, on_event: Emit | None = None, should_stop: Callable[[], bool] = lambda: False
) -> list[Outcome]:
    """The outcome of every piece in order, or of those done when `should_stop`.

    A piece that takes its worker down has failed, and those after it go on in another. `on_event` hears
    `Progress` and each `Outcome` as they happen. Raises `WorkerLost` if interrupted.
    """
    done: list[Outcome] = []
    losses = 0

    def hear(event: object) -> None:
        if isinstance(event, Outcome):
            done.append(event)
        if on_event is not None:
            on_event(event)
        if isinstance(event, Outcome) and should_stop():
            raise _Stopped

    try:
        while left := task.pieces[len(done) :]:
            try:
                with borrowed() as worker:
                    worker.call(get_ready)
                    worker.call(count, replace(task, pieces=left), limits=task.limits, on_event=hear)
            except (WorkerLost, CallFailed) as error:
                why = failure_from(error)
                lost = task.pieces[len(done) :]  # the first of them was being counted
                losses = losses + 1 if len(lost) == len(left) else 1
                for piece in lost[:1]:
                    hear(Outcome(piece.cell, piece.part, failure=why))
                why = replace(why, message=f"not tried after {losses} such failures in a row: {why.message}")
                for piece in lost[1:] if losses >= MOST_LOSSES else ():
                    hear(Outcome(piece.cell, piece.part, failure=why))
    except _Stopped:
        pass
    return done


def run_checked(task: CountTask, expected: Mapping[str, str]) -> list[Outcome]:
    """`run_task` on a worker of a cluster, which may have joined after the others were asked."""
    different = difference(expected, environment_here(task.recipe.registry))
    if different:
        why = failure("environment", f"the worker is not the same as the coordinator: {different}")
        return [Outcome(piece.cell, piece.part, failure=why) for piece in task.pieces]
    return run_task(task)
