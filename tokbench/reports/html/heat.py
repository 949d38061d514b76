"""A heat map as a table: cells in nine shades, rows with their script and family."""

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
    """A table by language and the scale of its shades, which is logarithmic if values span a factor of five.

    `low` and `high` are the ends of the scale in `unit`; values beyond have the shade of the end.
    """

    table: Table
    languages: Mapping[str, Language | None]
    first: float
    last: float
    log: bool
    low: str
    high: str
    unit: str

    @classmethod
    def of(cls, table: Table, lossy: Container[str] = (), kind: str = "text") -> Heat:
        """Shade a table by its figures.

        Columns whose key is in `lossy` do not influence the scale if there are others.
        `kind` is that of the dataset.
        """
        every, column = _values(table, ()), table.columns[-1]
        values = _values(table, lossy) or every
        first, last = shaded(values) if values else (0.0, 1.0)
        log = first > 0 and last / first > 5
        low, high = (number(end * column.scale, decimals([end * column.scale])) for end in (first, last))
        return cls(
            table=table,
            languages={row.key: language_of(row.key, kind) for row in table.rows},
            first=first,
            last=last,
            log=log,
            low=f"≤ {low}" if min(every, default=first) < first else low,
            high=f"≥ {high}" if max(every, default=last) > last else high,
            unit=column.shown_unit + (" (log scale)" if log else ""),
        )

    def shade(self, value: float) -> int:
        """The step of a value, 0 to 8."""
        low, high, at = self.first, self.last, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, self.first))
        share = (at - low) / (high - low) if high > low else 0.5
        return round(min(1.0, max(0.0, share)) * (STEPS - 1))


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
