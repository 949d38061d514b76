"""Where an axis ends when a tokenizer that loses text is far beyond the others.

A tokenizer that drops most of a text may come to ten times the bytes per token of all others; an axis that
reached it would squeeze what can be compared into a corner. Such figures are drawn at the edge, with their
value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tokbench.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

FAR = 1.4
"""How many times the greatest comparable figure another may be before the axis leaves it out."""


def reach(sound: Iterable[float], lossy: Iterable[float]) -> float | None:
    """The figure an axis ends at, a little beyond the last one it holds; None where nothing is left out.

    Example:
        >>> reach([1.0, 4.0], [5.0, 11.0]), reach([1.0, 4.0], [5.0])
        (5.25, None)
    """
    sound, lossy = list(sound), list(lossy)
    if not sound or max(lossy, default=0.0) <= FAR * max(sound):
        return None
    return 1.05 * max([*sound, *(value for value in lossy if value <= FAR * max(sound))])


def beyond(axes: Axes, value: float, row: float, end: float) -> Line2D:
    """An arrow at the right edge of a row, which is returned, and the value it points to."""
    size = style.size().type
    (arrow,) = axes.plot([end], [row], ">", color=style.WARN, mfc=style.PAPER, mew=1.2, clip_on=False, zorder=3)
    axes.annotate(f"{value:.1f}", (end, row), xytext=(-size * 0.7, 0), textcoords="offset points", ha="right",
                  va="center", color=style.WARN, fontsize=size - 1)  # fmt: skip
    return arrow
