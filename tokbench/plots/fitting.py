"""Fits names into the space they have: cut, or in lines, above a figure or beside its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tokbench.plots import style
from tokbench.plots.losses import mark_of
from tokbench.plots.widths import text_width, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOLD = 0.8
"""The share of the space that titles may fill: they are bold, so wider than measured."""


def cut(label: str, room: int) -> str:
    """`label` in at most `room` characters; a loss mark at its end is never cut off.

    Example:
        >>> cut("transformers wordpiece 8k †", 20)
        'transformers word… †'
    """
    if len(label) <= room:
        return label
    mark = label[-2:] if mark_of(label) else ""
    return label[: max(room - 1 - len(mark), 1)] + "…" + mark


def fitting(label: str, width: float, points: float) -> str:
    """`label` in type of so many points, cut to at most `width` points (see `cut`)."""
    room = len(label)
    while room > 1 and text_width(cut(label, room), points) > width:
        room -= 1
    return cut(label, room)


def fitting_apart(labels: Iterable[str], width: float, points: float) -> dict[str, str]:
    """Each label as `fitting` cuts it; labels that would become equal keep their ends instead.

    Example:
        >>> names = ["wordpiece bert-base-cased", "wordpiece bert-base-uncased"]
        >>> one, other = fitting_apart(names, 60, 8).values()
        >>> one[:5], one != other
        ('word…', True)
    """
    found = {label: fitting(label, width, points) for label in labels}
    alike = Counter(found.values())

    def shown(label: str) -> str:
        if alike[found[label]] == 1:
            return found[label]
        marked = label[-2:] if mark_of(label) else ""
        start, rest = label[:4], label[4 : len(label) - len(marked)]
        while rest and text_width(f"{start}…{rest}{marked}", points) > width:
            rest = rest[1:]
        return f"{start}…{rest}{marked}"

    return {label: shown(label) for label in found}


def in_lines(label: str, width: float, points: float, most: int) -> str:
    """`label` in type of so many points, in at most `most` lines of `width` points, cut if it needs more."""
    lines = wrapped(label, width, points).split("\n")
    if len(lines) > most:
        lines[most - 1 :] = [fitting(f"{lines[most - 1]}…", width, points)]
    return "\n".join(lines)


def heading(title: str) -> str:
    """The title of a whole figure, in lines that fit its width."""
    return in_lines(title, _BOLD * style.size().width * 72, style.size().type + 0.5, 3)


def row_label(label: str) -> str:
    """A label beside a row, cut so that the row keeps half of the width."""
    return fitting(label, style.size().width * 72 * 0.5, style.size().type - 0.5)


def row_chart(labels: Mapping[str, str], titles: Sequence[str], *, beside: float) -> tuple[Figure, list[Axes]]:
    """A figure with a row for each tokenizer, by spec from the top, and a panel for each title, side by side.

    `beside` is the number of lines of type above and below the rows, with titles of one line. Titles stay
    within their panel, to the right of the labels.
    """
    named, small = {spec: row_label(label) for spec, label in labels.items()}, style.size().type
    left = max(text_width(label, small) for label in named.values())
    room = (style.size().width * 72 - left) / len(titles)
    headings = [in_lines(title, _BOLD * room, small, 3) for title in titles]
    lines = beside + max(title.count("\n") for title in headings)
    height = len(labels) * style.row_height() + style.lines(lines)
    figure, axes = style.figure(height, columns=len(titles), sharey=True, squeeze=False)
    for panel, title in zip(axes[0], headings, strict=True):
        panel.set_title(title)
        style.grid(panel)
    first = axes[0][0]
    first.set_yticks(range(len(labels)), [*named.values()])
    first.set_ylim(len(labels) - 0.4, -0.6)
    for tick, (spec, label) in zip(first.get_yticklabels(), labels.items(), strict=True):
        style.tell(tick, spec, label)
    return figure, list(axes[0])
