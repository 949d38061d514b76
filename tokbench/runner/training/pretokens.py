"""`tokbench count`: workers count the pre-tokens of shards into files, which are then added up.

Memory is bounded: a worker spills what it has counted to a file whenever there is much of it, and files are
added up a part at a time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.corpora.counted import (
    Head,
    TextSize,
    add_files,
    added_up,
    head_of,
    read_head,
    summed,
    table_of,
    write_table,
)
from tokbench.corpus import Shard, gathered
from tokbench.errors import CorpusError, SpecError
from tokbench.family import Progress
from tokbench.registry import Registry, registry_of
from tokbench.results.atomic import replacing
from tokbench.results.failure import TaskFailure
from tokbench.runner.counting.dispatch import (
    EngineLost,
    OpenedEngine,
    check_engine,
    result_of,
    submitted,
)
from tokbench.runner.picking import utf8_bytes
from tokbench.runner.recipe import DatasetRecipe
from tokbench.spec import Spec, with_defaults
from tokbench.workers.calls import Emit
from tokbench.workers.pool import attempt

if TYPE_CHECKING:
    import pyarrow as pa

SLICE = 1 << 25
"""Characters of text that are counted at a time: too few to hold more pre-tokens than a counter keeps."""
MOST_ROWS = 1 << 21
"""Rows that a worker holds before it writes them to a file."""
TASK = 1 << 27
"""Bytes of text that make a task."""


@dataclass(frozen=True, slots=True)
class PretokenTask:
    """Some shards of datasets to be counted for a spec, into files in `folder`."""

    spec: Spec
    shards: tuple[tuple[DatasetRecipe, Shard], ...]
    folder: Path
    number: int

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for _, shard in self.shards)


def count_pretokens(
    registry: Registry,
    wanted: str,
    datasets: Sequence[str],
    output: Path,
    *,
    languages: Sequence[str] = (),
    engine: str = "local",
    address: str | None = None,
    jobs: int = 1,
    progress: Progress = lambda fraction, what: None,
) -> tuple[Head, int]:
    """Count the pre-tokens of datasets as the training of a spec would, into a file; its head and its rows.

    Raises `SpecError` for a family that cannot be trained from counts, `CorpusError` for text that cannot be
    read and for an engine that is gone.
    """
    spec = registry.tokenizer_spec(wanted)
    cut = _cut_of(registry, spec)
    shards = list(_shards(registry, datasets, languages))
    chosen = registry.pick(registry.engines, engine, "engine")
    check_engine(chosen, address, registry)
    output.absolute().parent.mkdir(parents=True, exist_ok=True)
    # Beside the output, where the workers of a shared engine write as well.
    folder = Path(tempfile.mkdtemp(prefix=".counts.", dir=output.absolute().parent))
    try:
        tasks = _tasks(spec, shards, folder)
        with OpenedEngine(chosen, jobs, address, registry) as opened:
            counted = list(_counted(opened.executor(), tasks, chosen.shared, progress))
        order = dict.fromkeys((shard.language, recipe.key) for recipe, shard in shards)
        nothing = [TextSize(*key, 0, 0) for key in order]  # tasks end in any order
        texts = tuple(text for text in summed([*nothing, *counted]) if text.documents)
        if not texts:
            raise CorpusError(f"{' + '.join(datasets)}: no text in it, so there is nothing to count")
        progress(0.9, "adding up")
        head = Head(cut, str(spec), texts)
        with replacing(output) as aside:
            rows = add_files(sorted(folder.glob("*.parquet")), head, aside)
        return head, rows
    except EngineLost as loss:
        raise CorpusError(f"the engine {engine} failed: {loss}; nothing was written, so count again") from loss
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cut_of(registry: Registry, spec: Spec) -> str:
    """How the training of a spec cuts text; raises `SpecError` where it is not trained from counts."""
    family = registry.tokenizers[spec.family]
    if family.counting is None or not family.trains(spec):
        able = sorted(name for name, other in registry.tokenizers.items() if other.counting is not None)
        raise SpecError(
            f"{spec}: only what is trained from counts can be counted for; that is {', '.join(able)}"
        )
    return family.counting.cut(with_defaults(family.options, spec.options))


def _counted(
    executor: Executor, tasks: Sequence[PretokenTask], shared: bool, progress: Progress
) -> Iterator[TextSize]:
    """How much text each task had, as tasks end; raises `CorpusError` where one failed."""
    total, done = max(1, sum(task.n_bytes for task in tasks)), 0
    futures = {submitted(executor, run_task, task): task for task in tasks}
    for future in as_completed(futures):
        found = result_of(future, shared=shared)
        if isinstance(found, TaskFailure):
            raise CorpusError(found.message)
        done += futures[future].n_bytes
        progress(0.9 * done / total, "counting")
        yield from found


def merge_counts(files: Sequence[Path], output: Path) -> tuple[Head, int]:
    """Add up files of counts; raises `CorpusError` where they were cut in different ways."""
    head = head_of([read_head(file) for file in files], files)
    with replacing(output) as aside:
        return head, add_files(files, head, aside)


def _shards(
    registry: Registry, datasets: Sequence[str], languages: Sequence[str]
) -> Iterator[tuple[DatasetRecipe, Shard]]:
    for text in datasets:
        spec = registry.dataset_spec(text)
        dataset = registry.dataset(spec)
        recipe = DatasetRecipe.of(registry, spec)
        for language in languages:
            if language not in dataset.languages:
                raise SpecError(f"{text} has no language {language!r}; it has {', '.join(dataset.languages)}")
        for language in languages or dataset.languages:
            for shard in dataset.shards(language):
                yield recipe, shard


def _tasks(spec: Spec, shards: Sequence[tuple[DatasetRecipe, Shard]], folder: Path) -> list[PretokenTask]:
    """Shards in the order they have, in tasks of about equal size."""
    groups = gathered(shards, lambda each: each[1].n_bytes, TASK)
    return [PretokenTask(spec, tuple(some), folder, number) for number, some in enumerate(groups)]


def run_task(task: PretokenTask) -> list[TextSize] | TaskFailure:
    """How much text a task had, or why it failed; its counts are in files of its folder."""
    return attempt(count_task, task, again=True)


def count_task(emit: Emit, task: PretokenTask) -> list[TextSize]:
    """Count the shards of a task, in a worker."""
    registry = registry_of(task.shards[0][0].context)
    family = registry.tokenizers[task.spec.family]
    assert family.counting is not None
    options = {**with_defaults(family.options, task.spec.options), "threads": 1}
    spill = _Spill(task)
    sizes = []
    for recipe, shard in task.shards:
        size = TextSize(shard.language, recipe.key, 0, 0)
        texts = (document.text for document in recipe.load().read(shard))
        for some in gathered(texts, len, SLICE):
            words = family.counting.count(some, options)
            spill.add(table_of(words, shard.language, recipe.key))
            n_bytes = size.bytes + utf8_bytes(some)
            size = TextSize(shard.language, recipe.key, size.documents + len(some), n_bytes)
        sizes.append(size)
    spill.write()
    return sizes


class _Spill:
    """Tables waiting to be added up and, when they are many rows, to be written to a file."""

    def __init__(self, task: PretokenTask) -> None:
        self._task, self._files = task, 0
        self._waiting: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        """Take a table; above `MOST_ROWS` rows, add up those waiting, and write them if over half remain."""
        self._waiting.append(table)
        if sum(map(len, self._waiting)) > MOST_ROWS:
            self._waiting = [added_up(self._waiting)]
            if len(self._waiting[0]) > MOST_ROWS // 2:
                self.write()

    def write(self) -> None:
        """Write what waits to a file of the task's folder."""
        if self._waiting:
            path = self._task.folder / f"{self._task.number:06}-{self._files:04}.parquet"
            write_table(path, Head("", "", ()), added_up(self._waiting))
            self._files += 1
            self._waiting = []
