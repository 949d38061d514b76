"""Bits per byte of several runs of each tokenizer, and the ranks that the runs leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from tokbench_probe.shape import Shape
from tokbench_probe.shelter import ProbeTask
from tokbench_probe.streams import ProbeTexts

if TYPE_CHECKING:
    from tokbench_probe.shelter import Nats


@dataclass(frozen=True, slots=True)
class RankRow:
    """A tokenizer: bits per byte of each run, and its rank from best to worst possible.

    `rank` is None for one that loses text, which predicts less than the others. `tokens` are those of the text
    read, without ends; `lost` documents are not given back by decoding.
    """

    tokenizer: str
    runs: tuple[float, ...]
    shape: Shape
    operations_per_byte: float
    tokens: int
    lost: int
    rank: tuple[int, int] | None = None

    @property
    def bits_per_byte(self) -> float:
        """The mean of the runs."""
        return sum(self.runs) / len(self.runs)


def rows_of(
    tasks: Mapping[str, ProbeTask], found: Mapping[str, Nats | str], texts: ProbeTexts
) -> list[RankRow]:
    """A row for each task that has losses, best first; those that lose text come last."""
    rows = []
    for name, task in tasks.items():
        nats, own, shape = found[name], task.streams, task.shape
        if isinstance(nats, str):
            continue
        runs = tuple(float(own.bits(each).sum()) / texts.read_bytes for each in nats)
        operations = shape.operations * (len(own.train) - 1) / texts.train_bytes
        rows.append(RankRow(name, runs, shape, operations, len(own.read) - 1 - len(own.ends), own.lost))
    ranked = ranks(sound(rows))
    return sorted(
        (replace(row, rank=ranked.get(row.tokenizer)) for row in rows),
        key=lambda row: (row.lost > 0, row.bits_per_byte),
    )


def sound(rows: Sequence[RankRow]) -> dict[str, tuple[float, ...]]:
    """The runs of the tokenizers that lose no text."""
    return {row.tokenizer: row.runs for row in rows if not row.lost}


def ranks(figures: Mapping[str, Sequence[float]]) -> dict[str, tuple[int, int]]:
    """From one more than the tokenizers surely better to the number of those not surely worse.

    One is surely better than another where each of its runs is better than each of the other's: of two that do
    not differ, that is so of one or the other in 1 case of 10 with three runs each, in 1 of 126 with five.

    Example:
        >>> ranks({"a": (1.0, 1.1, 1.2), "b": (1.2, 1.3, 1.1), "c": (2.0, 2.1, 2.0)})
        {'a': (1, 2), 'b': (1, 2), 'c': (3, 3)}
    """
    found = {}
    for name, own in figures.items():
        others = [each for other, each in figures.items() if other != name]
        better = sum(max(each) < min(own) for each in others)
        worse = sum(min(each) > max(own) for each in others)
        found[name] = (1 + better, len(figures) - worse)
    return found


def not_told_apart(figures: Mapping[str, Sequence[float]]) -> list[tuple[str, str]]:
    """Pairs of which neither is surely better, see `ranks`.

    Example:
        >>> not_told_apart({"a": (1.0, 1.1, 1.2), "b": (1.2, 1.3, 1.1), "c": (2.0, 2.1, 2.0)})
        [('a', 'b')]
    """
    return [
        (one, other)
        for one, other in combinations(figures, 2)
        if max(figures[one]) >= min(figures[other]) and max(figures[other]) >= min(figures[one])
    ]


def same_order(figures: Mapping[str, Sequence[float]]) -> tuple[int, int]:
    """In how many runs the order is that of the first, and of how many runs.

    Example:
        >>> same_order({"a": (1.0, 1.1, 1.3), "b": (1.2, 1.3, 1.1)})
        (2, 3)
    """
    runs = list(zip(*figures.values(), strict=True))
    orders = [sorted(range(len(run)), key=run.__getitem__) for run in runs]
    return sum(order == orders[0] for order in orders), len(orders)
