"""A heat map as a table: cells shaded in nine steps, rows that know their script and family."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass

from tokbench.languages import Language
from tokbench.plots.data import shaded
from tokbench.plots.labels import language_of
from tokbench.reports.figures import decimals, number
from tokbench.reports.table import Table, TableCell

STEPS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """A table by language and the scale its cells are shaded on; log where values span a factor of five."""

    table: Table
    languages: Mapping[str, Language | None]
    first: float
    last: float
    log: bool

    @classmethod
    def of(cls, table: Table, lossy: Container[str] = (), kind: str = "text") -> Heat:
        """Shade a table by its figures.

        Columns whose key is in `lossy` are shaded on the scale that the others set, where there are others.
        `kind` is that of the dataset.
        """
        values = _values(table, lossy) or _values(table, ())
        first, last = shaded(values) if values else (0.0, 1.0)
        log = first > 0 and last / first > 5
        languages = {row.key: language_of(row.key, kind) for row in table.rows}
        return cls(table=table, languages=languages, first=first, last=last, log=log)

    def shade(self, value: float) -> int:
        """The step of a value, 0 to 8."""
        low, high, at = self.first, self.last, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, self.first))
        share = (at - low) / (high - low) if high > low else 0.5
        return round(min(1.0, max(0.0, share)) * (STEPS - 1))

    @property
    def low(self) -> str:
        """The lower end of the scale, as shown; values below it have its shade."""
        beyond = any(value < self.first for value in _values(self.table, ()))
        return ("≤ " if beyond else "") + self._end(self.first)

    @property
    def high(self) -> str:
        """The upper end of the scale, as shown; values above it have its shade."""
        beyond = any(value > self.last for value in _values(self.table, ()))
        return ("≥ " if beyond else "") + self._end(self.last)

    @property
    def unit(self) -> str:
        """The unit of the scale."""
        return self.table.columns[-1].shown_unit + (" (log scale)" if self.log else "")

    def _end(self, value: float) -> str:
        scale = self.table.columns[-1].scale
        return number(value * scale, decimals([value * scale]))


def _values(table: Table, without: Container[str]) -> list[float]:
    """The finite values of a table, without some columns."""
    return [
        cell.value
        for row in table.rows
        for cell, column in zip(row.cells, table.columns, strict=True)
        if isinstance(cell, TableCell)
        and cell.value is not None
        and math.isfinite(cell.value)
        and column.key not in without
    ]
