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


def test_lines_to_names_pass_no_other_point_and_no_other_name() -> None:
    """Or the name would be taken for that of the point in between."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    points = {
        "transformers bpe 16k": (4.1, 3.62), "transformers wordpiece 16k †": (3.9, 3.55),
        "sentencepiece bpe 16k": (5.0, 3.57), "sentencepiece unigram 16k ‡": (7.8, 3.59),
        "transformers unigram 16k ‡": (4.4, 3.52), "maxmatch": (2.2, 3.5), "unigram 16k": (95, 3.6),
        "wordpiece 16k †": (140, 3.58), "bpe 16k": (310, 3.62),
    }  # fmt: skip
    with style.house_style("column") as chosen:
        figure, axes = style.figure(chosen.width * 1.3)
        axes.set(xscale="log", xlim=(1.4, 2000), ylim=(0.6, 4.7))
        notes = label_points(figure, axes, points)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        boxes = [note.get_window_extent(canvas.get_renderer()) for note in notes]
        places = axes.transData.transform([*points.values()])
    for note, own in zip(notes, places, strict=True):
        if abs(note.xyann[1]) > chosen.type:
            line = Path([own, own + [each * figure.dpi / 72 for each in note.xyann]])
            dots = [Bbox([place, place]).padded(2) for place in places if tuple(place) != tuple(own)]
            others = [box.padded(-1) for one, box in zip(notes, boxes, strict=True) if one is not note]
            passed = [box for box in [*dots, *others] if line.intersects_bbox(box, filled=False)]
            assert not passed, note.get_text()
