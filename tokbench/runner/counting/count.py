"""Counting in a worker: takes a task (a tokenizer and portions of text), gives a tally of each portion."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from tokbench.corpus import Shard, read_text
from tokbench.errors import CorpusError
from tokbench.manager import PATIENCE, within
from tokbench.metrics.measurement import CellKey
from tokbench.registry import registry_of
from tokbench.results.failure import TaskFailure
from tokbench.runner.cache import TallyCache
from tokbench.runner.counting.reading import blaming, checked_text
from tokbench.runner.fingerprint import digest_of, reader_digest
from tokbench.runner.recipe import DatasetRecipe, Recipe, loaded
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.own import OwnCounting
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.workers.calls import Begun, Compiling, Emit, Limits, failure_of

_PROGRESS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One cell of the plan, or a portion of it; `index` numbers it, `identity` says what its counts depend on.

    A portion has some of the cell's shards, and is the `part`th to do so. `counting` are the metrics with
    counters of their own, see `cells.own_counters`.
    """

    index: int
    key: CellKey
    recipe: Recipe
    corpus: DatasetRecipe
    shards: tuple[Shard, ...]
    identity: str
    counting: tuple[tuple[str, str], ...] = ()
    part: int = 0

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for shard in self.shards)


@dataclass(frozen=True, slots=True)
class CountTask:
    """Portions of cells to be counted in one worker, all with one tokenizer."""

    portions: tuple[PlannedCell, ...]
    cache: TallyCache | None
    limits: Limits


@dataclass(frozen=True, slots=True)
class PortionResult:
    """What came of one portion: its tally and its shards' digests, or why there is none.

    `seconds` is the time of counting, 0 where all of the shards were known already.
    """

    cell: int
    part: int
    tally: Tally | None = None
    digests: tuple[str, ...] = ()
    seconds: float = 0.0
    failure: TaskFailure | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """An event: so many bytes more of a cell were counted."""

    cell: int
    n_bytes: int


def get_ready(emit: Emit) -> None:
    """Load the code that counts, once in a worker, so that no tokenizer's time limit includes compiling."""
    from tokbench.corpora.lines import lines_of
    from tokbench.kernels.compiling import when_compiling
    from tokbench.tally.collect import get_ready

    if not _ready:
        gc.set_threshold(50_000)  # look less often through all that imports leave
        when_compiling(lambda: emit(Compiling()))
        lines_of(b"a line")
        get_ready()
        _ready.append(True)


_ready: list[bool] = []


def count(emit: Emit, task: CountTask) -> None:
    """Count every portion of a task, in order; the outcome of each is an event, as soon as it is known."""
    home = Path.cwd()
    for portion in task.portions:
        os.chdir(home)  # the last tokenizer call may have moved us, and paths of shards may be relative
        emit(Begun())
        try:
            outcome = _count(emit, task, portion)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: a tokenizer may raise anything
            outcome = PortionResult(portion.index, portion.part, failure=failure_of(error))
        emit(outcome)


def _count(emit: Emit, task: CountTask, portion: PlannedCell) -> PortionResult:
    from tokbench.tally.collect import collect

    begun = time.perf_counter()
    dataset = portion.corpus.load()
    facts = CorpusFacts.of(dataset, portion.key.language)
    report = _throttled(emit, portion)
    own = _counting(portion, task.limits)
    digests: list[str] = []
    cached = 0

    def of_shard(shard: Shard) -> Tally:
        nonlocal cached
        emit(Begun())  # once more: a time limit is for a shard
        with blaming(portion.corpus):
            digest = dataset.digest(shard)
        if not isinstance(digest, str) or not digest:
            kind = type(digest).__name__
            raise CorpusError(f"{portion.corpus.key}: digest returned {kind}, not a hash of the text as str")
        digests.append(digest)
        key = tally_key(portion.recipe, portion.corpus, digests[-1], facts, *portion.counting)
        known = task.cache.get(key) if task.cache else None
        if known is not None:
            cached += 1
            report(shard.n_bytes)
            return Tally.from_bytes(known)
        text = checked_text(read_text(dataset, shard), portion.corpus)
        tally = collect(loaded(portion.recipe), text, facts=facts, on_batch=report, counting=own)
        if task.cache and not tally.own.faults:  # what went wrong may go well the next time
            task.cache.put(key, tally.to_bytes())
        return tally

    total = Tally.sum(map(of_shard, portion.shards))
    seconds = 0.0 if cached == len(portion.shards) else time.perf_counter() - begun
    return PortionResult(portion.index, portion.part, total, tuple(digests), seconds)


def tally_key(
    recipe: Recipe, dataset: DatasetRecipe, digest: str, facts: object, *counting: tuple[str, str]
) -> str:
    """The key of a shard's tally in the cache; `counting` are the metrics with counters of their own."""
    return digest_of(recipe.fingerprint, digest, reader_digest(dataset), str(facts), TALLY_VERSION, *counting)


def _counting(portion: PlannedCell, limits: Limits) -> list[OwnCounting]:
    """How metrics count for themselves in a portion, each call within half of what a shard may take."""
    if not portion.counting:
        return []
    registry = registry_of(portion.recipe.context)
    found = [registry.metric(name).counting for name, _ in portion.counting]
    seconds = min(PATIENCE, (limits.seconds or 2 * PATIENCE) / 2)
    return [replace(each, count=_punctual(each.count, seconds)) for each in found if each is not None]


def _punctual(count: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """A plugin's `count` with a time limit of its own: beyond that the metric has failed, not the tokenizer."""

    @wraps(count)
    def punctual(**given: Any) -> Any:
        with within(seconds):
            return count(**given)

    return punctual


def _throttled(emit: Emit, portion: PlannedCell) -> Callable[[int], None]:
    """Reports bytes done as progress events, a few a second at most."""
    waiting = 0
    last = time.monotonic()

    def report(n_bytes: int) -> None:
        nonlocal waiting, last
        waiting += n_bytes
        now = time.monotonic()
        if now - last >= _PROGRESS_SECONDS:
            emit(Progress(portion.index, waiting))
            waiting, last = 0, now

    return report
