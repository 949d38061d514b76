"""Fairness between languages: what each costs for the same text, by tokenizer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tokbench.extension import Plot
from tokbench.plots import data, style
from tokbench.plots.captions import absent, hollow
from tokbench.plots.fitting import row_chart
from tokbench.plots.labels import dataset_label, printable, run_labels
from tokbench.plots.losses import colors, fairest_first, losses
from tokbench.results import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNIT = "× the reference language"


def draw(run: Run) -> Figure | None:
    """Each language's premium as a tick, the median as a dot, the most expensive named; least spread first."""
    dataset = data.main_dataset(run)
    table = data.by_language(run, "premium", dataset)
    if table.empty:
        return None
    order = fairest_first(run, dataset)
    labels = run_labels(run)
    known = data.intervals(run, "premium", dataset)
    rows = {name: labels[name] for name in order}
    figure, [axes] = row_chart(rows, [dataset_label(run, dataset)], beside=9)
    for y, name in enumerate(order):
        ends = {language: known[language, name] for language in table.index if (language, name) in known}
        lossy = name in losses(run)
        hue = style.WARN if lossy else colors(run).get(name, style.ACCENT)
        _row(axes, name, table[name].dropna(), ends, y, hue=hue, hollow=lossy)
    axes.axvline(1, color=style.MUTED, lw=0.8, zorder=0)
    highest = max([float(table.max().max()), *(high for _, high in known.values())])
    lowest = min([float(table.min().min()), *(low for low, _ in known.values())])
    _scale(axes, lowest, highest)
    narrow = style.size().narrow
    axes.set_xlabel(("tokens" if narrow else "tokens for the same text") + ", × the reference language")
    shades = f"shades and the bar of the most expensive: {run.level} intervals; " if known else ""
    style.caption(
        figure,
        f"Ticks: single languages; {shades}dot: the median; the most expensive is named. 1× is parity.",
        hollow(run, order),
        absent(run, order),
    )
    return figure


def _row(
    axes: Axes,
    tokenizer: str,
    premiums: pd.Series,
    ends: Mapping[str, tuple[float, float]],
    y: int,
    *,
    hue: str,
    hollow: bool,
) -> None:
    size = style.size().type
    axes.plot([premiums.min(), premiums.max()], [y, y], color=style.FAINT, lw=1, zorder=1)
    axes.broken_barh(_joined(ends.values()), (y - 0.27, 0.54), color=style.FAINT, alpha=0.6, lw=0, zorder=0.9)
    style.ticks(axes, dict(premiums), y, colour=style.MUTED, told=(tokenizer, UNIT))
    middle, highest = float(premiums.median()), float(premiums.max())
    style.dot(axes, middle, y, (tokenizer, f"median {style.value_text(middle, UNIT)}"), hue=hue, hollow=hollow)
    costliest = str(premiums.idxmax())
    low, high = ends.get(costliest, (highest, highest))
    said = f"{costliest} {style.value_text(highest, UNIT, low, high)}"
    style.bar(axes, low, high, y, (tokenizer, said), hue=hue)
    axes.annotate(printable(costliest), (high, y), xytext=(size * 0.6, 0), textcoords="offset points",
                  va="center", color=style.MUTED, fontsize=size - 1, bbox=style.CLEARED)  # fmt: skip


def _joined(ends: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of the intervals as (start, width), so that overlaps are not shaded twice.

    Example:
        >>> _joined([(4, 5), (1, 2), (1.5, 3)])
        [(1, 2), (4, 1)]
    """
    found: list[tuple[float, float]] = []
    for low, high in sorted(ends):
        if found and low <= sum(found[-1]):
            low, width = found.pop()
            high = max(high, low + width)
        found.append((low, high - low))
    return found


def _scale(axes: Axes, low: float, high: float) -> None:
    """A logarithmic axis with plain numbers: twice the cost is as far from parity as half."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlim(min(low, 1) / 1.05, max(high, 1.1) * (1.6 if high > 3 else 1.3))
    ticks = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32]
    left, right = axes.get_xlim()
    apart = (right / left) ** (3.2 * style.size().type / (style.size().width * 72 * 0.55))
    kept: list[float] = [1]  # parity is always marked
    for tick in sorted(ticks, key=lambda tick: abs(math.log(tick))):
        near = min(max(tick / other, other / tick) for other in kept)
        if left <= tick <= high * 1.1 and near >= apart:
            kept.append(tick)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))


PLOTS = (
    Plot(
        name="fairness",
        title="What languages pay for the same text",
        summary="Spread of premium over languages, by tokenizer.",
        draw=draw,
        needs="premium (a parallel dataset)",
    ),
)
