"""The plot of compression against encode speed, with the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tokbench.extension import Plot
from tokbench.plots import data, style
from tokbench.plots.captions import absent, hollow
from tokbench.plots.fitting import in_lines
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import colors, losses
from tokbench.plots.placement import label_points
from tokbench.plots.reach import reach
from tokbench.results import Run
from tokbench.wording import listed, too_wide

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Point = tuple[float, float]


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """The names whose point no other reaches in both coordinates (more is better), from left to right.

    Example:
        >>> pareto_front({"slow, tight": (1, 5), "fast, loose": (9, 2), "neither": (1, 2)})
        ['slow, tight', 'fast, loose']
    """
    front: list[str] = []
    best = float("-inf")
    for name, (_, y) in sorted(points.items(), key=lambda item: (-item[1][0], -item[1][1], item[0])):
        if y > best:
            front.append(name)
            best = y
    return front[::-1]


def front_steps(front: Sequence[Point]) -> list[tuple[Point, Point]]:
    """The steps of a front, each from one point to another: up or down at a point, then level to the next.

    Example:
        >>> front_steps([(1, 5), (9, 2)])
        [((1, 5), (1, 2)), ((1, 2), (9, 2))]
    """
    turns = [(one, (one[0], other[1]), other) for one, other in pairwise(front)]
    return [step for one, corner, other in turns for step in ((one, corner), (corner, other))]


def speed_points(run: Run) -> dict[str, tuple[float, float]]:
    """(MB/s, bytes per token) of every tokenizer that has both, on the one dataset whose speeds are shown."""
    dataset = data.timed_dataset(run)
    speeds = data.figures(run, data.speed_metric(run), dataset)
    ratios = data.figures(run, "compression_ratio", dataset)
    return {name: (speed, ratios[name]) for name, speed in speeds.items() if name in ratios and speed > 0}


def speed_intervals(run: Run) -> dict[str, tuple[float, float]]:
    """The interval of each tokenizer's speed, where it has one."""
    return data.overall_intervals(run, data.speed_metric(run), data.timed_dataset(run))


def speed_bars(run: Run, points: Mapping[str, Point]) -> list[tuple[str, Point, Point]]:
    """The intervals as bars (tokenizer, from, to) through its point: of speed level, of bytes upright.

    Those of speeds that say nothing are left out: the axis would be long for them alone.
    """
    rates = [(name, *ends) for name, ends in speed_intervals(run).items() if not too_wide(*ends)]
    ratios = data.overall_intervals(run, "compression_ratio", data.timed_dataset(run))
    bars = [
        (name, (low, points[name][1]), (high, points[name][1])) for name, low, high in rates if name in points
    ]
    return bars + [
        (name, (points[name][0], low), (points[name][0], high))
        for name, (low, high) in ratios.items()
        if name in points
    ]


def draw(run: Run) -> Figure | None:
    """Each tokenizer as a labelled point, speed on a log axis; the front drawn as steps."""
    points = speed_points(run)
    if len(points) < 2:
        return None
    bad, labels = losses(run), run_labels(run)
    chosen = style.size()
    height = min(chosen.height, chosen.width * (1.3 if chosen.narrow else 0.62))
    figure, axes = style.figure(height)
    sound = {name: point for name, point in points.items() if name not in bad}
    end = reach((y for _, y in sound.values()), (points[name][1] for name in points if name in bad))
    far = {} if end is None else {name: y for name, (_, y) in points.items() if y > end}
    points |= {name: (points[name][0], end) for name in far if end is not None}
    front = pareto_front(sound)
    steps = front_steps([points[name] for name in front])
    if steps:
        corners = (steps[0][0], *(stop for _, stop in steps))
        axes.plot(*zip(*corners, strict=True), color=style.ACCENT, lw=1.0, alpha=0.5, zorder=2)
    hues = {
        name: style.ACCENT if name in front else style.WARN if name in bad else style.MUTED for name in points
    } | colors(run)
    for name, (x, y) in points.items():
        told = name, f"{x:.3g} MB/s, {far.get(name, y):.3g} bytes per token"
        shape = "^" if name in far else "o"
        style.dot(axes, x, y, told, hue=hues[name], hollow=name in bad, shape=shape)
    bars = speed_bars(run, {name: point for name, point in points.items() if name not in far})
    for name, start, stop in bars:
        (bar,) = axes.plot(*zip(start, stop, strict=True), color=hues[name], lw=1.0, zorder=2)
        style.tell(bar, name, "")
    axes.set_xscale("log")
    _room(axes, [*points.values(), *(end for _, *ends in bars for end in ends)])
    first = data.shown_pass(run, data.timed_dataset(run))
    axes.set_xlabel("encode speed, MB of UTF-8 per second (log scale)")
    of = f"bytes per token · {dataset_label(run, data.timed_dataset(run))}"
    axes.set_ylabel(in_lines(of, 0.6 * 72 * height, chosen.type, 2))  # the rest is what stands below
    axes.grid(True, axis="both")
    wide = [labels[name] for name, ends in speed_intervals(run).items() if name in points and too_wide(*ends)]
    shown = {name: labels[name] + (f" {far[name]:.1f}" if name in far else "") for name in points}
    style.caption(
        figure,
        "Up and to the right is better.",
        f"Bars: {data.levels(run)} intervals." if bars else "",
        "Steps: tokenizers that no other beats on both." if steps else "",
        hollow(run, points),
        f"Interval of speed too wide to draw: {listed(wide)}." if wide else "",
        "Arrow: far above, at the figure." if far else "",
        f"Speed: {first}." if first else "",
        data.busy(run),
        absent(run, points),
        later=shown.values(),
    )
    places = {shown[name]: point for name, point in points.items()}
    notes = label_points(figure, axes, places, [*steps, *((start, stop) for _, start, stop in bars)])
    for name, note in zip(points, notes, strict=True):
        style.tell(note, name, "")
    return figure


def _room(axes: Axes, points: list[tuple[float, float]]) -> None:
    """Limits with room for labels, and decades written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    xs, ys = zip(*points, strict=True)
    axes.set_xlim(min(xs) / 1.6, max(xs) * 2.2)
    pad = (max(ys) - min(ys) or 1.0) * 0.12
    axes.set_ylim(max(0.0, min(ys) - pad), max(ys) + pad)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


PLOTS = (
    Plot(
        name="speed",
        title="Compression against encode speed",
        summary="Each tokenizer by MB/s and bytes per token, with the Pareto front.",
        draw=draw,
        needs="speeds (run with --speed)",
    ),
)
