"""The unit of work: one tokenizer, some pieces of text, and what comes back for each piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.corpus import Shard
from tokbench.metrics.metric import CellKey
from tokbench.results.cell import Failure
from tokbench.runner.cache import TallyCache
from tokbench.runner.limits import Limits
from tokbench.runner.recipe import DatasetRecipe, Recipe


@dataclass(frozen=True, slots=True)
class Piece:
    """Some shards of one cell: the whole of a small language, or a part of a large one.

    `cell` numbers the cell in the plan, `part` the piece in its cell.
    """

    cell: int
    part: int
    dataset: DatasetRecipe
    language: str
    shards: tuple[Shard, ...]

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for shard in self.shards)


@dataclass(frozen=True, slots=True)
class Task:
    """Pieces to be counted with one tokenizer, in one worker."""

    recipe: Recipe
    pieces: tuple[Piece, ...]
    cache: TallyCache | None
    limits: Limits

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(piece.n_bytes for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one piece: the bytes of its tally and its shards' digests, or why there is none.

    `seconds` is the time of counting, `cached` how many of the shards were known already.
    """

    cell: int
    part: int
    tally: bytes | None = None
    digests: tuple[str, ...] = ()
    seconds: float = 0.0
    cached: int = 0
    failure: Failure | None = None


def key_of(task: Task, piece: Piece) -> CellKey:
    """The key of the cell that a piece belongs to."""
    return CellKey(task.recipe.key, piece.dataset.key, piece.language)


def without(task: Task, done: Sequence[Outcome]) -> tuple[Piece, ...]:
    """The pieces of a task that have no outcome yet."""
    finished = {(outcome.cell, outcome.part) for outcome in done}
    return tuple(piece for piece in task.pieces if (piece.cell, piece.part) not in finished)
