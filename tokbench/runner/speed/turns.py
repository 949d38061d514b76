"""The speed pass: one fresh process per tokenizer and thread count, of which one works at a time, in turns.

Each process loads its tokenizer and makes a first call and a first batch; then a first pass, over text that it
has never seen; then it proves that its ways of encoding agree; then rounds over a little of the text, which it
knows by now. Parts of the first pass and rounds go around: every tokenizer does one before any does the next,
each time beginning with another (`docs/speed.md` says why). More than `SIDE_BY_SIDE` tokenizers go in groups
of `GROUP`, so that memory does not grow with their number; in every other process the groups are other ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tokbench.runner.planning.suite_keys import SpeedSettings
from tokbench.runner.progress import Display
from tokbench.runner.speed.doubts import busy, check_digests, waited
from tokbench.runner.speed.passages import Passage
from tokbench.runner.speed.stopwatch import set_up, settle, time_part, time_round
from tokbench.runner.speed.timings import SpeedResult
from tokbench.runner.training.candidates import Candidate
from tokbench.workers.calls import Emit, Given, Limits, NoAnswer, T, failure_from
from tokbench.workers.interrupt import Stop
from tokbench.workers.parent import Worker, thread_environment


def time_all(
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
    settings: SpeedSettings,
    limits: Limits,
    stop: Stop,
    display: Display,
) -> SpeedResult:
    """Time every tokenizer on every passage; a tokenizer that fails is left out from there on."""
    result = SpeedResult(notes=busy(), clock=settings.clock)
    ready = [candidate for candidate in candidates if candidate.encodes]
    starts = [(process, threads) for process in range(settings.processes) for threads in settings.threads]
    total = len(ready) * _steps(starts, passages, settings)
    done = 0

    def tick(doing: str) -> None:
        nonlocal done
        done += 1
        display.rounds(done, total, doing)

    groups = 1 if len(ready) <= SIDE_BY_SIDE else math.ceil(len(ready) / GROUP)
    if groups > 1:
        result.notes.append(
            f"timed in {groups} groups, one after the other: these are side by side only within"
        )
    for process, threads in starts:
        starting = _rotated(ready, process)
        for number in range(groups):
            group = _SideBySide(process, threads, passages, settings, limits, result, tick)
            try:
                group.run(_members(starting, number, groups, mixed=process % 2 == 1), stop)
            finally:
                group.close()
            if stop.asked:
                return result
    result.notes += waited(result)
    check_digests(result)
    return result


def _steps(starts: Sequence[tuple[int, int]], passages: Sequence[Passage], settings: SpeedSettings) -> int:
    """How often a tokenizer has its turn: it is loaded and settled in each process, does parts, does rounds."""
    parts = settings.processes * sum(len(passage.parts) for passage in passages)
    rounds = [settings.rounds * len(_forms(threads, settings)) * len(passages) for _, threads in starts]
    return 2 * len(starts) + parts + sum(rounds)


SIDE_BY_SIDE = 24
"""Up to so many tokenizers, all processes live at once, each of 50 to 250 MB."""
GROUP = 8
"""More go in groups of at most so many, so that any number of tokenizers fits into 2 GB."""


def _members(candidates: Sequence[Candidate], number: int, groups: int, *, mixed: bool) -> Sequence[Candidate]:
    """The members of a group: neighbours, or `mixed`, every so many-th.

    Example:
        >>> [_members("abcde", number, 2, mixed=mixed) for mixed in (False, True) for number in (0, 1)]
        ['ab', 'cde', 'ace', 'bd']
    """
    if mixed:
        return candidates[number::groups]
    return candidates[number * len(candidates) // groups : (number + 1) * len(candidates) // groups]


@dataclass
class _SideBySide:
    """Some tokenizers at one thread count, each in a fresh process: what is compared side by side."""

    process: int
    threads: int
    passages: Sequence[Passage]
    settings: SpeedSettings
    limits: Limits
    result: SpeedResult
    tick: Callable[[str], None]
    timed: dict[str, Worker] = field(default_factory=dict)

    def run(self, candidates: Sequence[Candidate], stop: Stop) -> None:
        """Start everybody, then go around; ends early where the user asked to stop."""
        for candidate in candidates:
            if not stop.asked and candidate.entry.key not in self.result.failures:
                self.tick(f"loading {candidate.entry.key}")
                self._start(candidate)
        if self.threads == min(self.settings.threads):  # with more threads, only warm batches are timed
            for passage in self.passages:
                for number in range(len(passage.parts)):
                    for key in self._running(number, stop):
                        self._keep(self.result.rounds, key, time_part, passage.dataset, number)
        for key in self._running(0, stop):
            self._keep(self.result.set_ups, key, settle)
        for index in range(self.settings.rounds):
            for passage, form in itertools.product(self.passages, _forms(self.threads, self.settings)):
                for key in self._running(index, stop):
                    self._keep(self.result.rounds, key, time_round, passage.dataset, form, index)

    def close(self) -> None:
        """End every process."""
        for worker in self.timed.values():
            worker.close()

    def _start(self, candidate: Candidate) -> None:
        assert candidate.recipe is not None
        context = replace(candidate.recipe.context, threads=self.threads)
        recipe = replace(candidate.recipe, context=context)
        self.timed[recipe.key] = Worker(thread_environment(self.threads))
        self._guarded(recipe.key, set_up, recipe, self.passages, self.settings.clock)

    def _running(self, shift: int, stop: Stop) -> Iterator[str]:
        """Those that have not failed, beginning with another each time; none once the user asked to stop."""
        for key in _rotated([*self.timed], shift):
            if key not in self.result.failures and not stop.asked:
                self.tick(key)
                yield key

    def _keep(
        self, rows: list[dict[str, Any]], key: str, function: Callable[[Emit, *Given], Any], *arguments: *Given
    ) -> None:
        """Have the process of a tokenizer take a measurement, and add it to `rows`."""
        found = self._guarded(key, function, *arguments)
        if found is not None:
            about = {"tokenizer": key, "threads": self.threads, "process": self.process}
            rows.append({**about, **asdict(found)})

    def _guarded(self, key: str, function: Callable[[Emit, *Given], T], *arguments: *Given) -> T | None:
        """What its process answers, or None with its failure kept."""
        worker = self.timed[key]
        try:
            return worker.call(function, *arguments, limits=self.limits)
        except NoAnswer as error:
            self.result.failures[key] = failure_from(error)
        worker.close()
        return None


def _forms(threads: int, settings: SpeedSettings) -> Sequence[str]:
    """The forms timed at a thread count: only a batch is something for several threads to share."""
    return [form for form in settings.forms if form == "batch" or threads == 1]


def _rotated(items: Sequence[T], by: int) -> Sequence[T]:
    shift = by % max(len(items), 1)
    return [*items[shift:], *items[:shift]]
