"""The units of work that engines carry: one tokenizer counts some pieces of text, or is looked at by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Shard
from tokbench.results.cell import Failure
from tokbench.runner.cache import TallyCache
from tokbench.runner.limits import Limits
from tokbench.runner.recipe import DatasetRecipe, Recipe

if TYPE_CHECKING:
    from tokbench.metrics.morphology import MorphCounts


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
class CountTask:
    """Pieces to be counted with one tokenizer, in one worker.

    `counting` are the metrics with counters of their own: the spec of each, and a digest of its plugin's code.
    """

    recipe: Recipe
    pieces: tuple[Piece, ...]
    cache: TallyCache | None
    limits: Limits
    counting: tuple[tuple[str, str], ...] = ()

    def without(self, done: Sequence[Outcome]) -> tuple[Piece, ...]:
        """The pieces that have no outcome yet."""
        finished = {(outcome.cell, outcome.part) for outcome in done}
        return tuple(piece for piece in self.pieces if (piece.cell, piece.part) not in finished)


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


@dataclass(frozen=True, slots=True)
class AuditTask:
    """One tokenizer by itself: its vocabulary to be audited (or not), its cuts of gold words to be scored.

    `gold` maps a language to the path and the format of its gold words.
    """

    recipe: Recipe
    audit: bool
    gold: Mapping[str, tuple[str, str]]
    cache: TallyCache | None
    limits: Limits


@dataclass(frozen=True, slots=True)
class Audited:
    """What was found of one tokenizer by itself: its audit as JSON has it, morphology by language."""

    audit: dict[str, Any] | None
    morphology: dict[str, MorphCounts]
