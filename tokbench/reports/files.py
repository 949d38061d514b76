"""The measurements as data: CSV, JSON, Parquet and Excel, each read back by pandas with the same types."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pandas as pd

from tokbench.errors import TokbenchError
from tokbench.reports.tables import headlines
from tokbench.results import Run
from tokbench.results.atomic import replacing, write_text
from tokbench.wording import in_xml

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\x1b")
"""First characters of text that a spreadsheet may run as a formula, or a terminal as a command."""


def write_csv(run: Run, path: Path) -> None:
    """Write the tidy frame as CSV (UTF-8, shortest text of each float)."""
    _write_csv(run.frame, path)


def write_spreadsheet(run: Run, path: Path) -> None:
    """Write the tidy frame as CSV for spreadsheets: text that would be run as a formula gets a ``'`` before it.

    Names of tokenizers and files come from other people, and a spreadsheet runs ``=HYPERLINK(…)`` when it opens
    a file. `write_csv` and `write_parquet` keep every name as it is.
    """
    _write_csv(_plain(run.frame, _FORMULA), path)


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    with replacing(path) as aside:
        frame.to_csv(aside, index=False, encoding="utf-8", errors="backslashreplace", lineterminator="\n")


def write_json(run: Run, path: Path) -> None:
    """Write manifest and measurements as one JSON document, with null for what was not measured."""
    rows = json.loads(run.frame.to_json(orient="records", double_precision=15))
    document = {"manifest": dict(run.manifest), "measurements": rows}
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False))


def write_parquet(run: Run, path: Path) -> None:
    """Write the tidy frame as Parquet."""
    with replacing(path) as aside:
        run.frame.to_parquet(aside, index=False)


def write_xlsx(run: Run, path: Path) -> None:
    """Write an Excel workbook: a sheet for each headline table, and all measurements; needs `openpyxl`."""
    if importlib.util.find_spec("openpyxl") is None:
        raise TokbenchError("Excel files need openpyxl: pip install 'tokbench[excel]'")
    with replacing(path) as aside, pd.ExcelWriter(aside, engine="openpyxl") as book:
        for number, table in enumerate(headlines(run).values(), 1):
            rows = [[cell if isinstance(cell, str) else cell.value for cell in row.cells] for row in table.rows]
            frame = pd.DataFrame(rows, columns=[column.label for column in table.columns])
            _plain(frame).to_excel(book, sheet_name=f"headline {number}", index=False)
        _plain(run.frame).to_excel(book, sheet_name="measurements", index=False)


def _plain(frame: pd.DataFrame, formula: tuple[str, ...] = ("=",)) -> pd.DataFrame:
    """The frame with text that is safe in spreadsheets: without control characters and `formula` beginnings."""

    def clean(value: object) -> object:
        if not isinstance(value, str):
            return value
        if value.startswith(formula):
            value = "'" + value
        return in_xml(value)

    return frame.map(clean)
