"""Reports: a run written as a page, a text, tables or data. `WRITERS` is what tokbench offers.

Each writer takes a run and a path. Importing this is light: a format's module is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tokbench.extension import ReportWriter
from tokbench.results import Run


def _writer(name: str, suffix: str, summary: str, where: str, *, decides: bool = False) -> ReportWriter:
    """A writer whose module is imported at its first use."""
    module, _, function = where.partition(":")

    def write(run: Run, path: Path) -> None:
        getattr(import_module(f"tokbench.reports.{module}"), function)(run, path)

    return ReportWriter(name=name, suffix=suffix, summary=summary, write=write, decides=decides)


WRITERS: tuple[ReportWriter, ...] = (
    _writer(
        "html",
        ".html",
        "One self-contained page: tables, figures, token views.",
        "html.page:write",
        decides=True,
    ),
    _writer("md", ".md", "Markdown with every table.", "markdown:write", decides=True),
    _writer("latex", ".tex", "Tables for a paper: booktabs and siunitx.", "latex:write"),
    _writer("card", ".card.md", "A summary in the form of a Hugging Face dataset card.", "card:write"),
    _writer("csv", ".csv", "The measurements, one row each.", "files:write_csv"),
    _writer(
        "spreadsheet", ".sheet.csv", "CSV that no spreadsheet runs as formulas.", "files:write_spreadsheet"
    ),
    _writer("json", ".json", "Manifest and measurements.", "files:write_json"),
    _writer("parquet", ".parquet", "The measurements, typed.", "files:write_parquet"),
    _writer("xlsx", ".xlsx", "An Excel workbook (needs openpyxl).", "files:write_xlsx"),
)
