"""The plan: everything a suite names, resolved and checked before any work starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.corpus import Dataset, Shard
from tokbench.errors import SpecError
from tokbench.extension import Engine
from tokbench.metrics.metric import CellKey, Metric
from tokbench.registry import Registry
from tokbench.runner.checks import check_address, check_gold, check_reference, open_prices
from tokbench.runner.recipe import DatasetRecipe, Recipe, TrainingRecipe
from tokbench.runner.suite import Suite
from tokbench.runner.tasks import Piece
from tokbench.spec import Spec

if TYPE_CHECKING:
    from tokbench.metrics.cost import PriceTable
    from tokbench.tally import CorpusFacts

SMALLEST_TASK = 256 << 10
LARGEST_TASK = 64 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One tokenizer of the suite: its canonical spec; whether it is trained here, and may be absent."""

    spec: Spec
    trains: bool
    optional: bool

    @property
    def key(self) -> str:
        """The canonical spec, under which its results stand."""
        return str(self.spec)


@dataclass(frozen=True, slots=True)
class Corpus:
    """One dataset of the suite, with the shards of each language."""

    recipe: DatasetRecipe
    dataset: Dataset
    shards: Mapping[str, tuple[Shard, ...]]

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for shards in self.shards.values() for shard in shards)

    def facts(self, language: str) -> CorpusFacts:
        """What counting depends on."""
        from tokbench.tally import CorpusFacts

        return CorpusFacts.of(self.dataset, language)


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked suite: nothing in it is unknown any more."""

    suite: Suite
    registry: Registry
    entries: tuple[Entry, ...]
    corpora: tuple[Corpus, ...]
    metrics: tuple[Metric, ...]
    engine: Engine
    training: TrainingRecipe | None
    prices: PriceTable | None
    jobs: int
    memory_limit: int

    @property
    def cells(self) -> Iterator[tuple[str, CellKey]]:
        """Every cell, tokenizer by tokenizer."""
        for entry in self.entries:
            for corpus in self.corpora:
                for language in corpus.shards:
                    yield entry.key, CellKey(entry.key, corpus.recipe.key, language)


def make_plan(suite: Suite, registry: Registry) -> Plan:
    """Check a suite against what is loaded; raises a `TokbenchError` for the first thing that is wrong."""
    entries = _entries(suite, registry)
    metrics = _metrics(suite, registry)
    engine = registry.pick(registry.engines, suite.engine, "engine")
    roles = [("baseline", suite.baseline), *(("diff", spec) for pair in suite.diff for spec in pair)]
    for role, spec in roles:
        if spec is not None and str(registry.tokenizer_spec(spec)) not in {entry.key for entry in entries}:
            raise SpecError(f"{role} {spec!r} is not among the tokenizers of this run: add it with -t {spec}")
    settings = suite.speed_settings
    chosen = {str(spec) for spec in _unique_datasets(suite, registry)}
    for text in settings.datasets if settings else ():
        if str(registry.dataset_spec(text)) not in chosen:
            raise SpecError(f"[speed] datasets: {text!r} is not among the datasets of this run")
    check_address(suite, engine, registry)
    check_gold(suite)
    prices = open_prices(suite, registry)
    training = None
    if any(entry.trains for entry in entries):
        specs = [registry.dataset_spec(text) for text in suite.train_on or [DEFAULT_TRAINING]]
        training = TrainingRecipe(tuple(_recipe(registry, spec) for spec in specs))
        training.load()
    corpora = tuple(_corpus(registry, spec) for spec in _unique_datasets(suite, registry))
    check_reference(suite, {language for corpus in corpora for language in corpus.shards})
    jobs = suite.jobs or available_cores()
    limit = suite.memory_limit or default_memory_limit(jobs)
    return Plan(suite, registry, entries, corpora, metrics, engine, training, prices, jobs, limit)


DEFAULT_TRAINING = "stdlib:docs"
"""What tokenizers are trained on where a suite does not say: real text that is on every machine."""


def _entries(suite: Suite, registry: Registry) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    for text, optional in [*((t, False) for t in suite.tokenizers), *((t, True) for t in suite.optional)]:
        spec = registry.tokenizer_spec(text)
        trains = registry.tokenizers[spec.family].trains(spec)
        found.setdefault(str(spec), Entry(spec, trains, optional))
    if not found:
        raise SpecError("no tokenizers: name some with -t SPEC or the suite's key 'tokenizers'")
    return tuple(found.values())


def _metrics(suite: Suite, registry: Registry) -> tuple[Metric, ...]:
    chosen = [registry.pick(registry.metrics, name, "metric") for name in suite.metrics]
    return tuple(chosen or registry.metrics.values())


def _unique_datasets(suite: Suite, registry: Registry) -> Sequence[Spec]:
    if not suite.datasets:
        raise SpecError("no datasets: name some with -d DATASET or the suite's key 'datasets'")
    return list({str(spec): spec for spec in map(registry.dataset_spec, suite.datasets)}.values())


def _recipe(registry: Registry, spec: Spec) -> DatasetRecipe:
    return DatasetRecipe(str(spec), spec, registry.choice, registry.context)


def _corpus(registry: Registry, spec: Spec) -> Corpus:
    recipe = _recipe(registry, spec)
    dataset = registry.dataset(spec)
    shards = {language: tuple(dataset.shards(language)) for language in dataset.languages}
    if not any(shards.values()):
        raise SpecError(f"{spec}: there is no text in it")
    return Corpus(recipe, dataset, {language: found for language, found in shards.items() if found})


# --- cutting cells into pieces, and pieces into tasks ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the plan, ready to be cut: `index` numbers it, `identity` says what its counts depend on."""

    index: int
    key: CellKey
    recipe: Recipe
    corpus: DatasetRecipe
    shards: tuple[Shard, ...]
    identity: str

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for shard in self.shards)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The pieces of one task, all for one tokenizer."""

    recipe: Recipe
    pieces: tuple[Piece, ...]


def bundles(cells: Sequence[Cell], jobs: int) -> list[Bundle]:
    """Cells cut into tasks, a tokenizer each; small languages share one.

    The first are large, since each task ends with tallies to be joined, and the later the smaller: then all
    workers are done at nearly the same time, whichever is faster (guided self-scheduling, Polychronopoulos and
    Kuck 1987).
    """
    found: list[Bundle] = []
    left = sum(cell.n_bytes for cell in cells)
    held: list[Piece] = []
    shards: list[Shard] = []
    part = held_bytes = 0
    for number, cell in enumerate(cells):
        room = task_size(left, jobs)
        for shard in cell.shards:
            if held_bytes and (
                held_bytes + shard.n_bytes // 2 > room or held_bytes + shard.n_bytes > LARGEST_TASK
            ):
                if shards:
                    held.append(Piece(cell.index, part, cell.corpus, cell.key.language, tuple(shards)))
                    shards, part = [], part + 1
                found.append(Bundle(cell.recipe, tuple(held)))
                left -= held_bytes
                held, held_bytes, room = [], 0, task_size(left, jobs)
            shards.append(shard)
            held_bytes += shard.n_bytes
        held.append(Piece(cell.index, part, cell.corpus, cell.key.language, tuple(shards)))
        shards, part = [], 0
        if number + 1 == len(cells) or cells[number + 1].recipe is not cell.recipe:
            found.append(Bundle(cell.recipe, tuple(held)))
            left -= held_bytes
            held, held_bytes = [], 0
    return found


def task_size(left: int, jobs: int) -> int:
    """Bytes of the next task where so many are left to be handed out; one worker alone waits for nobody.

    Two thirds of a worker's share: what the others still have then levels out even where one is half as fast,
    and each task less is some ten milliseconds less for a worker and for us.
    """
    return min(max(2 * left // (jobs * 3), SMALLEST_TASK), LARGEST_TASK) if jobs > 1 else LARGEST_TASK


def most_workers(plan: Plan) -> int:
    """How many workers a plan can use at once; fewer may do, where some of the work was done before."""
    tokenizers = len(plan.entries)
    counting = tokenizers * sum(corpus.n_bytes for corpus in plan.corpora) // SMALLEST_TASK
    return min(plan.jobs, max(tokenizers, 0 if plan.engine.shared else counting))


# --- what the machine allows ----------------------------------------------------------------------------


def available_cores() -> int:
    """Cores this process may use, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_memory_limit(jobs: int) -> int:
    """Bytes one worker may hold where nobody says: four fifths of the memory there is, shared by `jobs`."""
    import psutil

    return int(0.8 * psutil.virtual_memory().total / jobs)
