"""Compression by tokenizer: one row each, an interval, and a faint dot for every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.extension import Plot
from tokbench.plots import data, style
from tokbench.plots.captions import absent, hollow
from tokbench.plots.fitting import row_chart
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import best_first, colors, losses
from tokbench.plots.reach import beyond, reach
from tokbench.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNIT = "bytes per token"


def draw(run: Run) -> Figure | None:
    """Bytes per token on each natural dataset, tokenizers sorted on the main one."""
    datasets = [
        name for name in data.natural_datasets(run) if len(data.overall(run, "compression_ratio", name))
    ]
    if not datasets:
        return None
    order = best_first(run, data.main_metric(run, datasets[0]), datasets[0])
    labels = run_labels(run)
    panels = datasets[:1] if style.size().narrow else datasets[:3]
    titles = [dataset_label(run, name) for name in panels]
    figure, axes = row_chart({name: labels[name] for name in order}, titles, beside=9)
    drawn = [_values(run, name) for name in panels]
    end = reach(
        (value for sound, _ in drawn for value in sound), (value for _, lost in drawn for value in lost)
    )
    arrows = [_panel(panel, run, name, order, end) for panel, name in zip(axes, panels, strict=True)]
    if end is None:
        end = 1.04 * max(panel.dataLim.x1 for panel in axes)
    for panel in axes:
        panel.set_xlim(0, end)
    shown = "" if len(panels) == 1 else f" {len(panels)}"
    part = f"The first{shown} of {len(datasets)} datasets." if len(panels) < len(datasets) else ""
    known = any(data.overall(run, data.main_metric(run, name), name)["ci_low"].notna().any() for name in panels)
    several = len(run.languages(panels[0])) > 1
    macro = data.main_metric(run, panels[0]) != "compression_ratio"
    dots = f"Dot: {'mean of the languages' if macro else 'all languages together'}; ticks: single languages."
    style.caption(
        figure,
        part,
        "More is better.",
        f"Bar: {run.level} interval." if known else "",
        dots if several else "",
        hollow(run, order),
        "Arrow: beyond the axis." if any(arrows) else "",
        absent(run, order),
    )
    return figure


def _values(run: Run, dataset: str) -> tuple[list[float], list[float]]:
    """The values drawn for a dataset: those of lossless tokenizers, and those of the others."""
    bad = list(losses(run))
    table = data.by_language(run, "compression_ratio", dataset)
    rows = data.overall(run, data.main_metric(run, dataset), dataset)
    lost = rows["tokenizer"].isin(bad)
    single = table.drop(columns=[name for name in bad if name in table]).max().dropna()
    return [*single, *rows.loc[~lost, "value"]], list(rows.loc[lost, "value"])


def _panel(axes: Axes, run: Run, dataset: str, order: list[str], end: float | None) -> bool:
    """Draw a dataset on an axis up to `end`; returns whether an arrow marks a value beyond it."""
    bad, given = losses(run), colors(run)
    table = data.by_language(run, "compression_ratio", dataset)
    rows = data.overall(run, data.main_metric(run, dataset), dataset)
    arrows = False
    for row in rows.itertuples():
        if row.tokenizer not in order:
            continue
        y = order.index(row.tokenizer)
        if end is not None and row.value > end:
            style.tell(beyond(axes, row.value, y, end), row.tokenizer, style.value_text(row.value, UNIT))
            arrows = True
            continue
        hue = style.WARN if row.tokenizer in bad else given.get(row.tokenizer, style.ACCENT)
        if row.tokenizer in table and len(table) > 1 and row.tokenizer not in bad:
            style.ticks(
                axes, dict(table[row.tokenizer].dropna()), y, colour=style.FAINT, told=(row.tokenizer, UNIT)
            )
        told = row.tokenizer, style.value_text(row.value, UNIT, row.ci_low, row.ci_high)
        if row.ci_low == row.ci_low and row.ci_low is not None:
            style.bar(axes, row.ci_low, row.ci_high, y, told, hue=hue)
        style.dot(axes, row.value, y, told, hue=hue, hollow=row.tokenizer in bad)
    axes.set_xlabel(UNIT)
    return arrows


PLOTS = (
    Plot(
        name="compression",
        title="Compression by tokenizer",
        summary="UTF-8 bytes per token on the first datasets, with intervals and the spread over languages.",
        draw=draw,
        needs="compression_ratio over a dataset",
    ),
)
