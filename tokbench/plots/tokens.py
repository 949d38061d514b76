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


def _draw(
    run: Run, dataset: str, points: Callable[[PlotCounts], Points], note: str, **how: Any
) -> Figure | None:
    """A curve of each tokenizer's counts on a dataset, which the caption names before the `note`."""
    labels, hues = run_labels(run), colors(run)
    curves: dict[str, Curve] = {}
    for name in run.tokenizers if dataset else ():
        counted = counts(run, name, dataset)
        found = None if counted is None else points(counted)
        if found is not None:
            curves[labels[name]] = Curve(*found, tokenizer=name, color=hues.get(name, ""))
    return draw_curves(curves, note=f"Over {dataset_label(run, dataset)}{note}", **how) if curves else None


def _lengths(counted: PlotCounts) -> Points:
    total = counted.token_bytes.sum()
    if not total:
        return None
    shares = (counted.token_bytes[: LONGEST + 1] / total).astype(float)
    shares = np.pad(shares, (0, LONGEST + 1 - len(shares)))
    return np.arange(1, LONGEST + 1), 100 * shares[1:]


def draw_lengths(run: Run) -> Figure | None:
    """Share of tokens by their length in bytes, over the main dataset."""
    note = f", tokens as they occur; those longer than {LONGEST} bytes are left out."
    x, y = Axis(label="bytes of a token"), Axis(label="% of tokens produced", zero=True)
    return _draw(run, data.main_dataset(run), _lengths, note, x=x, y=y, marks=True)


def _ranked(counted: PlotCounts) -> Points:
    frequencies = counted.frequencies
    if len(frequencies) < 2:
        return None
    ranks = np.unique(np.geomspace(1, len(frequencies), 48).astype(int))
    return ranks, 100 * frequencies[ranks - 1] / frequencies.sum()


def draw_zipf(run: Run) -> Figure | None:
    """Frequency of each id against its rank, both on log axes."""
    note = ". Straight: Zipf's law; a steep end: ids hardly used."
    x, y = Axis(label="rank of the id", scale="log"), Axis(label="% of tokens", scale="log")
    return _draw(run, data.main_dataset(run), _ranked, note, x=x, y=y)


def _by_length(counted: PlotCounts) -> Points:
    """Typical bytes of a document and bytes per token, for each class of length with enough documents."""
    kept = counted.lengths[(counted.lengths[:, 0] >= FEW_DOCUMENTS) & (counted.lengths[:, 2] > 0)]
    return (kept[:, 1] / kept[:, 0], kept[:, 1] / kept[:, 2]) if len(kept) > 1 else None


def draw_text_length(run: Run) -> Figure | None:
    """Bytes per token of documents by their length, in powers of two, on the dataset where it varies most."""
    note = (
        ". Documents grouped by length in powers of two; bytes over tokens in each group. Long and short "
        "documents may differ in language and kind too."
    )
    x, y = Axis(label="bytes in a document", scale="log"), Axis(label="bytes per token", zero=True)
    return _draw(run, most_varied(run), _by_length, note, x=x, y=y, marks=True)


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
