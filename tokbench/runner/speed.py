"""The speed pass: one fresh process per tokenizer and thread count, timed in turns.

Each process loads its tokenizer (timed), meets each passage for the first time (the cold column), proves that
its ways of encoding agree, and then waits. Rounds go around: every tokenizer does one round of a form before
any does the next, each round beginning with another one, so that a machine that warms up or slows down is
unkind to all alike. Only one process works at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tokbench.results.cell import Failure
from tokbench.runner.counting import failure
from tokbench.runner.interrupt import Stop
from tokbench.runner.passages import Passage
from tokbench.runner.shelter import CallFailed, Limits, Worker, WorkerLost, thread_environment
from tokbench.runner.stopwatch import SetUp, Timing, set_up, time_round
from tokbench.runner.subjects import Subject
from tokbench.runner.suite import SpeedSettings

FORMS = ("batch", "single", "long", "short", "decode")
Report = Callable[[int, int, str], None]


@dataclass
class _Racer:
    """One tokenizer at one thread count, in its process."""

    key: str
    threads: int
    process: int
    worker: Worker
    ready: SetUp | None = None


@dataclass
class SpeedResult:
    """What the speed pass found: raw rows, one per timing; set-ups; failures by tokenizer."""

    rounds: list[dict[str, Any]] = field(default_factory=list)
    set_ups: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, Failure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def time_all(
    subjects: Sequence[Subject],
    passages: Sequence[Passage],
    settings: SpeedSettings,
    limits: Limits,
    stop: Stop,
    report: Report,
) -> SpeedResult:
    """Time every tokenizer on every passage; a tokenizer that fails is left out from there on."""
    result = SpeedResult(notes=_busy())
    ready = [subject for subject in subjects if subject.ready and subject.recipe is not None]
    total = settings.processes * len(ready) * len(settings.threads)
    total += settings.processes * settings.rounds * _rounds_each(len(ready), len(passages), settings)
    done = 0

    def tick(doing: str) -> None:
        nonlocal done
        done += 1
        report(done, total, doing)

    for process in range(settings.processes):
        racers: list[_Racer] = []
        try:
            for subject in ready:
                for threads in settings.threads:
                    if stop.asked or subject.entry.key in result.failures:
                        continue
                    tick(f"loading {subject.entry.key}")
                    racer = _start(subject, threads, process, passages, limits, result)
                    racers += [racer] if racer is not None else []
            for index in range(settings.rounds):
                for passage, form in _turns(passages, settings.forms):
                    for racer in _rotated(racers, index):
                        if stop.asked:
                            return result
                        if (form == "batch" or racer.threads == 1) and racer.key not in result.failures:
                            tick(racer.key)
                            _round(racer, index, passage, form, limits, result)
        finally:
            for racer in racers:
                racer.worker.close()
    _check_digests(result)
    return result


def _start(
    subject: Subject,
    threads: int,
    process: int,
    passages: Sequence[Passage],
    limits: Limits,
    result: SpeedResult,
) -> _Racer | None:
    assert subject.recipe is not None
    context = replace(subject.recipe.context, threads=threads)
    recipe = replace(subject.recipe, context=context)
    racer = _Racer(subject.entry.key, threads, process, Worker(thread_environment(threads)))
    known = _guarded(racer, result, set_up, recipe, passages, limits=limits)
    if known is None:
        racer.worker.close()
        return None
    racer.ready = known
    fields = asdict(known)
    fields.pop("cold")
    result.set_ups.append({"tokenizer": racer.key, "threads": threads, "process": process, **fields})
    for timing in known.cold:
        result.rounds.append(_row(racer, -1, timing))
    return racer


def _round(racer: _Racer, index: int, passage: Passage, form: str, limits: Limits, result: SpeedResult) -> None:
    timing = _guarded(racer, result, time_round, passage.dataset, form, limits=limits)
    if timing is not None:
        result.rounds.append(_row(racer, index, timing))


def _guarded(
    racer: _Racer, result: SpeedResult, function: Callable[..., Any], *arguments: Any, limits: Limits
) -> Any:
    """What the racer's process answers, or None with its failure kept."""
    try:
        return racer.worker.call(function, *arguments, limits=limits)
    except WorkerLost as loss:
        if loss.kind == "interrupted":
            raise
        result.failures[racer.key] = failure(loss.kind, str(loss), output=loss.output)
    except CallFailed as error:
        result.failures[racer.key] = failure(
            error.kind, str(error), traceback=error.traceback, output=error.output
        )
    return None


def _row(racer: _Racer, index: int, timing: Timing) -> dict[str, Any]:
    return {
        "tokenizer": racer.key,
        "threads": racer.threads,
        "process": racer.process,
        "round": index,
        **asdict(timing),
    }


def _turns(passages: Sequence[Passage], forms: Sequence[str]) -> Iterator[tuple[Passage, str]]:
    for passage in passages:
        for form in forms:
            yield passage, form


def _rotated(racers: Sequence[_Racer], by: int) -> Sequence[_Racer]:
    if not racers:
        return racers
    shift = by % len(racers)
    return [*racers[shift:], *racers[:shift]]


def _rounds_each(tokenizers: int, passages: int, settings: SpeedSettings) -> int:
    alone = 1 if 1 in settings.threads else 0
    threaded = len(settings.threads) - alone
    batch = 1 if "batch" in settings.forms else 0
    return tokenizers * passages * (alone * len(settings.forms) + threaded * batch)


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
    """A note where others use the machine, which no statistic can take out of timings."""
    if not hasattr(os, "getloadavg"):
        return []
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < 0.5 * cores:
        return []
    return [f"the machine was busy: a load of {load:.1f} on {cores} cores when timing began"]


def state_of(result: SpeedResult, identity: str) -> Mapping[str, Any]:
    """The result, ready for JSON, to be found again by a run that resumes."""
    failures = {key: asdict(value) for key, value in result.failures.items()}
    return {"identity": identity, "set_ups": result.set_ups, "failures": failures, "notes": result.notes}
