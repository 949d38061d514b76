"""Counters that a metric brings: what its `count` gives for each document, summed as built-in counters are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokbench.batch import TokenBatch
from tokbench.errors import described
from tokbench.tally.counters import GROUPS
from tokbench.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints
    from tokbench.tally.text import TextBatch

PARAMETERS = ("texts", "batch", "tokenizer", "language", "options")
"""What `count` may ask for: it is given those of these that it has parameters for."""


@dataclass(frozen=True, slots=True)
class OwnCounting:
    """How a metric counts: its name in full, its counters, its `count`, and every option with its value."""

    name: str
    counters: tuple[str, ...]
    count: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class OwnSums:
    """Sums of own counters over each bootstrap group, and what went wrong with some.

    `sums` holds int64 ``(GROUPS,)`` by ``metric.counter``; `faults` says by metric why it has no counts.
    """

    sums: Mapping[str, Ints] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def sum(cls, parts: Iterable[OwnSums]) -> OwnSums:
        """All of `parts` together; a metric that failed in one of them failed."""
        sums: dict[str, Ints] = {}
        faults: dict[str, str] = {}
        for part in parts:
            for name, own in part.sums.items():
                sums[name] = sums[name] + own if name in sums else own
            for name, why in part.faults.items():
                faults[name] = min(why, faults.get(name, why))  # the same in whatever order
        return cls(dict(sorted(sums.items())), dict(sorted(faults.items())))

    def totals(self) -> dict[str, int]:
        """Every counter's sum over all groups."""
        return {name: int(own.sum()) for name, own in self.sums.items()}


class OwnCounter:
    """Counts for one metric, batch by batch; what its `count` does wrong ends its counting and nothing else."""

    def __init__(self, counting: OwnCounting, tokenizer: Tokenizer, language: str) -> None:
        import numpy as np

        self._counting = counting
        self._wanted = inspect.signature(counting.count).parameters
        known = {"tokenizer": tokenizer, "language": language, "options": counting.options}
        self._given = {name: value for name, value in known.items() if name in self._wanted}
        self._sums = {name: np.zeros(GROUPS, np.int64) for name in counting.counters}
        self._fault = ""

    def add(self, batch: TextBatch, tokens: TokenBatch) -> None:
        """Count a batch of documents and the tokens made of them."""
        import numpy as np

        if self._fault:
            return
        copies = {"texts": lambda: list(batch.texts), "batch": tokens.copy}  # which `count` may change
        given = {name: copied() for name, copied in copies.items() if name in self._wanted}
        try:
            found = self._counting.count(**given, **self._given)
            for name, values in self._checked(found, len(batch)).items():
                np.add.at(self._sums[name], batch.groups, values)
        except (Exception, SystemExit) as error:  # a plugin's code may do anything; the built-in counts go on
            self._fault = f"count: {described(error)}"

    def result(self) -> OwnSums:
        """The sums, or why there are none."""
        name = self._counting.name
        if self._fault:
            return OwnSums(faults={name: self._fault})
        return OwnSums({f"{name}.{counter}": own for counter, own in self._sums.items()})

    def _checked(self, found: Any, n: int) -> dict[str, Ints]:
        """What `count` returned, as int64 ``(n,)`` by counter; raises `ValueError` for anything else."""
        import numpy as np

        names = self._counting.counters
        if not isinstance(found, Mapping):
            if len(names) > 1:
                raise ValueError(f"returned {type(found).__name__}; return a mapping with {', '.join(names)}")
            found = {names[0]: found}
        if set(found) != set(names):
            raise ValueError(f"returned {', '.join(map(str, found))}; its counters are {', '.join(names)}")
        checked: dict[str, Ints] = {}
        for name, values in found.items():
            counts = np.asarray(values)
            if counts.shape != (n,):
                given = "None" if values is None else f"{counts.shape} numbers"
                raise ValueError(f"{name}: {given} for {n} documents; return one for each")
            if counts.dtype.kind not in "iub" and n:
                raise ValueError(f"{name}: {counts.dtype} numbers; counts are whole numbers")
            if (counts < 0).any():
                raise ValueError(f"{name}: {counts.min()}; counts are 0 or more")
            checked[name] = counts.astype(np.int64)
        return checked


def problem_of(count: Callable[..., Any]) -> str | None:
    """What is wrong with the parameters of a `count`, or None.

    Example:
        >>> problem_of(lambda texts, tokens: [])
        "count has a parameter 'tokens'; it may have texts, batch, tokenizer, language, options"
    """
    names: Sequence[str] = [*inspect.signature(count).parameters]
    strange = next((name for name in names if name not in PARAMETERS), None)
    may = ", ".join(PARAMETERS)
    return None if strange is None else f"count has a parameter {strange!r}; it may have {may}"
