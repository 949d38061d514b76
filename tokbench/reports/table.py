"""Tables as data, for every format: columns with unit and direction, cells with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import pandas as pd

from tokbench.plots.labels import run_labels
from tokbench.plots.losses import losses
from tokbench.reports.figures import decimals, interval, is_share, number, shown, typical
from tokbench.results import Run
from tokbench.wording import in_unit


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """One figure; if it was not measured, `value` is None and `why` says why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    @classmethod
    def of(cls, row: Any) -> TableCell:
        """The cell of a row of a run's tidy frame."""
        return cls.known(row.value, row.ci_low, row.ci_high, why=str(row.status))

    @classmethod
    def known(
        cls, value: float | None, low: float | None = None, high: float | None = None, *, why: str = ""
    ) -> TableCell:
        """The cell of figures from a frame, in which NaN means none; `why` says why there is no `value`.

        Example:
            >>> TableCell.known(0.5, float("nan")), TableCell.known(float("nan"), why="skipped").why
            (TableCell(value=0.5, low=None, high=None, why=''), 'skipped')
        """
        value, low, high = (
            None if each is None or each != each else float(each) for each in (value, low, high)
        )
        return cls(value=value, low=low, high=high, why=why if value is None else "")


class Cells(dict[Any, TableCell]):
    """Cells by key; a missing key gives a cell that was not measured."""

    @classmethod
    def of(cls, rows: pd.DataFrame, *keys: str) -> Cells:
        """The cells of a tidy frame's rows by the column `keys`, or by a tuple of several columns."""
        return cls({attrgetter(*keys)(row): TableCell.of(row) for row in rows.itertuples()})

    def __missing__(self, key: Any) -> TableCell:
        return TableCell(why="not measured")

    def values_of(self, of: str, names: Iterable[str]) -> dict[str, float]:
        """The measured figures of the cells ``(of, name)`` for each of `names`."""
        return {name: value for name in names if (value := self[of, name].value) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of text (`numeric=False`) or of figures; `better` is as in `tokbench.Metric`.

    Figures below `least` are shown as less than it. Figures are shown divided by `divisor`, by default one that
    suits the column (see `tokbench.wording.in_unit`).
    """

    key: str
    label: str
    unit: str = ""
    better: str = "none"
    numeric: bool = True
    help: str = ""
    places: int | None = None
    least: float | None = None
    divisor: float | None = None

    @classmethod
    def text(cls, key: str, label: str = "") -> Column:
        """A column of text; the default heading is its key."""
        return cls(key=key, label=label or key, numeric=False)

    @classmethod
    def count(cls, key: str, label: str = "") -> Column:
        """A column of whole numbers; the default heading is its key."""
        return cls(key=key, label=label or key, places=0)

    @property
    def scale(self) -> float:
        """The factor of values as shown: 100 for shares, which are shown as percentages."""
        return 100 if is_share(self.unit) else 1 / (self.divisor or 1)

    @property
    def shown_unit(self) -> str:
        """The unit as shown in the heading."""
        if is_share(self.unit):
            return "%" + self.unit.removeprefix("share")
        return in_unit(self.divisor or 1, self.unit)[1]

    @property
    def heading(self) -> str:
        """The label, and the unit in parentheses."""
        return f"{self.label} ({self.shown_unit})" if self.shown_unit else self.label


Content = str | TableCell


@dataclass(frozen=True)
class Row:
    """Cells in the order of the columns; `lossy` rows are marked if they are ranked.

    `places` and `divisor` are the decimal places and the divisor of the row's figures, for tables in which rows
    have a common unit, not columns; a column with its own places keeps them.
    """

    cells: tuple[Content, ...]
    lossy: str = ""
    key: str = ""
    places: int | None = None
    divisor: float = 1.0

    @classmethod
    def of(cls, *cells: Content | float, key: str = "", lossy: str = "") -> Row:
        """A row; figures without an interval may be given as numbers."""
        made = (cell if isinstance(cell, Content) else TableCell(value=cell) for cell in cells)
        return cls(tuple(made), lossy, key)


def tokenizer_rows(
    run: Run,
    cells: Mapping[str, Iterable[Content | float]],
    *,
    ranked: bool = True,
    marks: Mapping[str, str] | None = None,
) -> tuple[Row, ...]:
    """A row for each tokenizer by spec: its label with the further `marks`, then its `cells`.

    If the table is `ranked`, rows of tokenizers with losses are lossy.
    """
    labels, lost = run_labels(run), losses(run) if ranked else {}
    named = {name: f"{labels[name]} {(marks or {}).get(name, '')}".rstrip() for name in cells}
    return tuple(
        Row.of(named[name], *found, key=name, lossy=str(lost.get(name, ""))) for name, found in cells.items()
    )


class ShownCell(NamedTuple):
    """A cell as all formats show it: its text, interval (or empty), whether it is bold, and its content."""

    text: str
    ends: str
    best: bool
    content: Content
    column: Column

    @property
    def measured(self) -> bool:
        """Whether the cell has a figure."""
        return isinstance(self.content, TableCell) and self.content.value is not None


@dataclass(frozen=True)
class Table:
    """A titled table. `note` says what the marks mean; `best` are the (row, column) that are shown in bold.

    Example:
        >>> table = Table("t", "T", (Column(key="x", label="x", unit="share", better="higher"),),
        ...               (Row((TableCell(value=0.5),)), Row((TableCell(value=0.25),))))
        >>> table.text(0, 0)
        '50.0'
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        columns = (self._divided(index, column) for index, column in enumerate(self.columns))
        object.__setattr__(self, "columns", tuple(columns))

    def _divided(self, index: int, column: Column) -> Column:
        """The column with its divisor; columns with their own places are whole counts and have none."""
        if column.divisor is not None or column.places is not None or not column.unit or is_share(column.unit):
            return column
        size = typical(cell.value for cell in self._column(index))
        return replace(column, divisor=in_unit(size, column.unit)[0])

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Decimal places of each column."""
        return tuple(
            column.places
            if column.places is not None
            else decimals(cell.value and cell.value * column.scale for cell in self._column(index))
            for index, column in enumerate(self.columns)
        )

    @cached_property
    def shown(self) -> tuple[tuple[ShownCell, ...], ...]:
        """Every row, cell by cell."""
        return tuple(
            tuple(
                ShownCell(self.text(r, c), self.ends(r, c), (r, c) in self.best, content, self.columns[c])
                for c, content in enumerate(row.cells)
            )
            for r, row in enumerate(self.rows)
        )

    def text(self, row: int, column: int) -> str:
        """The cell as it is shown, without its interval."""
        cell = self.rows[row].cells[column]
        if isinstance(cell, str):
            return cell
        heading = self.columns[column]
        if heading.least is not None and cell.value is not None and cell.value < heading.least:
            return f"< {number(heading.least, self._places(row, column))}"
        whole = 100.0 if is_share(heading.unit) else math.inf
        scale = self._scale(row, column)
        return shown(None if cell.value is None else cell.value * scale, self._places(row, column), whole=whole)

    def ends(self, row: int, column: int) -> str:
        """The interval of the cell as shown, or an empty string."""
        cell, scale = self.rows[row].cells[column], self._scale(row, column)
        if isinstance(cell, str):
            return ""
        return interval(
            cell.low and cell.low * scale, cell.high and cell.high * scale, self._places(row, column)
        )

    def _scale(self, row: int, column: int) -> float:
        return self.columns[column].scale / self.rows[row].divisor

    def _places(self, row: int, column: int) -> int:
        places = self.rows[row].places
        if places is None or self.columns[column].places is not None:
            return self.places[column]
        return places

    def _column(self, index: int) -> Iterable[TableCell]:
        return (cell for row in self.rows if isinstance(cell := row.cells[index], TableCell))
