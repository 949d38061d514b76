"""Plots of the tokens a text gives: their lengths, their frequencies, and compression by length of document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.extension import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tokbench.results import Run


def draw_lengths(run: Run) -> Figure | None:
    """Share of tokens by their length in bytes, over the main dataset."""
    import numpy as np

    from tokbench.plots import counts, data
    from tokbench.plots.labels import dataset_label
    from tokbench.plots.multiples import Axis, Curve, draw_curves

    dataset, labels, hues = data.main_dataset(run), data.names(run), data.colors(run)
    curves: dict[str, Curve] = {}
    for name in run.tokenizers:
        histogram = counts.token_lengths(run, name, dataset)
        if histogram is None:
            continue
        longest = 16
        shares = histogram[: longest + 1] / histogram.sum()
        shares = np.pad(shares.astype(float), (0, longest + 1 - len(shares)))
        curves[labels[name]] = Curve(
            np.arange(1, longest + 1), 100 * shares[1:], tokenizer=name, color=hues.get(name, "")
        )
    if not curves:
        return None
    return draw_curves(
        curves,
        x=Axis(label="bytes of a token"),
        y=Axis(label="% of tokens produced", zero=True),
        marks=True,
        note=f"Over {dataset_label(dataset)}, tokens as they occur; those longer than 16 bytes are left out.",
    )


def draw_zipf(run: Run) -> Figure | None:
    """Frequency of each id against its rank, both on log axes."""
    import numpy as np

    from tokbench.plots import counts, data
    from tokbench.plots.labels import dataset_label
    from tokbench.plots.multiples import Axis, Curve, draw_curves

    dataset, labels, hues = data.main_dataset(run), data.names(run), data.colors(run)
    curves: dict[str, Curve] = {}
    for name in run.tokenizers:
        frequencies = counts.rank_frequencies(run, name, dataset)
        if frequencies is None or len(frequencies) < 2:
            continue
        ranks = np.unique(np.geomspace(1, len(frequencies), 48).astype(int))
        curves[labels[name]] = Curve(
            ranks, 100 * frequencies[ranks - 1] / frequencies.sum(), tokenizer=name, color=hues.get(name, "")
        )
    if not curves:
        return None
    return draw_curves(
        curves,
        x=Axis(label="rank of the id", scale="log"),
        y=Axis(label="% of tokens", scale="log"),
        note=f"Over {dataset_label(dataset)}. Straight: Zipf's law; a steep end: ids hardly used.",
    )


def draw_text_length(run: Run) -> Figure | None:
    """Bytes per token of documents by their length, in powers of two, on the dataset where it varies most."""
    from tokbench.plots import counts, data
    from tokbench.plots.labels import dataset_label
    from tokbench.plots.multiples import Axis, Curve, draw_curves

    labels, hues = data.names(run), data.colors(run)
    dataset = counts.most_varied(run)
    over = dataset_label(dataset)
    curves: dict[str, Curve] = {}
    for name in run.tokenizers if dataset else ():
        found = counts.compression_by_length(run, name, dataset)
        if found is not None:
            curves[labels[name]] = Curve(*found, tokenizer=name, color=hues.get(name, ""))
    if not curves:
        return None
    return draw_curves(
        curves,
        x=Axis(label="bytes in a document", scale="log"),
        y=Axis(label="bytes per token", zero=True),
        marks=True,
        note=f"Over {over}. Documents grouped by length in powers of two; bytes over tokens in each group. "
        "Long and short documents may differ in language and kind too.",
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
