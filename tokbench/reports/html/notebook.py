"""A run in a notebook: the headline of each dataset as a plain table, without style sheet or script."""

from __future__ import annotations

from html import escape

from tokbench.reports.table import Table
from tokbench.reports.tables import headlines
from tokbench.results import Run


def notebook(run: Run) -> str:
    """The headline tables of a run as HTML; a sentence where nothing was measured yet."""
    head = f"<p><code>{escape(repr(run))}</code></p>"
    if not run.folder.measurements.is_file():
        return f"{head}<p>Nothing has been measured yet.</p>"
    return head + "".join(map(_table, headlines(run).values()))


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(column.heading)}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(_cell(table, row, column) for column in range(len(table.columns))) + "</tr>"
        for row in range(len(table.rows))
    )
    caption = f"<caption>{escape(table.title)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(table: Table, row: int, column: int) -> str:
    cell, text, ends = table.rows[row].cells[column], table.text(row, column), table.ends(row, column)
    if isinstance(cell, str):
        return f"<th>{escape(text)}</th>"
    why = f' title="{escape(cell.why)}"' if cell.value is None else ""
    return f"<td{why}>{text}{f' <small>{ends}</small>' if ends else ''}</td>"
