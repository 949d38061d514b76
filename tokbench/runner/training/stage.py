"""Trains the tokenizers of a run: each in a process of its own, or several sizes at once where a family can.

Every trainer reads the text for itself; where that takes parsing, as of docstrings, BPE takes 2.8 times as
long. So where several trainers are to read a text, it is first copied to one file (`spool`), unless it is too
large to be kept twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Document, Shard
from tokbench.errors import CorpusError
from tokbench.registry import registry_of
from tokbench.results.atomic import replacing
from tokbench.results.failure import TaskFailure
from tokbench.runner.recipe import TrainingRecipe
from tokbench.runner.training.train import Trained, corpus_digest, ensure_trained, find_trained
from tokbench.spec import Spec, with_defaults
from tokbench.training_corpus import TrainingCorpus, shares
from tokbench.workers.calls import Begun, Emit, Given, NoAnswer, T, WorkerLost
from tokbench.workers.pool import attempt, borrowed

if TYPE_CHECKING:
    from tokbench.runner.planning.entries import Entry  # which a worker does without
    from tokbench.runner.planning.plan import Plan
    from tokbench.runner.progress import Display


Sizes = tuple[threading.Lock, dict[int, Spec]]
"""Specs that differ in their size alone, by size, with a lock: whoever comes first trains for all."""


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """What all trainings of a run share: the digest of the text, its copy, where models are kept.

    `groups` are the sizes that one training gives, by the spec without its size.
    """

    plan: Plan
    display: Display
    models: Path
    digest: str = ""
    aside: TrainingCorpus | None = None
    groups: Mapping[str, Sizes] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, models: Path, aside: Path, display: Display) -> TrainingStage:
        """The stage of a plan; the text is copied to a file where more than one trainer is to read it.

        Raises `CorpusError` for text that cannot be read.
        """
        if plan.training is None:
            return cls(plan, display, models)
        digest = _of_corpus(plan, digest_training, plan.training)
        wanted = [entry.spec for entry in plan.entries if entry.trains]
        missing = [spec for spec in wanted if find_trained(plan.registry, spec, digest, models) is None]
        if len(missing) < 2:
            return cls(plan, display, models, digest)
        text = _of_corpus(plan, spool, plan.training, aside)
        return cls(plan, display, models, digest, text, _size_groups(plan, missing))

    def train(self, entry: Entry) -> tuple[Trained, dict[str, Any]]:
        """The tokenizer of an entry, trained now or before, and what the manifest says of its training."""
        assert self.plan.training is not None
        trained = self._known(entry.spec)
        group = self.groups.get(_without_size(entry.spec))
        if trained is None and group is not None:
            trained = self._train_group(entry.spec, *group)
        if trained is None:
            trained = self._train_now(entry.spec, {})
        on = self.plan.training.key
        # of a group one entry trains what the others find
        reused = trained.reused and not (group and entry.spec in group[1].values())
        when = "before" if reused else f"in {trained.info.get('seconds', 0):.1f} s"
        if not reused and "nested_in" in trained.info:
            when = f"with {trained.info['nested_in']}, whose first merges it takes"
        text = shares(trained.info.get("text_bytes", {}), most=4)
        self.display.say(f"{entry.key}: trained on {on} {when}; {text}")
        return trained, {**trained.info, "reused": reused, "on": on}

    def _known(self, spec: Spec) -> Trained | None:
        return find_trained(self.plan.registry, spec, self.digest, self.models)

    def _train_group(self, spec: Spec, lock: threading.Lock, specs: dict[int, Spec]) -> Trained | None:
        """The tokenizer of a spec from one training for all sizes, which the first caller does; or None."""
        with lock:
            trained = self._known(spec)
            if trained is not None or not specs:
                return trained
            largest = specs[max(specs)]
            try:
                made = self._train_now(largest, dict(specs))
            except NoAnswer:
                specs.clear()  # each is tried for itself
                return None
            return made if largest == spec else self._known(spec)

    def _train_now(self, spec: Spec, sizes: Mapping[int, Spec]) -> Trained:
        """Train in a process of its own."""
        assert self.plan.training is not None

        def told(event: object) -> None:
            if isinstance(event, Trains):
                self.display.rounds(int(event.fraction * 100), 100, f"{event.spec} {event.doing}")

        arguments = (spec, sizes, self.plan.training, self.aside, self.digest, self.models)
        # A fresh process, so that the peak of memory is this training's own.
        with borrowed(fresh=True) as worker:
            return worker.call(train_one, *arguments, limits=self.plan.limits, on_event=told)


def _size_groups(plan: Plan, missing: Sequence[Spec]) -> dict[str, Sizes]:
    """Specs that differ in their size alone, where the family gives several sizes by one training.

    There are none where speed is measured: each training is timed then.
    """
    groups: dict[str, Sizes] = {}
    for spec in missing:
        family = plan.registry.tokenizers[spec.family]
        if family.train_sizes is not None and plan.suite.speed_settings is None:
            size = with_defaults(family.options, spec.options)["vocab_size"]
            groups.setdefault(_without_size(spec), (threading.Lock(), {}))[1][size] = spec
    return {key: group for key, group in groups.items() if len(group[1]) > 1}


def _without_size(spec: Spec) -> str:
    return str(Spec(spec.family, None, {n: value for n, value in spec.options.items() if n != "vocab_size"}))


def _of_corpus(
    plan: Plan,
    function: Callable[[Emit, TrainingRecipe, *Given], T],
    training: TrainingRecipe,
    *arguments: *Given,
) -> T:
    """What `function` gives of the training text in a worker; raises `CorpusError` where it cannot be read."""
    found = attempt(function, training, *arguments, limits=plan.limits, again=True)
    if isinstance(found, TaskFailure):
        what = f"the training text {training.key} cannot be read: {found.message}"
        if found.kind != "raised":  # the process was lost, twice: that says nothing against the request
            more = {"memory": "; allow more with --memory-limit", "timeout": "; give it longer with --timeout"}
            raise WorkerLost(found.kind, what + more.get(found.kind, ""), output=found.output)
        raise CorpusError(what)
    return found


# --- in a worker --------------------------------------------------------------------------------------------


def digest_training(emit: Emit, corpus: TrainingRecipe) -> str:
    """The digest of a training corpus."""
    return corpus_digest(corpus.load())


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
    aside: TrainingCorpus | None,
    digest: str,
    folder: Path,
) -> Trained:
    """Train one tokenizer, and those of other `sizes` with it, on the text put `aside` where there is one."""

    def progress(fraction: float, doing: str) -> None:
        emit(Begun())  # each step that a trainer tells of has the time limit for itself
        emit(Trains(str(spec), fraction, doing))

    registry, text = registry_of(corpus.parts[0].context), aside or corpus.load()
    return ensure_trained(registry, spec, text, digest, folder, progress=progress, sizes=sizes)


LARGEST = 64_000_000
"""Bytes up to which a text is kept aside; larger ones are streamed from where they are."""


@dataclass(frozen=True, slots=True)
class Spooled:
    """A dataset of one file, a JSON string a line; otherwise as the dataset it was made from.

    `parts` are the shards that one had, in order, each with its language, as bytes of the file.
    """

    path: Path
    name: str
    parts: tuple[Shard, ...]
    languages: Sequence[str] = ("mul",)
    parallel: bool = False

    def shards(self, language: str) -> Sequence[Shard]:
        """A shard for each that the original had, with its language."""
        return self.parts

    def read(self, shard: Shard) -> Iterator[Document]:
        """The documents, in the order in which they were put aside."""
        with self.path.open("rb") as lines:
            lines.seek(shard.start)
            while lines.tell() < shard.stop:
                yield Document(json.loads(lines.readline()))

    def digest(self, shard: Shard) -> str:
        """Not asked for: trained tokenizers are kept under the digest of the original."""
        return str(self.path)


def spool(emit: Emit, training: TrainingRecipe, path: Path) -> TrainingCorpus | None:
    """The training text put aside in `path`; None where it is too large to be worth it, or holds counts."""
    corpus = training.load()
    if corpus.counted or corpus.n_bytes > LARGEST:
        return None
    parts = []
    with replacing(path) as aside, aside.open("wb") as lines:
        for shard in corpus.shards():
            start = lines.tell()
            for document in corpus.dataset.read(shard):
                lines.write(json.dumps(document.text).encode() + b"\n")
            stop = lines.tell()
            parts.append(Shard(shard.language, str(path), start=start, stop=stop, n_bytes=stop - start))
    return TrainingCorpus.of(Spooled(path, training.key, tuple(parts)))
