"""Tables for the terminal: names are folded or set as paragraphs, never cut off, so that they can be copied."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench.wording import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_WIDTH = 140
"""Columns where nothing says how many: a file or a pipe has no width to keep to."""

_STACKED = 72
"""Below this many columns a table of several columns is unreadable; rows are then set as paragraphs."""


def plain_console() -> Console:
    """A console that shows text as it is: whatever a tokenizer or a file name holds is no markup."""
    from rich.console import Console
    from rich.text import Text

    class Plain(Console):
        """Spells out control characters of every string, in cells of tables too: a name cannot draw."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    plain = Plain(markup=False, highlight=False, emoji=False)
    if not (plain.is_terminal or os.environ.get("COLUMNS")):
        plain.width = PIPE_WIDTH
    return plain


def table_of(*columns: str, right: Container[str] = ()) -> Table:
    """An empty table with these headings, no frame; those in `right` are of numbers."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def interval(ends: tuple[float, float] | None, form: str = ".4f") -> str:
    """The ends of an interval, each in a format; empty where there is none."""
    return "" if ends is None else " to ".join(format(end, form) for end in ends)


def show_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Print some columns of the rows; the first is the name, kept whole; narrow terminals get paragraphs."""
    shown = plain_console()
    if shown.width < _STACKED:
        _show_paragraphs(shown, rows, columns)
        return
    table = table_of(*columns)
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    shown.print(table)


def _show_paragraphs(shown: Console, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    name, *others = columns
    for row in rows:
        shown.print(Text(_cell(row[name]), style="bold", overflow="fold"))
        for column in others:
            if text := _cell(row[column]):
                shown.print(Padding(Text(text, overflow="fold"), (0, 0, 0, 2)))


def show_facts(title: str, facts: Mapping[str, object]) -> None:
    """Print one thing: its name, then what is known of it, a line each; what is empty is left out."""
    from rich.table import Table

    shown = plain_console()
    shown.print(title, style="bold")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in (None, "", []):
            table.add_row(name, _cell(value))
    shown.print(table)


def _cell(value: object) -> str:
    return printable("\n".join(map(str, value)) if isinstance(value, list) else str(value))
