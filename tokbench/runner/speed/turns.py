"""The speed pass: one fresh process per tokenizer and thread count, of which one works at a time, in turns.

Each process loads its tokenizer and makes a first call and a first batch (timed apart, so that no passage pays
for them). Then comes the first pass, over some megabytes of text that it has never seen, which is what most
text is to a tokenizer; then it proves that its ways of encoding agree; then rounds over a little of the text,
which it knows by now. Parts of the first pass and rounds go around: every tokenizer does one before any does
the next, each time beginning with another one, so that a machine that warms up or slows down is unkind to all
alike. More than `SIDE_BY_SIDE` tokenizers go in groups of `GROUP`, one after the other, so that memory does not
grow with their number; in every other process the groups are other ones.

A run that goes on, or is asked for again, takes the timings that are in its folder.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tokbench.errors import ResultsError
from tokbench.results.atomic import write_json
from tokbench.results.cell import TaskFailure
from tokbench.results.folder import RunFolder, read_json
from tokbench.results.frames import read_frame, write_rows
from tokbench.runner.candidates import Candidate
from tokbench.runner.fingerprint import digest_of
from tokbench.runner.plan import Plan
from tokbench.runner.progress import Display
from tokbench.runner.recipe import key_of
from tokbench.runner.speed.passages import Passage, choose_passages
from tokbench.runner.speed.stopwatch import set_up, settle, time_part, time_round
from tokbench.runner.suite import SpeedSettings
from tokbench.workers.calls import Emit, Given, Limits, NoAnswer, T, failure, failure_from
from tokbench.workers.interrupt import Stop
from tokbench.workers.pool import close_idle
from tokbench.workers.shelter import Worker, thread_environment


@dataclass
class SpeedResult:
    """What the speed pass found: raw rows, one per timing; set-ups; failures by tokenizer.

    `clock` says what the figures are made of: ``wall`` or ``cpu`` seconds; the raw rows have both.
    """

    rounds: list[dict[str, Any]] = field(default_factory=list)
    set_ups: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, TaskFailure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    clock: str = "wall"


def speed_pass(
    plan: Plan, folder: RunFolder, candidates: Sequence[Candidate], stop: Stop, display: Display
) -> SpeedResult | None:
    """What the speed pass finds, from disk where the same was timed before; None where speed is not asked for.

    With a shared engine nothing is timed: on a cluster one cannot tell who else is working.
    """
    settings = plan.suite.speed_settings
    if settings is None or plan.engine.shared or not any(m.level == "speed" for m in plan.metrics):
        return None
    identity = digest_of(
        "speed 1",
        settings.model_dump(),
        [candidate.recipe.fingerprint for candidate in candidates if candidate.recipe],
        [asdict(shard) for corpus in plan.corpora for shards in corpus.shards.values() for shard in shards],
    )
    found = _known(folder, identity)
    if found is not None:
        return found
    wanted = [key_of(plan.registry.dataset_spec(spec)) for spec in settings.datasets]
    timed = [corpus for corpus in plan.corpora if not wanted or corpus.recipe.key in wanted]
    passages = choose_passages(timed, settings, plan.limits)
    close_idle()  # so that nothing runs beside what is timed
    result = time_all(candidates, passages, settings, plan.limits, stop, display)
    if not stop.asked:
        write_rows(folder.speed, result.rounds)
        known = {"set_ups": result.set_ups, "notes": result.notes, "clock": result.clock}
        # What failed may go well the next time: without an identity, these timings are not reused.
        write_json(folder.speed_state, {"identity": None if result.failures else identity, **known})
    return result


def _known(folder: RunFolder, identity: str) -> SpeedResult | None:
    """The timings on disk, if they are of the same tokenizers, text and settings."""
    try:
        known = read_json(folder.speed_state, "delete it and run again")
        if known["identity"] != identity:
            return None
        frame = read_frame(folder.speed)
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    except (ResultsError, KeyError):
        return None
    return SpeedResult(rows, known["set_ups"], {}, known["notes"], known["clock"])


def time_all(
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
    settings: SpeedSettings,
    limits: Limits,
    stop: Stop,
    display: Display,
) -> SpeedResult:
    """Time every tokenizer on every passage; a tokenizer that fails is left out from there on."""
    result = SpeedResult(notes=_busy(), clock=settings.clock)
    ready = [candidate for candidate in candidates if candidate.encodes]
    starts = [
        (process, threads)
        for process in range(settings.processes)
        for threads in dict.fromkeys(settings.threads)
    ]
    each = [settings.rounds * len(_forms(threads, settings)) * len(passages) for _, threads in starts]
    first = settings.processes * sum(len(passage.parts) for passage in passages)
    total = len(ready) * (2 * len(starts) + first + sum(each))
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
    result.notes += _waited(result)
    _check_digests(result)
    return result


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


def _check_digests(result: SpeedResult) -> None:
    """A tokenizer whose ids differ between processes or thread counts has no speed worth stating."""
    seen: dict[str, str] = {}
    for row in result.set_ups:
        first = seen.setdefault(row["tokenizer"], row["digest"])
        if first != row["digest"]:
            result.failures[row["tokenizer"]] = failure(
                "raised",
                f"ids differ between processes: with {row['threads']} threads, process {row['process']}",
            )


def _busy() -> list[str]:
    """A note where others use the machine, which no statistic can take out of timings.

    It is measured while this run does nothing: the load of the last minute would be its own.
    """
    import psutil

    cores = psutil.cpu_count() or 1
    share = psutil.cpu_percent(interval=0.3) / 100
    if share < _MOST_BY_OTHERS:
        return []
    return [f"the machine was busy: others used {share * cores:.1f} of {cores} cores when timing began"]


_MOST_BY_OTHERS = 0.25


def _waited(result: SpeedResult) -> list[str]:
    """A note where single threads were kept waiting while they were timed."""
    rows = [row for row in result.rounds if row["threads"] == 1]
    had = sum(min(row["cpu_seconds"], row["seconds"]) for row in rows)
    share = had / (sum(row["seconds"] for row in rows) or 1.0)
    if not rows or share > _MOST_WAITING:
        return []
    return [f"others used the machine: what was timed had a processor for {share:.0%} of its time"]


_MOST_WAITING = 0.9
