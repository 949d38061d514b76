"""Gets the tokenizers of a run ready: trains those that need it, loads each once, records its facts."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokbenchError
from tokbench.inspection.facts import facts, file_digests, versions
from tokbench.registry import registry_of
from tokbench.results.failure import TaskFailure
from tokbench.runner.fingerprint import fingerprint
from tokbench.runner.recipe import Recipe, key_of, loaded
from tokbench.runner.training.stage import TrainingStage
from tokbench.runner.training.train import Trained
from tokbench.spec import LoadContext, Spec
from tokbench.tokenizer import special_ids, unk_id
from tokbench.workers.calls import Emit, NoAnswer, failure_from, failure_of
from tokbench.workers.interrupt import Stop
from tokbench.workers.pool import borrowed

if TYPE_CHECKING:
    from tokbench.runner.planning.entries import Entry  # which a worker does without
    from tokbench.runner.planning.plan import Plan
    from tokbench.runner.progress import Display

_ONLY_OPTIONAL = "it is optional here, so it is not downloaded; name it under `tokenizers` or with -t for that"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tokenizer of the run: its recipe and facts, or why there are none.

    `skipped` marks an optional one that is not at hand. `training` tells what training took.
    """

    entry: Entry
    recipe: Recipe | None = None
    about: About | None = None
    files: list[dict[str, Any]] = field(default_factory=list)
    libraries: dict[str, str] = field(default_factory=dict)
    training: dict[str, Any] | None = None
    failure: TaskFailure | None = None

    @property
    def estimated(self) -> tuple[float, float] | None:
        """The bounds of the ratio of true to estimated numbers of tokens; None where it encodes."""
        known = self.about.facts.get("estimated") if self.about is not None else None
        return (known["low"], known["high"]) if known else None

    @property
    def encodes(self) -> bool:
        """Whether it was loaded and gives ids, so that it can be looked at and timed."""
        return self.recipe is not None and not self.estimated

    @property
    def skipped(self) -> bool:
        """Whether it is optional and not at hand."""
        return self.failure is not None and self.entry.optional


def make_ready(plan: Plan, models: Path, stop: Stop, display: Display) -> list[Candidate]:
    """Every tokenizer of the plan, trained ones kept under `models`; failures are kept, none is raised.

    Raises `WorkerLost` of kind ``interrupted`` only. Once the user asked to stop, no more are begun.
    """
    with tempfile.TemporaryDirectory(prefix="tokbench-") as aside:
        stage = TrainingStage.of(plan, models, Path(aside, "training.jsonl"), display)
        # Trainers take longest, so they go first; results stay in the order of the suite.
        order = sorted(plan.entries, key=lambda entry: not entry.trains)
        with ThreadPoolExecutor(plan.jobs) as threads:
            made = threads.map(
                lambda entry: Candidate(entry) if stop.asked else _ready(plan, entry, stage), order
            )
            by_key = {candidate.entry.key: candidate for candidate in made}
    return [by_key[entry.key] for entry in plan.entries]


def _ready(plan: Plan, entry: Entry, stage: TrainingStage) -> Candidate:
    candidate = Candidate(entry)
    try:
        context = plan.registry.context
        if entry.optional:  # optional means "if at hand": it is not worth a download nobody asked for
            because = context.offline_because if context.offline else _ONLY_OPTIONAL
            context = replace(context, offline=True, offline_because=because)
        trained = None
        if entry.trains:
            trained, info = stage.train(entry)
            candidate = replace(candidate, training=info)
        with borrowed() as worker:
            recipe, files, libraries = worker.call(recipe_of, context, entry.spec, trained, limits=plan.limits)
            candidate = replace(candidate, files=files, libraries=libraries)
            return replace(candidate, recipe=recipe, about=worker.call(about, recipe, limits=plan.limits))
    except NoAnswer as error:
        return replace(candidate, failure=failure_from(error))
    except TokbenchError as error:
        return replace(candidate, failure=failure_of(error))


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
    family = registry_of(recipe.context).tokenizers[recipe.spec.family]
    known = facts(tokenizer, family, recipe.spec, recipe.context)
    return About(
        name=tokenizer.name,
        vocab_size=int(tokenizer.vocab_size),
        special_tokens=len(special_ids(tokenizer)),
        unk_id=unk_id(tokenizer),
        load_seconds=seconds,
        facts={key: value for key, value in known.items() if key not in ("files", "libraries")},
    )


def recipe_of(
    emit: Emit, context: LoadContext, spec: Spec, trained: Trained | None
) -> tuple[Recipe, list[dict[str, Any]], dict[str, str]]:
    """The recipe of a tokenizer, with the files and the library versions it depends on."""
    registry = registry_of(context)
    family = registry.tokenizers[spec.family]
    if trained is not None:
        loads, files = trained.spec, file_digests([trained.path])
        depends_on = trained.fingerprint
    else:
        loads, files = spec, file_digests(family.files_of(spec, context))
        depends_on = fingerprint(registry, spec, files)
    hashed = tuple((entry["path"], entry["sha256"]) for entry in files)
    return Recipe(key_of(spec), loads, context, depends_on, hashed), files, versions(family.libraries)
