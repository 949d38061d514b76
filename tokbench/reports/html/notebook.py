"""A run in a notebook: the headline of each dataset as a plain table, without style sheet or script."""

from __future__ import annotations

from html import escape

from tokbench.reports.table import ShownCell, Table
from tokbench.reports.tables import headlines
from tokbench.results import Run


def notebook(run: Run) -> str:
    """The headline tables of a run as HTML; or a sentence if the run is not finished."""
    head = f"<p><code>{escape(repr(run))}</code></p>"
    if not run.finished:
        return f"{head}<p>It is not finished: the same command completes it.</p>"
    return head + "".join(map(_table, headlines(run).values()))


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(column.heading)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.shown)
    caption = f"<caption>{escape(table.title)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: ShownCell) -> str:
    if isinstance(cell.content, str):
        return f"<th>{escape(cell.text)}</th>"
    why = "" if cell.measured else f' title="{escape(cell.content.why)}"'
    return f"<td{why}>{cell.text}{f' <small>{cell.ends}</small>' if cell.ends else ''}</td>"
