"""Plots of the tokens a text gives: their lengths, their frequencies, and compression by length of document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokbench.extension import Plot
from tokbench.plots import data
from tokbench.plots.counts import FEW_DOCUMENTS, PlotCounts, counts, most_varied
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import colors
from tokbench.plots.multiples import Axis, Curve, draw_curves
from tokbench.results import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Points = tuple[NDArray[Any], NDArray[Any]] | None
    """Where a curve goes; None where too little was counted for one."""

LONGEST = 16
"""Bytes up to which lengths of tokens are drawn."""


def _curves(run: Run, dataset: str, points: Callable[[PlotCounts], Points]) -> dict[str, Curve]:
    """The curve of each tokenizer's counts on a dataset, by label."""
    labels, hues = run_labels(run), colors(run)
    curves: dict[str, Curve] = {}
    for name in run.tokenizers if dataset else ():
        counted = counts(run, name, dataset)
        found = None if counted is None else points(counted)
        if found is not None:
            curves[labels[name]] = Curve(*found, tokenizer=name, color=hues.get(name, ""))
    return curves


def _lengths(counted: PlotCounts) -> Points:
    total = counted.token_bytes.sum()
    if not total:
        return None
    shares = (counted.token_bytes[: LONGEST + 1] / total).astype(float)
    shares = np.pad(shares, (0, LONGEST + 1 - len(shares)))
    return np.arange(1, LONGEST + 1), 100 * shares[1:]


def draw_lengths(run: Run) -> Figure | None:
    """Share of tokens by their length in bytes, over the main dataset."""
    dataset = data.main_dataset(run)
    if not (curves := _curves(run, dataset, _lengths)):
        return None
    return draw_curves(
        curves,
        x=Axis(label="bytes of a token"),
        y=Axis(label="% of tokens produced", zero=True),
        marks=True,
        note=f"Over {dataset_label(run, dataset)}, tokens as they occur; those longer than {LONGEST} bytes are "
        "left out.",
    )


def _ranked(counted: PlotCounts) -> Points:
    frequencies = counted.frequencies
    if len(frequencies) < 2:
        return None
    ranks = np.unique(np.geomspace(1, len(frequencies), 48).astype(int))
    return ranks, 100 * frequencies[ranks - 1] / frequencies.sum()


def draw_zipf(run: Run) -> Figure | None:
    """Frequency of each id against its rank, both on log axes."""
    dataset = data.main_dataset(run)
    if not (curves := _curves(run, dataset, _ranked)):
        return None
    return draw_curves(
        curves,
        x=Axis(label="rank of the id", scale="log"),
        y=Axis(label="% of tokens", scale="log"),
        note=f"Over {dataset_label(run, dataset)}. Straight: Zipf's law; a steep end: ids hardly used.",
    )


def _by_length(counted: PlotCounts) -> Points:
    """Typical bytes of a document and bytes per token, for each class of length with enough documents."""
    kept = counted.lengths[(counted.lengths[:, 0] >= FEW_DOCUMENTS) & (counted.lengths[:, 2] > 0)]
    return (kept[:, 1] / kept[:, 0], kept[:, 1] / kept[:, 2]) if len(kept) > 1 else None


def draw_text_length(run: Run) -> Figure | None:
    """Bytes per token of documents by their length, in powers of two, on the dataset where it varies most."""
    dataset = most_varied(run)
    if not (curves := _curves(run, dataset, _by_length)):
        return None
    return draw_curves(
        curves,
        x=Axis(label="bytes in a document", scale="log"),
        y=Axis(label="bytes per token", zero=True),
        marks=True,
        note=f"Over {dataset_label(run, dataset)}. Documents grouped by length in powers of two; bytes over "
        "tokens in each group. Long and short documents may differ in language and kind too.",
    )


PLOTS = (
    Plot(
        name="token_length",
        title="Token length",
        summary="Share of produced tokens by their length in bytes.",
        draw=draw_lengths,
        needs="tallies of a dataset",
    ),
    Plot(
        name="text_length",
        title="Compression against text length",
        summary="Bytes per token for short and long documents.",
        draw=draw_text_length,
        needs="tallies of documents of several lengths",
    ),
    Plot(
        name="zipf",
        title="Rank and frequency",
        summary="Frequency of each id against its rank (Zipf curves).",
        draw=draw_zipf,
        needs="tallies of a dataset",
    ),
)
