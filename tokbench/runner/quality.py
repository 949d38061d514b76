"""The quality pass: tasks to an executor, tallies back, a file for each finished cell."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokbench.results.cell import CellResult, Failure, write_cell
from tokbench.results.folder import RunFolder
from tokbench.runner.environments import run_checked
from tokbench.runner.interrupt import Stop
from tokbench.runner.plan import Bundle, Cell
from tokbench.runner.recipe import digest_of
from tokbench.runner.sheltered import run_task
from tokbench.runner.summing import Summing
from tokbench.runner.tasks import Outcome, Task
from tokbench.tally import Tally

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
        work: Iterable[Bundle],
        folder: RunFolder,
        watcher: Watcher,
        *,
        tell: Callable[[CellResult], None],
    ) -> None:
        parts = Counter(piece.cell for bundle in work for piece in bundle.pieces)
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
        tasks: Iterable[Task | Callable[[], None]],
        stop: Stop,
        *,
        jobs: int,
        expected: Mapping[str, str] | None = None,
    ) -> None:
        """Run every task, at most twice `jobs` waiting at once; ends early where the user asked to stop.

        On the local engine there may be calls among them that do something else and give nothing.
        `expected` is what workers of a shared engine must have; None for the local engine. Raises what the
        coordinator itself cannot survive: a disk that is full, above all.
        """
        waiting: set[Future[Any]] = set()
        queue = iter(tasks)
        exhausted = False
        while True:
            while not exhausted and not stop.asked and len(waiting) < 2 * jobs:
                task = next(queue, None)
                if task is None:
                    exhausted = True
                elif not isinstance(task, Task):
                    waiting.add(executor.submit(task))
                elif expected is None:
                    waiting.add(executor.submit(run_task, task, self.hear, lambda: stop.asked))
                else:  # nobody can be heard from another machine: outcomes come with the future
                    waiting.add(executor.submit(run_checked, task, expected))
            if stop.asked:
                waiting = {future for future in waiting if not future.cancel()}
            if not waiting:
                return
            # The timeout lets a signal handler run between two looks.
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                outcomes: list[Outcome] = future.result()
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

    @property
    def unfinished(self) -> Mapping[int, Cell]:
        """The cells that are not done, where the pass ended early."""
        return {index: growing.cell for index, growing in self._growing.items()}
