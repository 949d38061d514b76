"""Plots of a curve for each tokenizer: up to five in one panel, more in a grid of small panels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tokbench.plots import style
from tokbench.plots.fitting import fitting_apart
from tokbench.plots.losses import mark_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

TOGETHER = 5
_SINGLE = 12
"""With more curves, panels show the range of all, not each in grey: n panels would draw n² curves."""
_STROKES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)))


@dataclass(frozen=True, slots=True)
class Curve:
    """One tokenizer's curve; `low` and `high` are the bounds of a band around it, if it has one.

    `tokenizer` is the spec and `color` its colour, if the curve belongs to a tokenizer.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    low: NDArray[Any] | None = None
    high: NDArray[Any] | None = None
    tokenizer: str = ""
    color: str = ""

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[float, Any]], tokenizer: str = "", color: str = "") -> Curve:
        """The curve of measured figures with their intervals: places, each with its row of `Run.frame`."""
        keys = ("value", "ci_low", "ci_high")
        value, low, high = (np.array([row[key] for _, row in rows], float) for key in keys)
        return cls(np.array([place for place, _ in rows]), value, low, high, tokenizer, color)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis: its label, its scale, whether it starts at zero, and its ticks if they are fixed."""

    label: str
    scale: Literal["linear", "log"] = "linear"
    base: int = 10
    zero: bool = False
    ticks: tuple[float, ...] = ()


def draw_curves(
    curves: Mapping[str, Curve], *, x: Axis, y: Axis, marks: bool = False, note: str = ""
) -> Figure:
    """A figure of `curves` by label: up to five on one pair of axes, else a grid with the others in grey."""
    chosen = style.size()
    hues = _hues(curves)
    if len(curves) <= TOGETHER:
        figure, axes = style.figure(chosen.width * (0.8 if chosen.narrow else 0.5))
        for index, (name, curve) in enumerate(curves.items()):
            line = _line(axes, curve, hues[name], label=name, marks=marks, stroke=_STROKES[index])
            _tell(line, curve, x, y)
        _dress(axes, x, y)
        axes.set_xlabel(x.label)
        axes.set_ylabel(y.label)
        legend = figure.legend(loc="outside upper left", ncols=1 if chosen.narrow else 3, handlelength=2.6)
        for text, curve in zip(legend.get_texts(), curves.values(), strict=True):
            style.tell(text, curve.tokenizer, "")
    else:
        figure = _grid(curves, x, y, marks)
    style.caption(
        figure,
        note,
        f"Horizontal: {x.label}. Vertical: {y.label}." if len(curves) > TOGETHER else "",
        "Grey: from the lowest to the highest of all." if len(curves) > _SINGLE else "",
    )
    return figure


def _hues(curves: Mapping[str, Curve]) -> dict[str, str]:
    """A colour for each curve; tokenizers with losses share one, and differ by their strokes."""
    lossless = [name for name in curves if not mark_of(name)]
    return dict.fromkeys(curves, style.WARN) | {
        name: curves[name].color or hue for name, hue in zip(lossless, style.SERIES, strict=False)
    }


def _grid(curves: Mapping[str, Curve], x: Axis, y: Axis, marks: bool) -> Figure:
    chosen = style.size()
    columns = 2 if chosen.narrow else 4
    rows = math.ceil(len(curves) / columns)
    cell = (chosen.width / columns) * (0.8 if chosen.narrow else 0.78)
    figure, axes = style.figure(
        rows * cell + style.lines(5), rows=rows, columns=columns, sharex=True, sharey=True, squeeze=False
    )
    small = chosen.type - 0.5
    titles = fitting_apart(curves, 0.8 * 72 * chosen.width / columns, small)  # bold: wider than it is measured
    behind = _range(curves, x, y) if len(curves) > _SINGLE else None
    for index, panel in enumerate(axes.flat):
        if index >= len(curves):
            panel.set_visible(False)
            continue
        name = list(curves)[index]
        if behind is not None:
            # Where one curve goes alone, there is no more of the range than its edge.
            panel.fill_between(*behind, color=style.FAINT, alpha=0.5, lw=style.stroke(0.7), zorder=1)
        for other, curve in curves.items():
            if behind is None and other != name:  # in few points, since every panel repeats every curve
                places = np.unique(np.linspace(0, len(curve.x) - 1, 14).round().astype(int))
                panel.plot(curve.x[places], curve.y[places], color=style.FAINT, lw=0.5, alpha=0.8, zorder=1)
        hue = style.WARN if mark_of(name) else curves[name].color or style.ACCENT
        _tell(_line(panel, curves[name], hue, marks=marks), curves[name], x, y)
        _dress(panel, x, y)
        title = panel.set_title(titles[name], fontsize=small)
        style.tell(title, curves[name].tokenizer, "")
        if index + columns >= len(curves):
            panel.xaxis.set_tick_params(labelbottom=True)
    return figure


def _range(curves: Mapping[str, Curve], x: Axis, y: Axis) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The range of the curves: places along the axis, and the lowest and highest value at each.

    Between its points a curve is a straight line as drawn, also on logarithmic axes. The ends of each curve are
    among the places, because many fall steeply before their end.
    """
    (along, x_back), (up, y_back) = (
        (np.log, np.exp) if axis.scale == "log" else (np.asarray, np.asarray) for axis in (x, y)
    )
    drawn = [(along(curve.x), up(curve.y)) for curve in curves.values()]
    ends = np.concatenate([xs[[0, -1]] for xs, _ in drawn])
    places = np.unique([*ends, *np.linspace(ends.min(), ends.max(), 60)[1:-1]])
    values = [np.interp(places, xs, ys, left=np.nan, right=np.nan) for xs, ys in drawn]
    return x_back(places), y_back(np.nanmin(values, axis=0)), y_back(np.nanmax(values, axis=0))


def _line(
    axes: Axes, curve: Curve, hue: str, *, label: str = "", marks: bool = False, stroke: Any = "-"
) -> Line2D:
    (line,) = axes.plot(
        curve.x, curve.y, color=hue, ls=stroke, marker="o" if marks else "", ms=3, label=label or None, zorder=3
    )
    if curve.low is not None and curve.high is not None:
        axes.fill_between(curve.x, curve.low, curve.high, color=hue, alpha=0.15, lw=0, zorder=2)
    return line


def _tell(line: Line2D, curve: Curve, x: Axis, y: Axis) -> None:
    """Store the values along a curve, for pages that show them."""
    points = [
        (f"{x.label} {short_number(float(at))}", style.value_text(float(value), y.label))
        for at, value in zip(curve.x, curve.y, strict=True)
    ]
    style.tell(line, curve.tokenizer, "", points)


def _dress(axes: Axes, x: Axis, y: Axis) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: short_number(value))
    for given, axis, scale in ((x, axes.xaxis, axes.set_xscale), (y, axes.yaxis, axes.set_yscale)):
        if given.scale == "log":
            scale("log", base=given.base)
            first, last = axis.get_view_interval()
            steps = _steps(last / first) if given.base == 10 else (1.0,)
            axis.set_major_locator(LogLocator(base=given.base, subs=steps, numticks=5))
            axis.set_major_formatter(plain)
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_locator(MaxNLocator(5))
            if axis.get_view_interval()[1] >= 1e6:  # otherwise matplotlib puts a power of ten above the axis
                axis.set_major_formatter(plain)
        if given.ticks:
            axis.set_major_locator(FixedLocator(list(given.ticks)))
    if y.zero:
        axes.set_ylim(bottom=0)
    axes.grid(True, axis="both")
    axes.spines[:].set_visible(False)


def _steps(span: float) -> tuple[float, ...]:
    """The places of ticks in each decade; there are more if there are fewer decades."""
    if span > 150:
        return (1.0,)
    return (1.0, 3.0) if span > 20 else (1.0, 2.0, 5.0)


def short_number(value: float) -> str:
    """A count as people read it.

    Example:
        >>> [short_number(value) for value in (0.05, 8, 1500, 200_000, 999_999, -3_000_000)]
        ['0.05', '8', '1.5k', '200k', '1M', '−3M']
    """
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.99995 * limit:
            return f"{value / limit:.4g}{suffix}".replace("-", "−")
    said = f"{value:.3g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.0e}"
    return said.replace("-", "−")
