"""A page that compares two runs: what changed by more than chance, and what may have caused it.

The verdicts come from `tokbench.results.comparison`; this module only lays them out, in the style of the
report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from tokbench.metrics.context import REPLICATES
from tokbench.metrics.measurement import ALL
from tokbench.plots import data
from tokbench.plots.labels import dataset_labels, language_label, tokenizer_labels
from tokbench.reports.differences import least_p
from tokbench.reports.figures import decimals
from tokbench.reports.gates import VERDICTS, setting, worst_first
from tokbench.reports.html.details import definitions, provenance
from tokbench.reports.html.page import Page, Section, in_its_look
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.results import Run
from tokbench.results.atomic import write_text
from tokbench.results.comparison import Change

MOST = 2000
"""The most rows of a table of single languages; the largest changes come first."""

_MEANS = {"appeared": "measured only after", "vanished": "measured only before"}


def write_comparison(
    before: Run, after: Run, path: Path, *, figures: pd.DataFrame, facts: Sequence[Change]
) -> None:
    """Write a page that compares two runs to `path`: their compared `figures`, and the `facts` that differ."""
    write_text(path, in_its_look(_page(before, after, figures, facts)))


def figures_table(
    figures: pd.DataFrame,
    *,
    name: str,
    title: str,
    least: float | None = None,
    kind: Callable[[str], str] = lambda dataset: "text",
) -> Table:
    """Compared figures as a table: what got worse first, and the largest changes of each verdict first.

    `least` is the smallest possible p-value; `kind` returns the kind of a dataset, which decides how languages
    are named.
    """
    labels, datasets = tokenizer_labels(figures["tokenizer"]), dataset_labels(figures["dataset"].dropna())
    single = bool((figures["language"] != ALL).any())
    texts = ("tokenizer", "dataset", *(("language",) if single else ()), "metric", "verdict")
    columns = [Column.text(key) for key in texts]
    columns += [Column(key="change", label="change", unit="share", places=2)]
    columns += [Column(key="before", label="before"), Column(key="after", label="after")]
    columns += [Column(key="p", label="p (corrected)", places=3, least=least)]
    made = tuple(
        Row(
            (
                labels[row.tokenizer],
                datasets[row.dataset] if row.dataset else "",
                *((language_label(row.language, kind(row.dataset)),) if single else ()),
                row.metric,
                _MEANS.get(row.verdict, row.verdict),
                TableCell.known(row.change, why="not measured"),
                TableCell.known(row.before, row.before_low, row.before_high, why="not measured"),
                TableCell.known(row.after, row.after_low, row.after_high, why="not measured"),
                TableCell.known(row.p, why="not paired"),
            ),
            key=row.tokenizer,
            places=_places(
                row.before, row.after, row.before_low, row.before_high, row.after_low, row.after_high
            ),
        )
        for row in worst_first(figures).head(MOST).itertuples()
    )
    return Table(name, title, tuple(columns), made)


def _places(*values: float) -> int:
    """The decimal places of figures and their intervals, for five digits if possible; 0 for whole numbers."""
    known = [value for value in values if math.isfinite(value)]
    return 0 if all(float(value).is_integer() for value in known) else decimals(known, digits=5)


def facts_table(facts: Sequence[Change]) -> Table:
    """The differences in versions, files, machine and settings, which may be the cause."""
    columns = tuple(Column.text(key) for key in ("what", "before", "after"))
    rows = tuple(Row((fact.name, _text(fact.before), _text(fact.after))) for fact in facts)
    return Table("facts", "Versions, files, settings", columns, rows)


def _text(value: object) -> str:
    return "" if value is None else setting(value)


def _page(before: Run, after: Run, figures: pd.DataFrame, facts: Sequence[Change]) -> Page:
    overall, least = figures[figures["language"] == ALL], least_p(REPLICATES)
    single = figures[figures["language"] != ALL]

    def kind(dataset: str) -> str:
        return data.kind(after if dataset in after.datasets else before, dataset)

    by_language = figures_table(single, name="languages", title="Language by language", least=least, kind=kind)
    tables = {"languages": by_language, "facts": facts_table(facts)}
    headline = figures_table(overall, name="changes", title="Overall", least=least)
    sections = [
        Section("answer", "What changed"),
        *(Section(name, table.title, panels=[table]) for name, table in tables.items() if table.rows),
        Section("definitions", "How each figure is defined", html=definitions(after)),
        Section("provenance", "Provenance of the run after", html=provenance(after)),
    ]
    return Page(
        title=f"{before.name} → {after.name}",
        answer=_answer(figures),
        scope=f"{before.name} against {after.name}. A figure counts as better or worse if it "
        "changed by more than the threshold and by more than chance. On the same text, a test that pairs the "
        "two runs document by document decides that; otherwise the two intervals must not overlap. Unsure: "
        "the change may be chance, the figure was timed only once, or its unit changed.",
        headlines=[headline],
        sections=sections,
    )


def _answer(figures: pd.DataFrame) -> str:
    """A sentence with the number of each verdict."""
    if figures.empty:
        return "The two runs have no figures in common."
    counts = figures["verdict"].value_counts()
    said = [f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict in counts and verdict != "same"]
    same = int(counts.get("same", 0))
    if not said:
        return f"Nothing changed: all figures ({same:,}) are the same."
    return f"Of {len(figures):,} figures: {', '.join(said)}" + (f"; {same:,} the same." if same else ".")
