"""A plot drawn for a test, and what of it is clipped or lies over something else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tokbench.extension import Plot
from tokbench.plots import PLOTS, style


def check(plot: Plot, run: Any, size: str) -> None:
    """Draw a plot, and fail where a text sticks out or a label lies over another."""
    with style.house_style(size):
        figure = plot.draw(run)
        if figure is None:
            assert plot.needs
            return
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        for dpi in (200, 100):  # as `save` writes it, and on a screen
            figure.set_dpi(dpi)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            renderer = canvas.get_renderer()
            page = figure.bbox
            for text in texts(figure):
                box = text.get_window_extent(renderer)
                outside = max(page.x0 - box.x0, box.x1 - page.x1, page.y0 - box.y0, box.y1 - page.y1)
                assert outside <= 1.5, f"{text.get_text()!r} sticks out by {outside:.0f} pixels at {dpi} dpi"
        for axis in axes_of(figure):
            labels = [label for label in tick_labels(axis) if label.get_text()]
            boxes = [label.get_window_extent(renderer) for label in labels]
            for (one, first), (other, second) in combinations(zip(labels, boxes, strict=True), 2):
                assert not overlap(first, second), f"{one.get_text()!r} lies over {other.get_text()!r}"


def axes_of(figure: Any) -> Iterator[Any]:
    for axes in figure.axes:
        if axes.get_visible():
            yield from (axes.xaxis, axes.yaxis)


def tick_labels(axis: Any) -> list[Any]:
    """The labels that are drawn: those of ticks within the axis's limits."""
    ticks = axis._update_ticks()
    return [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible()]


def texts(figure: Any) -> Iterator[Any]:
    from matplotlib.axis import Tick
    from matplotlib.text import Text

    ticks = {text for tick in figure.findobj(Tick) for text in (tick.label1, tick.label2)}
    drawn = {label for axis in axes_of(figure) for label in tick_labels(axis)}
    for text in figure.findobj(Text):
        shown = text.get_visible() and text.get_text().strip()
        if shown and (text not in ticks or text in drawn) and (text.axes is None or text.axes.get_visible()):
            yield text


def overlap(one: Any, other: Any) -> bool:
    """Whether two boxes share more than a sliver."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(
        width > 1 and height > 1 and min(width, height) > 0.25 * min(one.height, other.height, one.width)
    )


def drawn(plot: str, run: Any, size: str = "page") -> Any:
    with style.house_style(size):
        figure = next(each for each in PLOTS if each.name == plot).draw(run)
    assert figure is not None
    return figure
