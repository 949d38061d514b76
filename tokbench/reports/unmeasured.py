"""What a report lacks, and why: metrics without figures, plots not drawn, failures and skips."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.extension import Plot
from tokbench.reports.table import Column, Row, Table
from tokbench.results import Run
from tokbench.wording import beginning, without_name


def undefined(run: Run) -> Table:
    """The metrics without any figure in the run, with the reasons."""
    frame = run.frame
    measured = set(frame.loc[frame["value"].notna(), "metric"])
    rows = frame[~frame["metric"].isin(measured) & ~frame["status"].str.startswith("failed")]
    reasons = rows.groupby("metric", sort=False)["status"].unique()
    columns = Column.text("metric"), Column.text("why")
    made = tuple(
        Row((str(name), "; ".join(status.removeprefix("undefined: ") for status in statuses[:3])))
        for name, statuses in reasons.items()
    )
    return Table("undefined", "Not measured in this run", columns, made)


def not_drawn(plots: Sequence[Plot]) -> Table:
    """The plots that could not be drawn, with what they need."""
    rows = tuple(Row((each.title, each.needs)) for each in plots)
    return Table("not-drawn", "Figures not drawn", (Column.text("figure"), Column.text("needs")), rows)


def failures(run: Run) -> Table:
    """What was not measured and what to do about it, also for optional tokenizers that are not available."""
    keys = ("tokenizer", "dataset", "language", "kind", "message", "remedy")
    skipped = (
        {**each, "tokenizer": each.get("spec"), "kind": "skipped", "message": each.get("reason")}
        for each in run.manifest.get("skipped", ())
    )
    columns = tuple(Column.text(key) for key in keys)
    rows = tuple(
        Row.of(
            *(str(each.get(key) or "") for key in keys[:4]),
            beginning(without_name(str(each.get("message") or ""), str(each.get("tokenizer")))),
            str(each.get("remedy") or ""),
        )
        for each in [*run.failures, *skipped]
    )
    return Table("failures", "Failures and skips", columns, rows)
