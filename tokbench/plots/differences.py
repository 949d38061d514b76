"""The difference of each tokenizer from the baseline or the best compression, with paired intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokbench.extension import Plot
from tokbench.metrics.correction import SURE
from tokbench.plots import data, style
from tokbench.plots.fitting import row_chart
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import best_first, colors, comparable
from tokbench.results import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Differences = dict[str, tuple[float, float, float, float | None]]
"""By tokenizer: (difference, low, high) in bytes per token, and its p-value, None if it was not tested."""


def from_one(run: Run) -> tuple[str, Differences]:
    """The tokenizer that the plot compares with, and the others that the run compared with it, best first.

    It is the run's baseline if that loses no text, otherwise the tokenizer that compresses best on the main
    dataset.
    """
    dataset = data.main_dataset(run)
    fair = comparable(run)
    sound = [name for name in best_first(run, data.main_metric(run, dataset), dataset) if name in fair]
    baseline = run.manifest.get("baseline")
    one = baseline if baseline in sound else next(iter(sound), "")
    return one, _against(run, dataset, one, [name for name in sound if name != one])


def _against(run: Run, dataset: str, one: str, others: Sequence[str]) -> Differences:
    found: Differences = {}
    for other in others:
        row: Any = data.known_difference(run, data.main_metric(run, dataset), dataset, one, other)
        if row is None or row["value"] != row["value"]:
            continue
        sign = 1 if row["tokenizer"] == other else -1
        ends = sorted((sign * float(row["ci_low"]), sign * float(row["ci_high"])))
        chance = row["p_adjusted"]
        chance = None if chance is None or chance != chance else float(chance)
        found[other] = (sign * float(row["value"]), ends[0], ends[1], chance)
    return found


def draw(run: Run) -> Figure | None:
    """A row for each tokenizer: its difference to the one and the interval of that difference."""
    best, found = from_one(run)
    if not found:
        return None
    labels, dataset = run_labels(run), data.main_dataset(run)
    over = dataset_label(run, dataset)
    title = f"against {labels[best]}" + ("" if style.size().narrow else f" · {over}")
    figure, [axes] = row_chart({name: labels[name] for name in found}, [title], beside=10)
    for y, (name, (value, low, high, chance)) in enumerate(found.items()):
        hue = colors(run).get(name, style.ACCENT)
        told = name, style.value_text(value, "bytes per token apart", low, high)
        style.bar(axes, low, high, y, told, hue=hue)
        style.dot(axes, value, y, told, hue=hue, hollow=chance is None or chance >= SURE)
    axes.axvline(0, color=style.MUTED, lw=0.8, zorder=0)
    axes.set_xlabel("bytes per token" if style.size().narrow else "difference in bytes per token")
    pooled = data.main_metric(run, dataset) == "compression_ratio"
    mean = "" if pooled else ", the mean of its languages"
    tests = [chance for *_, chance in found.values()]
    hollow = []
    if any(chance is not None and chance >= SURE for chance in tests):
        hollow.append(f"may be chance (p ≥ {SURE}, corrected for everything compared)")
    if None in tests:
        hollow.append("not tested, for too few documents or without resamples")
    style.caption(
        figure,
        f"Over {over}{mean}, paired by document"
        + (f"; bar: {run.level} interval" if any(low == low for _, low, *_ in found.values()) else "")
        + (f"; hollow: {', or '.join(hollow)}" if hollow else "")
        + ". Tokenizers that lose text are left out.",
    )
    return figure


PLOTS = (
    Plot(
        name="differences",
        title="Differences in compression",
        summary="Paired differences against the best tokenizer that loses no text, or against the baseline.",
        draw=draw,
        needs="paired comparisons of compression_ratio",
    ),
)
