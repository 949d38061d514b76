"""Labels beside points: none over another, none so near that two read as one."""

from __future__ import annotations

import pytest

from tokbench.plots import style
from tokbench.plots.placement import label_points

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("apart", [0.08 + 0.002 * step for step in range(8)])
def test_two_names_on_one_line_stay_apart(apart: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.house_style() as chosen:
        figure = Figure(figsize=(chosen.width, 3.0))
        axes = figure.subplots()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        points = {"gigatoken gpt2": (0.3, 0.5), "bpe gpt2": (0.3 + apart, 0.5)}
        bars = [((x - 0.04, y), (x + 0.04, y)) for x, y in points.values()]
        label_points(figure, axes, points, bars)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        one, other = (
            note.get_window_extent(canvas.get_renderer()) for note in axes.texts if note.get_text() in points
        )
    level = min(one.y1, other.y1) > max(one.y0, other.y0) + 1
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    assert not level or gap > 0.3 * one.height
