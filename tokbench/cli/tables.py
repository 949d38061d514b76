"""Tables for the terminal: names are folded or set as paragraphs, never cut off, so that they can be copied."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench import wording
from tokbench.wording import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

PIPE_WIDTH = 140
"""Columns where nothing says how many: a file or a pipe has no width to keep to."""

_READABLE = 24
"""Columns below which a cell of several words is set in too many lines to be read."""


def plain_console() -> Console:
    """A console that shows text as it is: whatever a tokenizer or a file name holds is no markup."""
    from rich.console import Console

    class Plain(Console):
        """Spells out control characters of every string, in cells of tables too: a name cannot draw."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    plain = Plain(markup=False, highlight=False, emoji=False)
    if not (plain.is_terminal or os.environ.get("COLUMNS")):
        plain.width = PIPE_WIDTH
    return plain


def show_table(
    headings: Sequence[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    right: Container[str] = (),
    whole: bool = False,
) -> None:
    """Print rows below headings, those in `right` of numbers; with `whole`, the first cell is never folded.

    Where the terminal is too narrow, headings of numbers are broken, then words folded. Where figures and
    words cannot stay whole even so, each row is a paragraph: its first cell, and below that every other cell
    behind its heading.
    """
    from rich.table import Table

    console, listed = plain_console(), [tuple(row) for row in rows]
    broken = [_broken(heading) if heading in right else heading for heading in headings]
    for heads in (headings, broken):
        columns = [[head, *map(_plain, cells)] for head, *cells in zip(heads, *listed, strict=True)]
        widths = [max(_width(line) for cell in cells for line in cell.split("\n")) for cells in columns]
        if (excess := sum(widths) + 2 * len(widths) - console.width) <= 0:
            break
    words = [max((_width(word) for cell in cells for word in cell.split()), default=0) for cells in columns]
    unbroken = [heading in right or (whole and not number) for number, heading in enumerate(headings)]
    least = [
        all_of_it if stays else max(word, min(all_of_it, _READABLE))
        for all_of_it, word, stays in zip(widths, words, unbroken, strict=True)
    ]
    for number in sorted(range(len(widths)), key=lambda each: least[each] - widths[each]):
        taken = max(0, min(excess, widths[number] - least[number]))
        widths[number], excess = widths[number] - taken, excess - taken
    if excess <= 0 or len(headings) == 1:
        table = Table(box=None, header_style="bold")
        for head, heading, width in zip(heads, headings, widths, strict=True):
            justify: Any = "right" if heading in right else "left"
            table.add_column(head, justify=justify, overflow="fold", width=width)
        for row in listed:
            table.add_row(*row)
        console.print(table)
        return
    for name, *others in listed:
        console.print(name, style="bold", overflow="fold")
        told = {heading: cell for heading, cell in zip(headings[1:], others, strict=True) if cell}
        console.print(_described(told, console.width))


def _broken(heading: str) -> str:
    """A heading over several lines: at its spaces, and in a long word behind a slash.

    Example:
        >>> _broken("mean bytes/token").splitlines()
        ['mean', 'bytes/', 'token']
    """
    return "\n".join(
        word if len(word) <= len("failed") else word.replace("/", "/\n") for word in heading.split()
    )


def _described(told: Mapping[str, str | Text], width: int) -> Padding:
    """What is known of one thing, behind its names where they have any, in a terminal of some width."""
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 1))
    if any(told):
        table.add_column(style="dim", overflow="fold", max_width=width // 3)
    table.add_column(overflow="fold")
    for name, cell in told.items():
        table.add_row(*((name, cell) if any(told) else (cell,)))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _plain(cell: str | Text) -> str:
    return printable(cell) if isinstance(cell, str) else cell.plain


def _width(text: str) -> int:
    """Columns of the terminal that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def interval(ends: tuple[float, float] | None, said: Callable[[float], str] = "{:.4f}".format) -> str:
    """The ends of an interval, each as it is `said`; empty where there is none."""
    return "" if ends is None else wording.interval(*ends, said)


def show_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Print some columns of the rows; the first is the name, kept whole."""
    show_table(columns, ([_cell(row[column]) for column in columns] for row in rows), whole=True)


def show_facts(title: str, facts: Mapping[str, object]) -> None:
    """Print one thing: its name, then what is known of it, a line each; what is empty is left out."""
    shown = plain_console()
    shown.print(title, style="bold")
    known = {name: _cell(value) for name, value in facts.items() if value not in (None, "", [])}
    shown.print(_described(known, shown.width))


def _cell(value: object) -> str:
    return printable("\n".join(map(str, value)) if isinstance(value, list) else str(value))
