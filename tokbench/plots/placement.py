"""Places labels beside points so that they do not overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokbench.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

    Point = tuple[float, float]


def _places() -> Iterator[tuple[float, float, str]]:
    """(dx, dy) in units of the type size and the alignment that goes with it, best first."""
    yield from ((0.7, 0.0, "left"), (-0.7, 0.0, "right"), (0.0, 0.9, "center"), (0.0, -0.9, "center"))
    for step in (0.9, 1.8, 2.7, 3.6, 4.8, 6.0, 7.5, 9.0, 11.0, 13.0):
        for up in (step, -step):
            yield 0.7, up, "left"
            yield -0.7, up, "right"
            yield 0.0, up, "center"
            if step > 2:
                yield 2.5, up, "left"
                yield -2.5, up, "right"


def label_points(
    figure: Figure,
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    bars: Sequence[tuple[Point, Point]] = (),
) -> list[Annotation]:
    """Write each name beside its point: lay the figure out, try places in turn, lead a line to the far ones.

    Returns the names as they stand in the figure, in the order given.

    Names keep off `bars`, level or upright lines from one point to another, and off the lines that lead to
    others, as those keep off names and other points. A name for which every place is taken goes where it covers
    least, within the frame, so that none is lost.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.path import Path
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    engine = figure.get_layout_engine()
    figure.set_layout_engine("none")  # measured now: a new layout while placing would move the points
    size = style.size().type - 0.5
    frame = axes.get_window_extent()
    taken = [Bbox([place, place]).padded(size * 0.4) for place in axes.transData.transform([*points.values()])]
    taken += [Bbox(np.sort(axes.transData.transform(ends), axis=0)).padded(1) for ends in bars]
    leads: list[Path] = []
    notes: dict[str, Annotation] = {}
    for name, point in sorted(points.items(), key=lambda item: -item[1][1]):
        notes[name] = note = axes.annotate(
            name, point, xytext=(0, 0), textcoords="offset points", fontsize=size, zorder=4
        )
        if style.outlined():  # else it would turn to outlines; a page puts its own halo around text
            note.set_path_effects([withStroke(linewidth=2.5, foreground=style.PAPER)])
        start = axes.transData.transform(point)
        best = (float("inf"), 0.7, 0.0, "left")
        for dx, dy, side in _places():
            note.set(position=(dx * size, dy * size), ha=side, va="center")
            box = note.get_window_extent(canvas.get_renderer())
            covered = sum(_shared(box, other) for other in taken) + 10 * (_area(box) - _shared(box, frame))
            covered += size**2 * sum(lead.intersects_bbox(box, filled=False) for lead in leads)
            if abs(dy) > 1:
                lead = Path([start, start + np.array([dx, dy]) * size * figure.dpi / 72])
                others = (other for other in taken if not other.contains(*start))
                covered += size**2 * sum(lead.intersects_bbox(other, filled=False) for other in others)
            best = min(best, (covered, dx, dy, side), key=lambda place: place[0])
            if covered == 0:
                break
        _, dx, dy, side = best
        note.set(position=(dx * size, dy * size), ha=side, va="center")
        box = note.get_window_extent(canvas.get_renderer())
        if abs(dy) > 1:
            line = {"arrowstyle": "-", "color": style.FAINT, "lw": 0.7, "shrinkA": 0, "shrinkB": 2}
            end = (dx * size, dy * size)
            axes.annotate("", point, xytext=end, textcoords="offset points", arrowprops=line, zorder=1)
            leads.append(Path([start, start + np.array(end) * figure.dpi / 72]))
        # else two names on one line read as one, and names on two lines touch
        taken.append(box.padded(size * 0.4, size * 0.15))
    figure.set_layout_engine(engine)
    return [notes[name] for name in points]


def _area(box: Bbox) -> float:
    return float(box.width * box.height)


def _shared(one: Bbox, other: Bbox) -> float:
    """The area two boxes share."""
    common = one.intersection(one, other)
    return 0.0 if common is None else _area(common)
