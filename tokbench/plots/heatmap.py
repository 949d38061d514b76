"""A metric by language and tokenizer, as a heat map that is folded into columns if there are many languages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.extension import Plot
from tokbench.plots import data, style
from tokbench.plots.captions import explained
from tokbench.plots.fitting import cut, heading
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.plots.losses import losses
from tokbench.plots.widths import wrapped
from tokbench.results import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CAVEAT = "Not comparable between scripts: one character of some scripts says as much as two or three of others."


FEW = 60
LEAST_ROW = 0.095
"""The least height of a row in inches for its label to be readable."""
LEAST_CELL = 6.0
"""The least width of a cell in points for the label above it to be readable."""


def draw(run: Run, *, metric: str, unit: str, note: str = "", parallel: bool = False) -> Figure | None:
    """A metric on the main dataset: languages as rows, tokenizers as columns, dark is high.

    None for one language, and if the metric needs `parallel` text and the dataset is not.
    """
    dataset = data.main_dataset(run)
    table = data.by_language(run, metric, dataset)
    if len(table) < 2 or (parallel and dataset not in data.parallel_datasets(run)):
        return None
    labels = run_labels(run)
    sound = [labels[name] for name in table if name not in losses(run)]
    table = table.rename(columns=labels)
    # tokenizers that lose text do not set the scale, where there are others
    ends = data.shaded(table[sound] if sound else table)
    table = table.rename(index=lambda code: language_label(code, data.kind(run, dataset)))
    notes = note, explained(run) if losses(run) else ""
    return _heat(table, ends, title=f"{metric} · {dataset_label(run, dataset)}", unit=unit, notes=notes)


def _heat(
    table: pd.DataFrame, ends: tuple[float, float], *, title: str, unit: str, notes: Iterable[str]
) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    chosen = style.size()
    room = 17 if chosen.narrow or len(table) > FEW else 24
    table = table.rename(index=lambda code: cut(code, room))
    fit = _fold(table)
    blocks, row, small = fit.blocks, fit.row, fit.type
    per_block = math.ceil(len(table) / blocks)
    top = max(map(len, table.columns)) * fit.type_above * 0.6 / 72
    title = heading(title)
    figure, axes = style.figure(
        per_block * row + top + style.lines(8 + title.count("\n")), columns=blocks, squeeze=False
    )
    alike = 0.5 if ends[0] == ends[1] else 0
    scale = Normalize(ends[0] - alike, ends[1] + alike, clip=True)
    colours = LinearSegmentedColormap.from_list("house", style.SHADES)
    annotate = blocks == 1 and fit.cell > small * 2.4 and row * 72 > 8
    for block, axis in enumerate(axes[0]):
        part = table.iloc[block * per_block : (block + 1) * per_block]
        image = axis.imshow(
            part.to_numpy(float), aspect="auto", cmap=colours, norm=scale, interpolation="nearest"
        )
        axis.set_yticks(range(len(part)), part.index, fontsize=small)
        axis.set_xticks(range(len(part.columns)), part.columns, rotation=90, fontsize=fit.type_above)
        axis.xaxis.tick_top()
        axis.set_ylim(per_block - 0.5, -0.5)
        axis.spines[:].set_visible(False)
        if annotate:
            _write(axis, part, scale, small)
    thick, long = style.lines(0.8), chosen.width / 2
    beyond = (bool((table < ends[0]).any(axis=None)), bool((table > ends[1]).any(axis=None)))
    bar = figure.colorbar(
        image, ax=axes, orientation="horizontal", fraction=thick / (thick + per_block * row), pad=0.01,
        aspect=long / thick, shrink=0.5, extend=_EXTEND[beyond], extendfrac=0.05,
    )  # fmt: skip
    bar.outline.set_visible(False)
    bar.set_label(wrapped(unit, long * 72, chosen.type))
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=chosen.type + 0.5)
    style.caption(figure, *notes)
    return figure


_EXTEND = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
"""The ends of a scale drawn as arrows, because figures lie beyond them."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """The layout of a heat map: columns of rows, inches per row, points of type and of a cell's width."""

    blocks: int
    row: float
    type: float
    type_above: float
    cell: float


def _fold(table: pd.DataFrame) -> _Fit:
    """The fewest blocks side by side within the greatest height, with cells wide enough to read."""
    chosen = style.size()
    rows, columns = table.shape
    longest = max(map(len, table.index))
    height = chosen.height - style.lines(20)
    fit = None
    for blocks in range(1, 9):
        per_block = math.ceil(rows / blocks)
        row = min(style.row_height(), max(height / per_block, LEAST_ROW))
        small = min(chosen.type - 0.5, row * 72 * 0.72)
        cell = (chosen.width * 72 / blocks - longest * small * 0.6 - 8) / columns
        if fit is not None and cell < LEAST_CELL:
            break
        fit = _Fit(blocks, row, small, min(small + 1, chosen.type - 0.5, cell * 0.8), cell)
        if per_block * row <= height:
            break
    assert fit is not None
    return fit


def _write(axis: Any, part: pd.DataFrame, scale: Any, size: float) -> None:
    for (y, x), value in np.ndenumerate(part.to_numpy(float)):
        if value == value:
            hue = "white" if scale(value) > 0.55 else "black"
            said = f"{value:.2f}" if abs(value) < 99.995 else f"{value:.1f}"  # more would reach the next cell
            axis.text(x, y, said, ha="center", va="center", color=hue, fontsize=size)


PLOTS = (
    Plot(
        name="chars_per_token",
        title="Characters per token by language",
        summary="Heat map of chars_per_token: languages by tokenizers.",
        draw=partial(draw, metric="chars_per_token", unit="characters per token", note=CAVEAT),
        needs="chars_per_token of two languages",
    ),
    Plot(
        name="compression_by_language",
        title="Compression by language",
        summary="Heat map of compression_ratio: languages by tokenizers.",
        draw=partial(draw, metric="compression_ratio", unit="UTF-8 bytes per token"),
        needs="compression_ratio of two languages",
    ),
    Plot(
        name="premium_by_language",
        title="Premium by language",
        summary="Heat map of premium: tokens of each language for the same lines, relative to a reference.",
        draw=partial(draw, metric="premium", unit="tokens for the same text, × the reference language"),
        needs="premium (a parallel dataset of two languages)",
    ),
    Plot(
        name="tokens_per_line",
        title="Tokens per line by language",
        summary="Heat map of tokens_per_line on parallel text: the figure that compares languages.",
        draw=partial(draw, metric="tokens_per_line", unit="tokens per line of the same text", parallel=True),
        needs="tokens_per_line (a parallel dataset of two languages)",
    ),
)
