"""Tokens on a terminal: coloured, white space marked, multi-byte characters whole.

Colours alternate so that neighbours differ; without colour (a pipe, NO_COLOR) a bar stands between tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokbench.inspection.pieces import Group, TextPiece, groups, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Readable on light and dark grounds alike: black on four pale grounds.
GROUNDS = ("black on #a8d5ff", "black on #ffd59e", "black on #b8e6b0", "black on #f3c1e8")
UNKNOWN, SPECIAL, EMPTY = "bold white on #b00020", "bold white on #5b3fa8", "dim"
SEPARATOR = "|"


def render(found: Sequence[TextPiece], *, color: bool) -> Text:
    """The tokens as one line of styled text; a character of several tokens is followed by their number."""
    from rich.text import Text

    line = Text(no_wrap=False, overflow="fold")
    for number, group in enumerate(groups(found)):
        if number and not color:
            line.append(SEPARATOR)
        line.append(label(group), style=_style(group, number) if color else "")
    return line


def label(group: Group) -> str:
    """The text of a group: its characters, and the number of its tokens if there are several."""
    shown = visible(group.text) or "∅"
    return shown if len(group.pieces) == 1 else shown + str(len(group.pieces)).translate(_SUBSCRIPTS)


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _style(group: Group, number: int) -> str:
    kinds = {piece.kind for piece in group.pieces}
    if "unknown" in kinds:
        return UNKNOWN
    if "special" in kinds:
        return SPECIAL
    if not group.text:
        return EMPTY
    return GROUNDS[number % len(GROUNDS)]


def colored(console: Console) -> bool:
    """Whether the console shows colour."""
    return console.is_terminal and not console.no_color
