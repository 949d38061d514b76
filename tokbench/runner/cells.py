"""The cells of a run: which there are, which are on disk already, and the tallies of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from tokbench.errors import ResultsError
from tokbench.metrics.metric import CellKey
from tokbench.results.cell import cell_file_name, read_cell, read_head
from tokbench.results.folder import RunFolder
from tokbench.runner.counting import tally_version
from tokbench.runner.plan import Cell, Plan
from tokbench.runner.recipe import digest_of
from tokbench.runner.subjects import Subject
from tokbench.tally import Tally


def make_cells(plan: Plan, subjects: Sequence[Subject]) -> list[Cell]:
    """The cells of every tokenizer that is ready, in the order of the suite.

    A cell's identity rests on what the plan saw of each shard (size and time of its source), so that deciding
    whether a cell on disk still stands does not need reading the text.
    """
    version = tally_version()
    cells: list[Cell] = []
    for subject in subjects:
        if subject.recipe is None or not subject.ready:
            continue
        for corpus in plan.corpora:
            for language, shards in corpus.shards.items():
                key = CellKey(subject.entry.key, corpus.recipe.key, language)
                seen = [asdict(shard) for shard in shards]
                facts = str(corpus.facts(language))
                identity = digest_of(subject.recipe.fingerprint, seen, facts, version)
                cells.append(Cell(len(cells), key, subject.recipe, corpus.recipe, shards, identity))
    return cells


@dataclass(frozen=True, slots=True)
class Standing:
    """Which cells are on disk already and which are to be counted; the digests of the text of the former."""

    finished: list[Cell]
    todo: list[Cell]
    digests: dict[tuple[str, str], list[str]]


def look_through(folder: RunFolder, cells: Sequence[Cell]) -> Standing:
    """A cell is finished where its file has its identity and is no failure.

    Files of cells that are in no plan any more are removed.
    """
    standing = Standing([], [], {})
    known = {cell_file_name(cell.key) for cell in cells}
    if folder.cells.is_dir():
        for path in folder.cells.iterdir():
            if path.name not in known:
                path.unlink(missing_ok=True)
    for cell in cells:
        try:
            head = read_head(folder.cells / cell_file_name(cell.key))
            stands = head.key == cell.key and head.identity == cell.identity and not head.failed
        except ResultsError:
            stands = False
        (standing.finished if stands else standing.todo).append(cell)
        if stands:
            standing.digests[cell.key.dataset, cell.key.language] = list(head.digests)
    return standing


def without_text(tallies: Mapping[CellKey, Tally]) -> list[CellKey]:
    """The cells of datasets in which there is no document at all; of others a first one is read."""
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

    def __iter__(self) -> Iterator[CellKey]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
