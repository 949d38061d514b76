"""The tokenizers of a run made ready: trained where they must be, loaded once to see that they load."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tokbench.errors import CorpusError, TokbenchError
from tokbench.results.cell import Failure
from tokbench.runner.about import About, about, digest_training, recipe_of, spool_training, train_one
from tokbench.runner.counting import failure, failure_of
from tokbench.runner.interrupt import Stop
from tokbench.runner.limits import CallFailed, Limits, WorkerLost
from tokbench.runner.plan import Entry, Plan
from tokbench.runner.pool import borrowed, call_twice
from tokbench.runner.recipe import Recipe
from tokbench.runner.training import Trained, find_trained

_ONLY_OPTIONAL = "it is optional here, so it is not downloaded; name it under `tokenizers` or with -t for that"

Say = Callable[[str], None]
Report = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Subject:
    """A tokenizer of the run: its recipe and facts, or why there are none.

    `skipped` marks an optional one that is not at hand. `training` tells what training took.
    """

    entry: Entry
    recipe: Recipe | None = None
    about: About | None = None
    files: list[dict[str, Any]] = field(default_factory=list)
    libraries: dict[str, str] = field(default_factory=dict)
    training: dict[str, Any] | None = None
    failure: Failure | None = None

    @property
    def ready(self) -> bool:
        """Whether it can be measured."""
        return self.failure is None

    @property
    def skipped(self) -> bool:
        """Whether it is optional and not at hand."""
        return self.failure is not None and self.entry.optional


def make_ready(
    plan: Plan, models: Path, stop: Stop, say: Say, report: Report = lambda *_: None
) -> list[Subject]:
    """Every tokenizer of the plan, trained ones kept under `models`; failures are kept, none is raised.

    Raises `WorkerLost` of kind ``interrupted`` only. Once the user asked to stop, no more are begun.
    """
    with tempfile.TemporaryDirectory(prefix="tokbench-") as aside:
        lesson = _lesson(plan, models, Path(aside, "training.jsonl"))
        # Trainers take longest, so they go first; results stay in the order of the suite.
        order = sorted(plan.entries, key=lambda entry: not entry.trains)
        with ThreadPoolExecutor(plan.jobs) as threads:
            made = threads.map(
                lambda entry: Subject(entry) if stop.asked else _ready(plan, entry, lesson, say, report), order
            )
            by_key = {subject.entry.key: subject for subject in made}
    return [by_key[entry.key] for entry in plan.entries]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What is trained on: the digest of the text, the file it was put aside in, where models are kept."""

    digest: str
    aside: Path | None
    models: Path


def _lesson(plan: Plan, models: Path, aside: Path) -> _Lesson:
    if plan.training is None:
        return _Lesson("", None, models)
    try:
        digest = str(call_twice(digest_training, plan.training))
        wanted = [entry.spec for entry in plan.entries if entry.trains]
        known = [find_trained(plan.registry, spec, digest, models) for spec in wanted]
        if known.count(None) < 2:
            return _Lesson(digest, None, models)
        return _Lesson(digest, call_twice(spool_training, plan.training, aside), models)
    except CallFailed as error:
        raise CorpusError(f"the training text {plan.training.key} cannot be read: {error}") from error


def _ready(plan: Plan, entry: Entry, lesson: _Lesson, say: Say, report: Report) -> Subject:
    subject = Subject(entry)
    try:
        context = plan.registry.context
        if entry.optional:  # optional means "if at hand": it is not worth a download nobody asked for
            because = context.offline_because if context.offline else _ONLY_OPTIONAL
            context = replace(context, offline=True, offline_because=because)
        trained = None
        if entry.trains:
            trained, info = _train(plan, entry, lesson, say, report)
            subject = replace(subject, training=info)
        recipe, files, libraries = recipe_of(plan.registry.choice, context, entry.spec, trained)
        subject = replace(subject, files=files, libraries=libraries)
        with borrowed() as worker:
            known: About = worker.call(about, recipe, limits=_limits(plan))
        return replace(subject, recipe=recipe, about=known)
    except WorkerLost as loss:
        if loss.kind == "interrupted":
            raise
        return replace(subject, failure=failure(loss.kind, str(loss), output=loss.output))
    except CallFailed as error:
        why = failure(error.kind, str(error), traceback=error.traceback, output=error.output)
        return replace(subject, failure=why)
    except TokbenchError as error:
        return replace(subject, failure=failure_of(error))


def _train(
    plan: Plan, entry: Entry, lesson: _Lesson, say: Say, report: Report
) -> tuple[Trained, dict[str, Any]]:
    assert plan.training is not None
    trained = find_trained(plan.registry, entry.spec, lesson.digest, lesson.models)
    if trained is None:
        arguments = (entry.spec, plan.training, lesson.aside, lesson.digest, lesson.models)
        # Training is one step of its own length: the time limit is for cells, the memory limit for everything.
        limits = Limits(memory=plan.memory_limit)
        # A fresh process, so that the peak of memory is this training's own.
        with borrowed(fresh=True) as worker:
            trained = worker.call(
                train_one,
                *arguments,
                limits=limits,
                on_event=lambda event: report(int(event[2] * 100), 100, f"{event[1]} {event[3]}"),
            )
    assert trained is not None
    when = "before" if trained.reused else f"in {trained.info['seconds']:.1f} s"
    say(f"{entry.key}: trained on {plan.training.key} {when}")
    info = {**trained.info, "reused": trained.reused, "on": plan.training.key}
    return trained, info


def _limits(plan: Plan) -> Limits:
    return Limits(plan.suite.timeout, plan.memory_limit)
