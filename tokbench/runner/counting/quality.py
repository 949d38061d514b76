"""The quality pass: sends counting tasks to an engine, adds up the tallies, writes each complete cell."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tokbench.results.cell import CellResult, write_cell
from tokbench.results.folder import RunFolder
from tokbench.runner.counting.count import CountTask, PlannedCell, PortionResult, Progress
from tokbench.runner.counting.dispatch import result_of, submitted
from tokbench.runner.counting.tasks import run_checked, run_task
from tokbench.runner.fingerprint import digest_of
from tokbench.workers.interrupt import Stop

if TYPE_CHECKING:
    from tokbench.runner.progress import Display
    from tokbench.tally.tally import Tally

MOST_DIGESTS = 1_000
"""Shards of a cell up to which each is listed; beyond, one digest stands for them all."""


@dataclass
class _Growing:
    """A cell whose portions are coming in, in whatever order: tallies are added up at once, the rest waits.

    `parts` is how many it has, `reported` the bytes of which the display has heard.
    """

    cell: PlannedCell
    parts: int
    reported: int = 0
    tally: Tally | None = None
    outcomes: dict[int, PortionResult] = field(default_factory=dict)

    def add(self, outcome: PortionResult) -> bool:
        """Take a portion; whether that was the last to come."""
        if outcome.tally is not None:
            self.tally = outcome.tally if self.tally is None else self.tally + outcome.tally
        self.outcomes[outcome.part] = replace(outcome, tally=None)
        return len(self.outcomes) == self.parts

    def result(self) -> CellResult:
        """The finished cell; it failed where any of its portions did."""
        portions = [self.outcomes[part] for part in sorted(self.outcomes)]
        failure = next((portion.failure for portion in portions if portion.failure is not None), None)
        digests = [digest for portion in portions for digest in portion.digests]
        return CellResult(
            self.cell.key,
            self.cell.identity,
            self.tally if failure is None else None,
            failure,
            sum(portion.seconds for portion in portions),
            cached=all(portion.failure is None and portion.seconds == 0 for portion in portions),
            digests=tuple(digests if len(digests) <= MOST_DIGESTS else [digest_of(digests)]),
        )


class QualityPass:
    """Counts cells, cut into `work`, through an executor.

    `digests` then holds the shard digests of each dataset and language. Outcomes arrive on the threads of the
    local engine, or with the futures of a shared one; a lock has them taken one at a time.
    """

    def __init__(
        self,
        cells: Sequence[PlannedCell],
        work: Sequence[CountTask],
        folder: RunFolder,
        display: Display,
        *,
        tell: Callable[[CellResult], None],
    ) -> None:
        parts = Counter(portion.index for task in work for portion in task.portions)
        self._work = work
        self._growing = {cell.index: _Growing(cell, parts[cell.index]) for cell in cells}
        self._folder = folder
        self._display = display
        self._tell = tell
        self._lock = threading.Lock()
        self.digests: dict[tuple[str, str], list[str]] = {}
        self.failures: list[CellResult] = []

    def run(
        self, executor: Executor, stop: Stop, *, jobs: int, expected: Mapping[str, str] | None = None
    ) -> None:
        """Run every task, at most twice `jobs` waiting at once; ends early where the user asked to stop.

        `expected` is what workers of a shared engine must have; None for others. Raises what the coordinator
        itself cannot survive: a disk that is full, above all.
        """
        waiting: set[Future[list[PortionResult]]] = set()
        queue = iter(self._work)
        while True:
            while not stop.asked and len(waiting) < 2 * jobs and (task := next(queue, None)):
                if expected is None:
                    waiting.add(executor.submit(run_task, task, self.hear, lambda: stop.asked))
                else:  # a worker elsewhere cannot call `hear`: outcomes come with the future
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
        """Take an event of a task: progress, or a portion that is done."""
        with self._lock:
            if isinstance(event, Progress):
                growing = self._growing[event.cell]
                growing.reported += event.n_bytes
                self._display.worked(growing.cell, event.n_bytes)
            elif isinstance(event, PortionResult) and self._growing[event.cell].add(event):
                self._finish(self._growing.pop(event.cell))

    def _finish(self, growing: _Growing) -> None:
        cell, result = growing.cell, growing.result()
        write_cell(self._folder.cells, result)
        if result.failure is None:
            self.digests.setdefault((cell.key.dataset, cell.key.language), list(result.digests))
        else:
            self.failures.append(result)
        self._display.worked(cell, cell.n_bytes - growing.reported)
        self._display.finished(cell, result)
        self._tell(result)
