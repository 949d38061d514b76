"""The cells of a run (a tokenizer on one language of a dataset): those on disk, and tasks for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

from tokbench.corpus import Shard
from tokbench.errors import ResultsError
from tokbench.metrics.measurement import CellKey
from tokbench.results.cell import cell_file_name, is_cell, read_cell
from tokbench.results.folder import RunFolder
from tokbench.runner.cache import TallyCache
from tokbench.runner.counting.count import CountTask, PlannedCell
from tokbench.runner.fingerprint import code_digest, digest_of, reader_digest
from tokbench.runner.training.candidates import Candidate
from tokbench.runner.training.train import corpus_digest, training_corpus
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.workers.calls import NO_LIMITS, Limits

if TYPE_CHECKING:
    from tokbench.runner.planning.plan import Plan  # which a worker does without

SMALLEST_TASK = 256 << 10
LARGEST_TASK = 64 << 20


def make_cells(plan: Plan, candidates: Sequence[Candidate]) -> list[PlannedCell]:
    """The cells of every tokenizer that is ready, in the order of the suite.

    A cell's identity rests on what the plan saw of each shard (size and time of its source), so that deciding
    whether a cell on disk still stands does not need reading the text.
    """
    cells: list[PlannedCell] = []
    own = own_counters(plan)
    for candidate in candidates:
        if candidate.recipe is None:
            continue
        for corpus in plan.corpora:
            reader = reader_digest(corpus.recipe)
            for language, shards in corpus.shards.items():
                key = CellKey(candidate.entry.key, corpus.recipe.key, language)
                seen = [asdict(shard) for shard in shards]
                facts = str(corpus.facts[language])
                identity = digest_of(candidate.recipe.fingerprint, seen, facts, reader, TALLY_VERSION, *own)
                cells.append(
                    PlannedCell(len(cells), key, candidate.recipe, corpus.recipe, shards, identity, own)
                )
    return cells


def own_counters(plan: Plan) -> tuple[tuple[str, str], ...]:
    """The metrics of a plan with counters of their own: the spec of each, and a digest of what it counts by.

    That is its plugin's code, and the text that its option `train_on` names.
    """
    registry = plan.registry
    found = []
    for metric in plan.metrics:
        if metric.count is not None:
            digest = code_digest(registry, registry.owner(metric.name, "tokbench_metrics"))
            text = metric.settings.get("train_on")
            if text is not None:
                digest = digest_of(digest, corpus_digest(training_corpus(registry, str(text))))
            found.append((metric.name, digest))
    return tuple(found)


def cut_into_tasks(
    cells: Sequence[PlannedCell], jobs: int, cache: TallyCache | None = None, limits: Limits = NO_LIMITS
) -> list[CountTask]:
    """Cells cut into tasks of one tokenizer each; small languages share a task.

    The first tasks are large, since the tallies of each have to be joined; later ones are ever smaller, so that
    all workers are done at nearly the same time, whichever is faster (guided self-scheduling, Polychronopoulos
    and Kuck 1987).
    """
    found: list[CountTask] = []
    parts: Counter[int] = Counter()
    left = sum(cell.n_bytes for cell in cells)
    for _, own in groupby(cells, key=lambda cell: id(cell.recipe)):
        held: list[tuple[PlannedCell, Shard]] = []
        size = 0
        for cell, shard in ((one, shard) for one in own for shard in one.shards):
            room = task_size(left, jobs)
            if size and (size + shard.n_bytes // 2 > room or size + shard.n_bytes > LARGEST_TASK):
                found.append(_task(held, parts, cache, limits))
                left -= size
                held, size = [], 0
            held.append((cell, shard))
            size += shard.n_bytes
        found.append(_task(held, parts, cache, limits))
        left -= size
    return found


def _task(
    held: Sequence[tuple[PlannedCell, Shard]], parts: Counter[int], cache: TallyCache | None, limits: Limits
) -> CountTask:
    """Shards as a task, those of a cell as a portion; `parts` counts the portions that each cell has so far."""
    portions = []
    for index, group in groupby(held, key=lambda each: each[0].index):
        (cell, *_), shards = zip(*group, strict=True)
        portions.append(replace(cell, shards=shards, part=parts[index]))
        parts[index] += 1
    return CountTask(tuple(portions), cache, limits)


def task_size(left: int, jobs: int) -> int:
    """Bytes of the next task where `left` are to be handed out; one worker alone waits for nobody.

    Two thirds of a worker's share: the rest then evens workers out even where one is half as fast. No less, as
    each task costs a worker and the coordinator some ten milliseconds.
    """
    return min(max(2 * left // (jobs * 3), SMALLEST_TASK), LARGEST_TASK) if jobs > 1 else LARGEST_TASK


def most_workers(jobs: int, tokenizers: int, n_bytes: int) -> int:
    """How many of `jobs` workers have work at once, where each tokenizer counts so many bytes of text.

    Fewer may do, where some of the work was done before.
    """
    return min(jobs, max(tokenizers, tokenizers * n_bytes // SMALLEST_TASK))


def look_through(
    folder: RunFolder, cells: Sequence[PlannedCell]
) -> tuple[list[PlannedCell], dict[tuple[str, str], list[str]]]:
    """The cells that are to be counted, and of those that are on disk the digests of each dataset and language.

    A cell is on disk where its file has its identity and is no failure. Files of cells that the plan no longer
    has are removed; files that are no cells stay.
    """
    todo: list[PlannedCell] = []
    digests: dict[tuple[str, str], list[str]] = {}
    known = {cell_file_name(cell.key) for cell in cells}
    if folder.cells.is_dir():
        for path in folder.cells.iterdir():
            if path.name not in known and is_cell(path):
                path.unlink(missing_ok=True)
    for cell in cells:
        try:
            found = read_cell(folder.cells / cell_file_name(cell.key), with_tally=False)
            stands = found.key == cell.key and found.identity == cell.identity and found.failure is None
        except ResultsError:
            stands = False
        if stands:
            digests[cell.key.dataset, cell.key.language] = list(found.digests)
        else:
            todo.append(cell)
    return todo, digests


def without_text(tallies: Mapping[CellKey, Tally]) -> list[CellKey]:
    """The cells of datasets without any document; of others, cells are read up to the first that has one."""
    holds: dict[str, bool] = {}
    for key in tallies:
        holds[key.dataset] = holds.get(key.dataset, False) or tallies[key].documents > 0
    return [key for key in tallies if not holds[key.dataset]]


class CellFiles(Mapping[CellKey, Tally]):
    """The tallies of the cells on disk, read when asked and not kept: a run has more than memory may hold."""

    def __init__(self, folder: RunFolder, keys: Sequence[CellKey]) -> None:
        self._folder = folder
        self._keys = dict.fromkeys(keys)

    def __getitem__(self, key: CellKey) -> Tally:
        if key not in self._keys:
            raise KeyError(key)
        tally = read_cell(self._folder.cells / cell_file_name(key)).tally
        assert tally is not None, "only finished cells are listed"
        return tally

    def __contains__(self, key: object) -> bool:
        return key in self._keys  # by default a mapping is asked for the value, which is read and thrown away

    def __iter__(self) -> Iterator[CellKey]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
