"""The quality pass: tasks to an executor, tallies back, a file for each finished cell.

Is a worker on another machine the same as we are? That is asked before work is sent, and again by every task.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from tokbench.errors import SpecError
from tokbench.registry import PluginChoice, Registry
from tokbench.results.atomic import StorageError
from tokbench.results.cell import CellResult, Failure, write_cell
from tokbench.results.folder import RunFolder
from tokbench.runner.cells import Cell
from tokbench.runner.counting import Summing
from tokbench.runner.inspecting import run_audit
from tokbench.runner.limits import WorkerLost, failure
from tokbench.runner.pool import run_task
from tokbench.runner.recipe import digest_of, environment, open_registry
from tokbench.runner.shelter import Stop
from tokbench.runner.tasks import Audited, AuditTask, CountTask, Outcome
from tokbench.tally import Tally
from tokbench.tokenizer import LoadContext

MOST_DIGESTS = 1_000
"""Shards of a cell up to which each is listed; beyond, one digest stands for them all."""


class Watcher(Protocol):
    """Somebody who watches the pass: a progress display, or nobody."""

    def worked(self, cell: Cell, n_bytes: int) -> None:
        """Bytes of a cell were counted."""
        ...

    def finished(self, cell: Cell, result: CellResult) -> None:
        """A cell is finished and on disk."""
        ...


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
                self.tallies.add(Tally.from_bytes(following.tally))

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
        work: Iterable[CountTask],
        folder: RunFolder,
        watcher: Watcher,
        *,
        tell: Callable[[CellResult], None],
    ) -> None:
        parts = Counter(piece.cell for task in work for piece in task.pieces)
        self._growing = {cell.index: _Growing(cell, parts[cell.index]) for cell in cells}
        self._folder = folder
        self._watcher = watcher
        self._tell = tell
        self._lock = threading.Lock()
        self._reported: dict[int, int] = {}
        self.digests: dict[tuple[str, str], list[str]] = {}
        self.failures: list[CellResult] = []

    def run(
        self,
        executor: Executor,
        tasks: Iterable[CountTask | AuditTask],
        stop: Stop,
        *,
        jobs: int,
        audited: Callable[[AuditTask, Audited | Failure], None],
        expected: Mapping[str, str] | None = None,
    ) -> None:
        """Run every task, at most twice `jobs` waiting at once; ends early where the user asked to stop.

        `audited` takes what was found of a tokenizer, which is asked on engines that are not shared only.
        `expected` is what workers of a shared engine must have; None for others. Raises what the coordinator
        itself cannot survive: a disk that is full, above all.
        """
        waiting: set[Future[Any]] = set()
        queue = iter(tasks)
        exhausted = False
        while True:
            while not exhausted and not stop.asked and len(waiting) < 2 * jobs:
                task = next(queue, None)
                if task is None:
                    exhausted = True
                elif isinstance(task, AuditTask):
                    waiting.add(executor.submit(lambda task: audited(task, run_audit(task)), task))
                elif expected is None:
                    waiting.add(executor.submit(run_task, task, self.hear, lambda: stop.asked))
                else:  # nobody can be heard from another machine: outcomes come with the future
                    waiting.add(_submitted(executor, run_checked, task, expected))
            if stop.asked:
                waiting = {future for future in waiting if not future.cancel()}
            if not waiting:
                return
            # The timeout lets a signal handler run between two looks.
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                outcomes: list[Outcome] = _result(future, shared=expected is not None)
                for outcome in outcomes if expected is not None else ():
                    self.hear(("done", outcome))

    def hear(self, event: Any) -> None:
        """Take an event of a task: progress, or a piece that is done."""
        with self._lock:
            if event[0] == "progress":
                self._progress(event[1], event[2])
            elif event[0] == "done":
                self._piece(event[1])

    def _progress(self, index: int, n_bytes: int) -> None:
        self._reported[index] = self._reported.get(index, 0) + n_bytes
        self._watcher.worked(self._growing[index].cell, n_bytes)

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
        self._watcher.worked(cell, cell.n_bytes - self._reported.pop(cell.index, 0))
        self._watcher.finished(cell, result)
        self._tell(result)


PROBES = 4
"""Questions for each job: an executor does not say which worker answers, so several are asked."""


class EngineLost(Exception):
    """A shared engine gives no results any more: its scheduler or its workers are gone."""


def _result(future: Future[Any], *, shared: bool) -> Any:
    """What a task gives; on a shared engine, tasks shelter what they do, so what they raise is the engine's."""
    try:
        return future.result()
    except (WorkerLost, StorageError, CancelledError):
        raise
    except Exception as error:
        if not shared:
            raise
        raise EngineLost(f"{type(error).__name__}: {error}") from error


def _submitted(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """A task handed to a shared engine, which may be gone before it takes it."""
    try:
        return executor.submit(function, *arguments)
    except Exception as error:
        raise EngineLost(f"{type(error).__name__}: {error}") from error


def check_here(executor: Executor, engine: str) -> None:
    """Raise `SpecError` where an engine that says it is not shared runs its tasks in other processes."""
    if executor.submit(os.getpid).result() != os.getpid():
        raise SpecError(f"the engine {engine!r} runs tasks in other processes: its plugin must say shared=True")


def check_workers(executor: Executor, registry: Registry, jobs: int) -> None:
    """Raise `SpecError`, naming what differs, unless every worker that answers has what we have.

    Raises `EngineLost` where none can answer.
    """
    ours = environment(registry)
    asked = [
        _submitted(executor, environment_here, registry.choice, registry.context) for _ in range(PROBES * jobs)
    ]
    for future in asked:
        different = difference(ours, _result(future, shared=True))
        if different:
            raise SpecError(f"a worker of the engine is not the same as here: {different}; nothing was sent")


@lru_cache(maxsize=4)
def environment_here(plugins: PluginChoice, context: LoadContext) -> dict[str, str]:
    """What this process has."""
    return environment(open_registry(plugins, context))


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """What differs, in words; empty where nothing does.

    Example:
        >>> difference({"tokbench": "1.0", "numpy": "2"}, {"tokbench": "0.9", "numpy": "2"})
        'tokbench is 0.9 there and 1.0 here'
    """
    names = dict.fromkeys([*ours, *theirs])
    return ", ".join(
        f"{name} is {theirs.get(name, 'absent')} there and {ours.get(name, 'absent')} here"
        for name in names
        if ours.get(name) != theirs.get(name)
    )


def run_checked(task: CountTask, expected: Mapping[str, str]) -> list[Outcome]:
    """`run_task` on a worker of a cluster, which may have joined after the others were asked."""
    different = difference(expected, environment_here(task.recipe.plugins, task.recipe.context))
    if different:
        why = failure("environment", f"the worker is not the same as the coordinator: {different}")
        return [Outcome(piece.cell, piece.part, failure=why) for piece in task.pieces]
    return run_task(task)
