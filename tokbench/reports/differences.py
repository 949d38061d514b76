"""Tables of paired differences between tokenizers: each pair, its interval, and whether it may be chance."""

from __future__ import annotations

from typing import Any

from tokbench.metrics.context import REPLICATES
from tokbench.metrics.correction import SURE
from tokbench.plots import data
from tokbench.plots.captions import marks_explained
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import losses
from tokbench.reports.chosen import metric_facts
from tokbench.reports.sizes import counted_on
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.reports.tables import metric_column
from tokbench.results import Run
from tokbench.wording import sentences

MOST_PAIRS = 200
"""The most pairs that a table shows: fifty tokenizers have 1,225."""


def table(run: Run, metric: str, dataset: str) -> Table:
    """Every pair compared in a metric over a whole dataset: lossless ones first, by difference."""
    rows = data.differences(run, metric, dataset)
    labels, lost = run_labels(run), losses(run)
    if len(rows):
        loses = rows["tokenizer"].isin(list(lost)) | rows["baseline"].isin(list(lost))
        rows = rows.assign(loses=loses, nearness=-rows["value"].abs())[rows["value"].notna()]
        rows = rows.sort_values(["loses", "nearness"], kind="stable")
    of = len(rows)
    unit = metric_column(metric, metric_facts(run)).unit
    replicates = run.manifest.get("suite", {}).get("replicates") or REPLICATES
    columns = (
        Column.text("tokenizer"),
        Column.text("against"),
        Column(key="difference", label="difference", unit=unit),
        Column(key="ratio", label="ratio", unit="×"),
        Column(key="p_adjusted", label="p (corrected)", places=3, least=least_p(replicates)),
        Column.text("verdict"),
    )
    shown = rows.head(MOST_PAIRS)
    made = tuple(
        Row.of(
            labels[row.tokenizer],
            labels[row.baseline],
            TableCell.known(row.value, row.ci_low, row.ci_high),
            TableCell.known(row.ratio, why="the other figure is 0"),
            TableCell.known(row.p_adjusted, why="too few documents, or no resamples"),
            _verdict(row),
            lossy="; ".join(str(lost[name]) for name in (row.tokenizer, row.baseline) if name in lost),
            key=row.tokenizer,
        )
        for row in shown.itertuples()
    )
    some = f"{MOST_PAIRS} of {of:,} pairs, those first that lose nothing; all are in comparisons.parquet."
    note = sentences(
        _FAMILY,
        counted_on(run, dataset),
        "Grey: one of the two loses something, so the difference speaks for neither." if lost else "",
        marks_explained(run, {name for row in shown.itertuples() for name in (row.tokenizer, row.baseline)}),
        some if of > MOST_PAIRS else "",
    )
    return Table(f"differences-{metric}", f"{metric} · {dataset_label(run, dataset)}", columns, made, note)


_FAMILY = (
    "Paired by document. Each interval is of its pair by itself; p is corrected for everything compared on "
    "this text: all pairs, metrics and languages (Westfall and Young's maxT). So an interval may leave out 0 "
    "where the difference may be chance."
)


def least_p(replicates: int) -> float:
    """The smallest p-value given as a number: B resamples give none below 1 / (B + 1)."""
    return float(f"{1 / (replicates + 1):.1g}")


def _verdict(row: Any) -> str:
    if row.p_adjusted != row.p_adjusted or row.p_adjusted is None:
        return "not tested"
    return "more than chance" if row.p_adjusted < SURE else "may be chance"
