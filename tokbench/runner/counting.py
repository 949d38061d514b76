"""Counting in a worker: documents in, tallies out, piece by piece."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.corpus import read_text
from tokbench.errors import TokbenchError
from tokbench.manager import PATIENCE, within
from tokbench.metrics.own import counting_of
from tokbench.runner.limits import failure_of
from tokbench.runner.recipe import DatasetRecipe, Recipe, digest_of, open_registry, reader_digest
from tokbench.runner.tasks import CountTask, Outcome, Piece
from tokbench.runner.worker import Emit
from tokbench.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokbench.tally import Tally
    from tokbench.tally.own import Counting

_PROGRESS_SECONDS = 0.2


def get_ready(emit: Emit) -> None:
    """Load what counts, once in a worker: compiling is nothing that a tokenizer's time limit should hold."""
    from tokbench.corpora.lines import lines_of
    from tokbench.kernels.compiling import when_compiling
    from tokbench.tally import get_ready

    if not _ready:
        when_compiling(lambda: emit(("compiling",)))
        lines_of(b"a line")
        get_ready()
        _ready.append(True)


_ready: list[bool] = []


def count(emit: Emit, task: CountTask) -> None:
    """Count every piece of a task; each is reported by an event as soon as it is done or has failed."""
    home = Path.cwd()
    for piece in task.pieces:
        os.chdir(home)  # the last tokenizer call may have moved us, and paths of shards may be relative
        emit(("begin", piece.cell, piece.part))
        emit(("done", _guarded(emit, task, piece)))


def _guarded(emit: Emit, task: CountTask, piece: Piece) -> Outcome:
    try:
        return _count(emit, task, piece)
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: a tokenizer may raise anything
        return Outcome(piece.cell, piece.part, failure=failure_of(error))


def _count(emit: Emit, task: CountTask, piece: Piece) -> Outcome:
    from tokbench.runner.counting import Summing
    from tokbench.tally import Collector, CorpusFacts, Tally, collect

    begun = time.perf_counter()
    dataset = piece.dataset.load()
    facts = CorpusFacts.of(dataset, piece.language)
    report = _throttled(emit, piece)
    own = _counting(task)
    whole: Collector | None = None  # of all shards, where the tally of each is not to be kept
    growing = Summing()
    digests, cached = [], 0
    for shard in piece.shards:
        emit(("begin", piece.cell, piece.part))  # once more: a time limit is for a shard
        digest = dataset.digest(shard)
        digests.append(digest)
        if task.cache is None:
            whole = whole or Collector([loaded(task.recipe)], facts=facts, on_batch=report, counting=own)
            whole.add(read_text(dataset, shard))
            continue
        key = tally_key(task.recipe, piece.dataset, digest, facts, *task.counting)
        known = task.cache.get(key)
        if known is not None:
            growing.add(Tally.from_bytes(known))
            cached += 1
            report(shard.n_bytes)
        else:
            text = read_text(dataset, shard)
            tally = collect(loaded(task.recipe), text, facts=facts, on_batch=report, counting=own)
            if not tally.own.faults:  # what went wrong may go well the next time
                task.cache.put(key, tally.to_bytes())
            growing.add(tally)
    total = whole.result()[0] if whole else growing.total()
    seconds = 0.0 if cached == len(piece.shards) else time.perf_counter() - begun
    return Outcome(piece.cell, piece.part, total.to_bytes(packed=False), tuple(digests), seconds, cached)


def tally_key(
    recipe: Recipe, dataset: DatasetRecipe, digest: str, facts: object, *counting: tuple[str, str]
) -> str:
    """The key of a shard's tally in the cache; `counting` are the metrics with counters of their own."""
    from tokbench.tally import TALLY_VERSION

    return digest_of(recipe.fingerprint, digest, reader_digest(dataset), str(facts), TALLY_VERSION, *counting)


def _counting(task: CountTask) -> list[Counting]:
    """How the metrics of a task count for themselves, each call within half of what a shard may take."""
    if not task.counting:
        return []
    registry = open_registry(task.recipe.plugins, task.recipe.context)
    found = [counting_of(registry.metric(name)) for name, _ in task.counting]
    seconds = min(PATIENCE, (task.limits.seconds or 2 * PATIENCE) / 2)
    return [replace(each, count=_punctual(each.count, seconds)) for each in found if each is not None]


def _punctual(count: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """A plugin's `count` that may take so long: it is the metric that failed then, not the tokenizer."""

    @wraps(count)
    def punctual(**given: Any) -> Any:
        with within(seconds):
            return count(**given)

    return punctual


def _throttled(emit: Emit, piece: Piece) -> Callable[[int], None]:
    """Reports bytes done as progress events, a few a second at most."""
    waiting = 0
    last = time.monotonic()

    def report(n_bytes: int) -> None:
        nonlocal waiting, last
        waiting += n_bytes
        now = time.monotonic()
        if now - last >= _PROGRESS_SECONDS:
            emit(("progress", piece.cell, waiting))
            waiting, last = 0, now

    return report


_held: dict[str, Tokenizer | TokbenchError] = {}


def loaded(recipe: Recipe) -> Tokenizer:
    """The tokenizer of a recipe. The last one stays loaded, and so does the news that it cannot be."""
    name = recipe.key + recipe.fingerprint
    if name not in _held:
        _held.clear()  # one at a time: some vocabularies take 100 MB
        try:
            _held[name] = recipe.load()
            recipe.check_files()
        except TokbenchError as error:
            _held[name] = error
    found = _held[name]
    if isinstance(found, TokbenchError):
        raise found
    return found


AT_ONCE = 16
"""Tallies held before they are added: each may take a megabyte or two."""


class Summing:
    """A sum of tallies that grows.

    Example:
        >>> from tokbench.tally.tally import Tally
        >>> growing = Summing()
        >>> growing.add(Tally.empty())
        >>> growing.total().documents
        0
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[Tally] = []

    def add(self, tally: Tally) -> None:
        """Add one more."""
        self._parts.append(tally)
        if len(self._parts) >= AT_ONCE:
            self._parts = [self.total()]

    def total(self) -> Tally:
        """The sum so far."""
        from tokbench.tally import Tally

        return Tally.sum(self._parts)
