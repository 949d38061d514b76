"""Bits per byte of several runs of each tokenizer, and the range of ranks that the runs allow."""

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

    `rank` is None for a tokenizer that loses text, since it predicts less than the others. `tokens` counts
    those of the text read, without document ends; decoding does not restore `lost` of the documents.
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
    """A row for each task that has losses, best first; tokenizers that lose text come last."""
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
    """The best and worst possible rank of each: 1 + the number surely better; the number not surely worse.

    A tokenizer is surely better than another if each of its runs is better than each run of the other. If two
    do not differ, one seems surely better in 1 case of 10 with three runs each, in 1 of 126 with five.

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
    """Pairs in which neither tokenizer is surely better, see `ranks`.

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
    """The number of runs with the same order as the first run, and the number of all runs.

    Example:
        >>> same_order({"a": (1.0, 1.1, 1.3), "b": (1.2, 1.3, 1.1)})
        (2, 3)
    """
    runs = list(zip(*figures.values(), strict=True))
    orders = [sorted(range(len(run)), key=run.__getitem__) for run in runs]
    return sum(order == orders[0] for order in orders), len(orders)
