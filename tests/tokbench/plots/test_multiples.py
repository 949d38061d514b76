"""Curves of many tokenizers: in one panel, or in one for each before the range of all."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tokbench.plots import style
from tokbench.plots.multiples import Axis, Curve, draw_curves


def test_only_what_loses_something_has_the_colour_of_loss() -> None:
    curve = Curve(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    with style.house_style("page"):
        for names in (["a", "b †", "c ‡"], [*"abcde", "f †"]):
            figure = draw_curves(dict.fromkeys(names, curve), x=Axis(label="x"), y=Axis(label="y"))
            hues = [[line.get_color() for line in axes.lines if line.get_zorder() == 3] for axes in figure.axes]
            drawn = dict(zip(names, [hue for panel in hues for hue in panel], strict=True))
            assert {name for name, hue in drawn.items() if hue == style.WARN} == {
                name for name in names if name[-1] in "†‡"
            }


def test_what_many_panels_draw_grows_with_them_and_not_with_their_square() -> None:
    curves = {f"t{n}": Curve(np.arange(1.0, 9.0), np.arange(1.0, 9.0) * n) for n in range(1, 31)}
    with style.house_style("page"):
        figure = draw_curves(curves, x=Axis(label="x", scale="log"), y=Axis(label="y"), note="A note.")
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert {len(axes.lines) for axes in panels} == {1}  # its own; the range of all is one area
    for axes in panels:
        low, high = axes.collections[0].get_paths()[0].get_extents().intervaly
        assert (low, high) == (1.0, 240.0)
        assert axes.collections[0].get_linewidth() > 0  # where one curve goes alone, the area has no height
    assert "from the lowest to the highest of all" in figure.get_supxlabel().replace("\n", " ")


def test_the_range_behind_panels_holds_every_curve_to_its_end() -> None:
    from matplotlib.path import Path as Outline

    level = np.ones(9)
    curves = {f"t{n}": Curve(np.geomspace(1, 100 + n, 9), level) for n in range(12)}
    curves["steep"] = Curve(np.array([1.0, 40.0, 50.0]), np.array([1.0, 0.5, 0.001]))
    curves["long"] = Curve(np.array([1.0, 5000.0]), np.array([1.0, 2.0]))
    with style.house_style("page"):
        figure = draw_curves(curves, x=Axis(label="x", scale="log"), y=Axis(label="y", scale="log"))
    outline: Outline = figure.axes[0].collections[0].get_paths()[0]
    for curve in curves.values():
        for point in ((curve.x[0], curve.y[0]), (curve.x[-1], curve.y[-1])):
            assert np.isclose(outline.vertices, point).all(axis=1).any(), point


def test_the_range_behind_panels_is_straight_where_curves_are_drawn_straight() -> None:
    curves = {f"t{n}": Curve(np.array([1.0, 100.0]), np.array([1.0, 2.0 + n])) for n in range(13)}
    with style.house_style("page"):
        figure = draw_curves(curves, x=Axis(label="x", scale="log"), y=Axis(label="y"))
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    places, highest = corners[:, 0], 1 + 6.5 * np.log10(corners[:, 0])
    assert np.isclose(corners[:, 1], highest).sum() > len(places) / 3


def test_titles_of_panels_keep_apart_and_keep_their_mark() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    curve = Curve(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    names = [f"wordpiece bert-base-uncased {letter} †" for letter in "MWQOGD"]
    for size in ("page", "column", "slide"):
        with style.house_style(size):
            figure = draw_curves(dict.fromkeys(names, curve), x=Axis(label="x"), y=Axis(label="y"))
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            titles = [
                text for axes in figure.axes for text in axes.findobj(Text) if text.get_text().endswith("†")
            ]
            boxes = [text.get_window_extent(canvas.get_renderer()) for text in titles]
            assert len(boxes) == len(names)
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_panels_whose_names_begin_alike_are_told_apart_by_how_they_end() -> None:
    endings = ("uncased", "cased", "multilingual-uncased †", "multilingual-cased †")
    names = [*(f"wordpiece a-name-of-many-words-{end}" for end in endings), "bytes", "chars"]
    curve = Curve(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    for size in style.SIZES:
        with style.house_style(size):
            figure = draw_curves(dict.fromkeys(names, curve), x=Axis(label="x"), y=Axis(label="y"))
        titles = [axes.get_title("left") for axes in figure.axes if axes.get_visible()]
        assert len({*titles}) == len(names)
        assert [title.endswith(end[-7:]) for title, end in zip(titles, endings, strict=False)] == [True] * 4
