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
"""How text begins that spreadsheets run, or a terminal obeys."""


def write_csv(run: Run, path: Path) -> None:
    """Write the tidy frame as CSV (UTF-8, shortest text of each float)."""
    _write_csv(run.frame, path)


def write_spreadsheet(run: Run, path: Path) -> None:
    """Write the tidy frame as CSV for spreadsheets: text that one would run as a formula begins with ``'``.

    Names of tokenizers and files are other people's, and ``=HYPERLINK(…)`` in a cell is run when it is opened.
    For data that is read back, `write_csv` and `write_parquet` keep every name as it is.
    """
    _write_csv(_plain(run.frame, _FORMULA), path)


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    with replacing(path) as aside:
        frame.to_csv(aside, index=False, encoding="utf-8", errors="backslashreplace", lineterminator="\n")


def write_json(run: Run, path: Path) -> None:
    """Write manifest and measurements as one JSON document; null where nothing was measured."""
    rows = json.loads(run.frame.to_json(orient="records", double_precision=15))
    document = {"manifest": dict(run.manifest), "measurements": rows}
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False))


def write_parquet(run: Run, path: Path) -> None:
    """Write the tidy frame as Parquet."""
    with replacing(path) as aside:
        run.frame.to_parquet(aside, index=False)


def write_xlsx(run: Run, path: Path) -> None:
    """Write an Excel workbook: a sheet a headline table, and every measurement; needs `openpyxl`."""
    if importlib.util.find_spec("openpyxl") is None:
        raise TokbenchError("Excel files need openpyxl: pip install 'tokbench[excel]'")
    with replacing(path) as aside, pd.ExcelWriter(aside, engine="openpyxl") as book:
        for number, table in enumerate(headlines(run).values(), 1):
            rows = [[cell if isinstance(cell, str) else cell.value for cell in row.cells] for row in table.rows]
            frame = pd.DataFrame(rows, columns=[column.label for column in table.columns])
            _plain(frame).to_excel(book, sheet_name=f"headline {number}", index=False)
        _plain(run.frame).to_excel(book, sheet_name="measurements", index=False)


def _plain(frame: pd.DataFrame, formula: tuple[str, ...] = ("=",)) -> pd.DataFrame:
    """Text that spreadsheets take for text: no control characters, nothing that begins as a `formula` does."""

    def clean(value: object) -> object:
        if not isinstance(value, str):
            return value
        if value.startswith(formula):
            value = "'" + value
        return in_xml(value)

    return frame.map(clean)
