"""Two runs, before and after: what changed by more than its intervals, and what is only in one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, language_label, tokenizer_labels
from tokbench.reports.markdown import run_title
from tokbench.reports.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.results import Run

KEYS = ["tokenizer", "dataset", "language", "metric"]
MOST = 2000
"""Rows a table of single languages holds at most; the largest changes first."""


def write_comparison(before: Run, after: Run, path: Path) -> None:
    """Write a page that compares two runs to `path`, in the look of the report."""
    from tokbench.reports.html.assemble import assemble, asset
    from tokbench.reports.html.page import TOKENS
    from tokbench.results.atomic import write_bytes

    css = "\n".join([asset("base.css"), asset("report.css"), asset("tokens.css", TOKENS)])
    script = asset("tokens.js", TOKENS) + asset("report.js")
    page = assemble("report.html", css=css, script=script, page=_page(before, after))
    write_bytes(path, page.encode("utf-8", "backslashreplace"))


def changes(before: Run, after: Run) -> pd.DataFrame:
    """Every figure measured in both runs: `KEYS`, `unit`, `before`, `after`, `change`, `ratio`, `verdict`.

    `verdict` is ``changed`` where the two intervals do not meet (or, without intervals, the figures differ),
    else ``same``.
    """
    columns = [*KEYS, "unit", "value", "ci_low", "ci_high"]
    tables = [run.frame[run.frame["value"].notna()][columns] for run in (before, after)]
    both = tables[0].merge(tables[1], on=[*KEYS, "unit"], suffixes=("_before", "_after"))
    both["change"] = both["value_after"] - both["value_before"]
    both["ratio"] = both["value_after"] / both["value_before"].where(both["value_before"] != 0)
    known = both[["ci_low_before", "ci_low_after"]].notna().all(axis=1)
    apart = (both["ci_low_after"] > both["ci_high_before"]) | (both["ci_low_before"] > both["ci_high_after"])
    differs = apart.where(known, both["change"] != 0)
    both["verdict"] = differs.map({True: "changed", False: "same"})
    return both.rename(columns={"value_before": "before", "value_after": "after"})


def changes_table(rows: pd.DataFrame, *, name: str, title: str) -> Table:
    """Changes as a table, what changed first and the largest first."""
    facts_of = _better(rows["metric"])
    labels = tokenizer_labels(rows["tokenizer"])
    rows = rows.assign(size=(rows["ratio"] - 1).abs().fillna(0), first=rows["verdict"] != "changed")
    rows = rows.sort_values(["first", "size"], ascending=[True, False], kind="stable").head(MOST)
    columns = (
        Column(key="tokenizer", label="tokenizer", numeric=False),
        Column(key="dataset", label="dataset", numeric=False),
        Column(key="language", label="language", numeric=False),
        Column(key="metric", label="metric", numeric=False),
        Column(key="before", label="before", places=4),
        Column(key="after", label="after", places=4),
        Column(key="ratio", label="after / before", unit="×", places=3),
        Column(key="verdict", label="verdict", numeric=False),
    )
    made = tuple(
        Row(
            (
                labels[row.tokenizer],
                dataset_label(row.dataset) if row.dataset else "",
                language_label(row.language),
                row.metric,
                Cell(value=row.before, low=row.ci_low_before, high=row.ci_high_before),
                Cell(value=row.after, low=row.ci_low_after, high=row.ci_high_after),
                Cell(value=None if row.ratio != row.ratio else row.ratio, why="before is 0"),
                _verdict(row, facts_of),
            ),
            key=row.tokenizer,
        )
        for row in rows.itertuples()
    )
    return Table(name, title, columns, made)


def _better(metrics: Any) -> dict[str, str]:
    from tokbench.metrics.catalogue import CATALOGUE

    there = set(metrics)
    return {metric.name: metric.better for metric in CATALOGUE if metric.name in there}


def _verdict(row: Any, better: dict[str, str]) -> str:
    if row.verdict == "same":
        return "no difference beyond its interval"
    direction = better.get(row.metric, "none")
    if direction not in ("higher", "lower"):
        return "changed"
    return "better" if (row.change > 0) == (direction == "higher") else "worse"


def only_in_one(before: Run, after: Run) -> Table:
    """Tokenizers, datasets and metrics that one run has and the other lacks."""
    rows = []
    for kind, first, second in (
        ("tokenizer", before.tokenizers, after.tokenizers),
        ("dataset", before.datasets, after.datasets),
        ("metric", before.frame["metric"].unique(), after.frame["metric"].unique()),
    ):
        rows += [Row((kind, str(name), "before only")) for name in first if name not in set(second)]
        rows += [Row((kind, str(name), "after only")) for name in second if name not in set(first)]
    columns = tuple(Column(key=key, label=key, numeric=False) for key in ("kind", "name", "where"))
    return Table("only", "In one run only", columns, tuple(rows))


def _page(before: Run, after: Run) -> Any:
    from tokbench.reports.html.details import definitions, provenance
    from tokbench.reports.html.page import Page, Panel, Section

    found = changes(before, after)
    overall = found[found["language"] == data.OVERALL]
    single = found[found["language"] != data.OVERALL]
    changed = int((overall["verdict"] == "changed").sum())
    first = changes_table(overall, name="changes", title="Over all languages")
    by_language = changes_table(single, name="languages", title="By language")
    panels = [Panel(label="languages", table=by_language)] if by_language.rows else []
    lacking = only_in_one(before, after)
    sections = [
        Section(id="answer", title="What changed"),
        Section(
            id="languages",
            title="Language by language",
            notes=[f"The {MOST:,} largest changes at most."],
            panels=panels,
        ),
        Section(
            id="only",
            title="In one run only",
            panels=[Panel(label="only", table=lacking)] if lacking.rows else [],
        ),
        Section(id="definitions", title="How each figure is defined", html=definitions(after)),
        Section(id="provenance", title="Provenance of the run after", html=provenance(after)),
    ]
    kept = [sections[0], *(section for section in sections[1:] if not section.empty)]
    names = f"{run_title(before)} and {run_title(after)}"
    return Page(
        title=f"{run_title(before)} → {run_title(after)}",
        answer=f"{changed} of {len(overall)} figures changed by more than their intervals.",
        scope=f"Compared over whole datasets: {names}. A change is called one where the two 95 % intervals do not "
        "meet; figures without an interval, where they differ at all.",
        headlines=[Panel(label="changes", table=first)],
        findings=[],
        sections=kept,
    )
