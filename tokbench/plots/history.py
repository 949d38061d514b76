"""A metric over several runs: how each tokenizer's figure changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, printable, run_labels
from tokbench.plots.losses import colors
from tokbench.plots.multiples import Axis, Curve, draw_curves
from tokbench.results import Run
from tokbench.wording import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_history(runs: Sequence[Run], metric: str, dataset: str | None = None) -> Figure | None:
    """A metric over a whole dataset (by default the last run's main one) run by run, intervals as bands.

    There is a curve for each tokenizer that at least two of the runs measured; None without curves.
    """
    from matplotlib.ticker import FixedFormatter

    last = runs[-1]
    over = data.main_dataset(last) if dataset is None else dataset
    rows = [data.overall(run, metric, over).set_index("tokenizer") for run in runs]
    labels = {spec: label for run in runs for spec, label in run_labels(run).items()}
    curves: dict[str, Curve] = {}
    for spec, label in labels.items():
        found = [(at, row.loc[spec]) for at, row in enumerate(rows) if spec in row.index]
        if len(found) > 1:
            curves[label] = Curve.of_rows(found, spec, colors(last).get(spec, ""))
    if not curves:
        return None
    units = [str(unit) for row in rows for unit in row["unit"]]
    pairs = zip(runs, rows, strict=True)
    levels = dict.fromkeys(data.level(run, metric) for run, row in pairs if row["ci_low"].notna().any())
    band = f"; band: {listed([*levels])} interval" if levels else ""
    figure = draw_curves(
        curves,
        x=Axis(label="run", ticks=tuple(range(len(runs)))),
        y=Axis(label=f"{metric} ({units[0]})" if units[0] else metric),
        marks=True,
        note=f"{metric} over {dataset_label(last, over)}{band}. Runs measured on other text, or with other "
        "versions, differ for that alone: `tokbench runs compare` tells what changed between two.",
    )
    for axes in figure.axes:
        axes.xaxis.set_major_formatter(FixedFormatter([printable(run.path.name) for run in runs]))
        axes.xaxis.set_tick_params(rotation=30)
    return figure
