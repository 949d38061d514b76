"""The tokenizers of a run made ready: trained where they must be, loaded once, and described."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from tokbench.errors import CorpusError, TokbenchError
from tokbench.inspection.facts import facts
from tokbench.results.cell import Failure
from tokbench.runner.counting import loaded
from tokbench.runner.recipe import (
    Recipe,
    RegistryRecipe,
    TrainingRecipe,
    file_digests,
    fingerprint,
    key_of,
    versions,
)
from tokbench.runner.training import Trained, corpus_digest, ensure_trained, find_trained, spool, spooled
from tokbench.spec import Spec, with_defaults
from tokbench.tokenizer import special_ids, unk_id
from tokbench.training_corpus import shares
from tokbench.workers.interrupt import Stop
from tokbench.workers.pool import attempt, borrowed
from tokbench.workers.worker import Begun, CallFailed, Emit, WorkerLost, failure_from, failure_of

if TYPE_CHECKING:
    from tokbench.runner.plan import Entry, Plan  # which a worker does without
    from tokbench.runner.progress import Display

_ONLY_OPTIONAL = "it is optional here, so it is not downloaded; name it under `tokenizers` or with -t for that"

T = TypeVar("T")
Given = TypeVarTuple("Given")


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
    def estimated(self) -> tuple[float, float] | None:
        """The bounds of the true numbers of tokens over those that it estimates; None where it encodes."""
        known = self.about.facts.get("estimated") if self.about is not None else None
        return (known["low"], known["high"]) if known else None

    @property
    def skipped(self) -> bool:
        """Whether it is optional and not at hand."""
        return self.failure is not None and self.entry.optional


def make_ready(plan: Plan, models: Path, stop: Stop, display: Display) -> list[Subject]:
    """Every tokenizer of the plan, trained ones kept under `models`; failures are kept, none is raised.

    Raises `WorkerLost` of kind ``interrupted`` only. Once the user asked to stop, no more are begun.
    """
    with tempfile.TemporaryDirectory(prefix="tokbench-") as aside:
        lesson = _lesson(plan, models, Path(aside, "training.jsonl"))
        # Trainers take longest, so they go first; results stay in the order of the suite.
        order = sorted(plan.entries, key=lambda entry: not entry.trains)
        with ThreadPoolExecutor(plan.jobs) as threads:
            made = threads.map(
                lambda entry: Subject(entry) if stop.asked else _ready(plan, entry, lesson, display), order
            )
            by_key = {subject.entry.key: subject for subject in made}
    return [by_key[entry.key] for entry in plan.entries]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What is trained on: the digest of the text, the file it was put aside in, where models are kept.

    `nests` are the sizes that one training gives, by the spec without its size, with a lock: whoever comes
    first trains for all.
    """

    digest: str
    aside: Path | None
    models: Path
    nests: Mapping[str, tuple[threading.Lock, dict[int, Spec]]] = field(default_factory=dict)


def _lesson(plan: Plan, models: Path, aside: Path) -> _Lesson:
    if plan.training is None:
        return _Lesson("", None, models)
    digest = _of_corpus(plan, digest_training, plan.training)
    wanted = [entry.spec for entry in plan.entries if entry.trains]
    missing = [spec for spec in wanted if find_trained(plan.registry, spec, digest, models) is None]
    if len(missing) < 2:
        return _Lesson(digest, None, models)
    text = _of_corpus(plan, spool_training, plan.training, aside)
    return _Lesson(digest, text, models, _nests(plan, missing))


def _nests(plan: Plan, missing: Sequence[Spec]) -> dict[str, tuple[threading.Lock, dict[int, Spec]]]:
    """Specs that differ in their size alone, where the family gives several sizes by one training.

    There are none where speed is measured: each training is timed then.
    """
    nests: dict[str, tuple[threading.Lock, dict[int, Spec]]] = {}
    for spec in missing:
        family = plan.registry.tokenizers[spec.family]
        if family.train_sizes is not None and plan.suite.speed_settings is None:
            size = with_defaults(family.options, spec.options)["vocab_size"]
            nests.setdefault(_nest_of(spec), (threading.Lock(), {}))[1][size] = spec
    return {key: nest for key, nest in nests.items() if len(nest[1]) > 1}


def _nest_of(spec: Spec) -> str:
    return str(Spec(spec.family, None, {n: value for n, value in spec.options.items() if n != "vocab_size"}))


def _of_corpus(
    plan: Plan,
    function: Callable[[Emit, TrainingRecipe, *Given], T],
    training: TrainingRecipe,
    *arguments: *Given,
) -> T:
    """What `function` gives of the training text in a worker; raises `CorpusError` where it cannot be read."""
    found = attempt(function, training, *arguments, limits=plan.limits, again=True)
    if isinstance(found, Failure):
        what = f"the training text {training.key} cannot be read: {found.message}"
        if found.kind != "raised":  # the process was lost, twice: that says nothing against the request
            raise WorkerLost(found.kind, what, found.output)
        raise CorpusError(what)
    return found


def _ready(plan: Plan, entry: Entry, lesson: _Lesson, display: Display) -> Subject:
    subject = Subject(entry)
    try:
        context = plan.registry.context
        if entry.optional:  # optional means "if at hand": it is not worth a download nobody asked for
            because = context.offline_because if context.offline else _ONLY_OPTIONAL
            context = replace(context, offline=True, offline_because=because)
        trained = None
        if entry.trains:
            trained, info = _train(plan, entry, lesson, display)
            subject = replace(subject, training=info)
        with borrowed() as worker:
            recipe, files, libraries = worker.call(
                recipe_of,
                RegistryRecipe(plan.registry.choice, context),
                entry.spec,
                trained,
                limits=plan.limits,
            )
            subject = replace(subject, files=files, libraries=libraries)
            return replace(subject, recipe=recipe, about=worker.call(about, recipe, limits=plan.limits))
    except (WorkerLost, CallFailed) as error:
        return replace(subject, failure=failure_from(error))
    except TokbenchError as error:
        return replace(subject, failure=failure_of(error))


def _train(plan: Plan, entry: Entry, lesson: _Lesson, display: Display) -> tuple[Trained, dict[str, Any]]:
    assert plan.training is not None
    trained = find_trained(plan.registry, entry.spec, lesson.digest, lesson.models)
    nest = lesson.nests.get(_nest_of(entry.spec))
    if trained is None and nest is not None:
        trained = _train_nest(plan, entry.spec, *nest, lesson, display)
    if trained is None:
        trained = _train_now(plan, entry.spec, {}, lesson, display)
    when = "before" if trained.reused else f"in {trained.info.get('seconds', 0):.1f} s"
    if nest is not None and "nested_in" in trained.info:
        when = f"with {trained.info['nested_in']}, of whose merges it has the first"
    display.say(
        f"{entry.key}: trained on {plan.training.key} {when}; {shares(trained.info.get('text_bytes', {}))}"
    )
    info = {**trained.info, "reused": trained.reused, "on": plan.training.key}
    return trained, info


def _train_nest(
    plan: Plan, spec: Spec, lock: threading.Lock, specs: dict[int, Spec], lesson: _Lesson, display: Display
) -> Trained | None:
    """The tokenizer from the training of the largest of some sizes, by whoever comes first; None without it."""
    with lock:
        trained = find_trained(plan.registry, spec, lesson.digest, lesson.models)
        if trained is not None or not specs:
            return trained
        largest = specs[max(specs)]
        try:
            made = _train_now(plan, largest, dict(specs), lesson, display)
        except (WorkerLost, CallFailed):
            specs.clear()  # each is tried for itself
            return None
        return made if largest == spec else find_trained(plan.registry, spec, lesson.digest, lesson.models)


def _train_now(plan: Plan, spec: Spec, sizes: Mapping[int, Spec], lesson: _Lesson, display: Display) -> Trained:
    """Train in a process of its own."""
    assert plan.training is not None

    def told(event: object) -> None:
        if isinstance(event, Trains):
            display.rounds(int(event.fraction * 100), 100, f"{event.spec} {event.doing}")

    arguments = (spec, sizes, plan.training, lesson.aside, lesson.digest, lesson.models)
    # A fresh process, so that the peak of memory is this training's own.
    with borrowed(fresh=True) as worker:
        return worker.call(train_one, *arguments, limits=plan.limits, on_event=told)


@dataclass(frozen=True, slots=True)
class About:
    """What the manifest says of a tokenizer that loads; everything in it is ready for JSON."""

    name: str
    vocab_size: int
    special_tokens: int
    unk_id: int | None
    load_seconds: float
    facts: dict[str, Any] = field(default_factory=dict)


def about(emit: Emit, recipe: Recipe) -> About:
    """Load a tokenizer and tell of it."""
    begun = time.perf_counter()
    tokenizer = loaded(recipe)
    seconds = time.perf_counter() - begun
    family = recipe.registry.load().tokenizers[recipe.spec.family]
    known = facts(tokenizer, family, recipe.spec, recipe.registry.context)
    return About(
        name=tokenizer.name,
        vocab_size=int(tokenizer.vocab_size),
        special_tokens=len(special_ids(tokenizer)),
        unk_id=unk_id(tokenizer),
        load_seconds=seconds,
        facts={key: value for key, value in known.items() if key not in ("files", "libraries")},
    )


def digest_training(emit: Emit, corpus: TrainingRecipe) -> str:
    """The digest of a training corpus."""
    return corpus_digest(corpus.load())


def spool_training(emit: Emit, corpus: TrainingRecipe, path: Path) -> Path | None:
    """Put the text of a training corpus aside where that is worth it."""
    return spool(corpus.load(), path)


@dataclass(frozen=True, slots=True)
class Trains:
    """An event: how far a training has come (0..1), and what it does."""

    spec: str
    fraction: float
    doing: str


def train_one(
    emit: Emit,
    spec: Spec,
    sizes: Mapping[int, Spec],
    corpus: TrainingRecipe,
    aside: Path | None,
    digest: str,
    folder: Path,
) -> Trained:
    """Train one tokenizer, and those of other `sizes` with it, on the text put `aside` where there is one."""
    text = corpus.load() if aside is None else spooled(aside, corpus.key)

    def progress(fraction: float, doing: str) -> None:
        emit(Begun())  # each step that a trainer tells of has the time limit for itself
        emit(Trains(str(spec), fraction, doing))

    return ensure_trained(corpus.registry.load(), spec, text, digest, folder, progress=progress, sizes=sizes)


def recipe_of(
    emit: Emit, home: RegistryRecipe, spec: Spec, trained: Trained | None
) -> tuple[Recipe, list[dict[str, Any]], dict[str, str]]:
    """The recipe of a tokenizer, with the files and the library versions it depends on."""
    registry = home.load()
    family = registry.tokenizers[spec.family]
    loads = spec if trained is None else trained.spec
    named: Iterable[Path] = [trained.path] if trained is not None else ()
    if trained is None and family.files is not None:
        named = family.files(spec, home.context)
    files = file_digests(named)
    print_ = trained.fingerprint if trained is not None else fingerprint(registry, spec, files)
    hashed = tuple((entry["path"], entry["sha256"]) for entry in files)
    return Recipe(key_of(spec), loads, home, print_, hashed), files, versions(family.libraries)
