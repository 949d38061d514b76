"""The tables of a report, the same in every format: headline, by language, fairness, definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from tokbench.metrics import Metric
from tokbench.metrics.measurement import ALL
from tokbench.plots import data
from tokbench.plots.captions import explained, marks_explained
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.plots.losses import best_first, fairest_first
from tokbench.reports import marks
from tokbench.reports.chosen import asked, headline_metrics, metric_facts
from tokbench.reports.figures import decimals, typical
from tokbench.reports.marks import BOLD
from tokbench.reports.sizes import caveat_of, counted_on
from tokbench.reports.table import Cells, Column, Row, Table, TableCell, tokenizer_rows
from tokbench.reports.training import fewer_notes, training_marks, training_notes
from tokbench.results import Run
from tokbench.wording import in_unit, sentences

ALONG = "Bold: the best of its language, and those that the paired test does not tell apart from it."


def metric_column(name: str, facts: Mapping[str, Metric], unit: str = "") -> Column:
    """The column of a metric."""
    metric = facts.get(name)
    if metric is None:
        return Column(key=name, label=spaced(name), unit=unit)
    words = ". ".join(part.rstrip(".") for part in (metric.summary, metric.caveat) if part)
    given, measured = unit, unit.partition(" (")[0]
    unit = measured if unit and metric.unit.startswith("currency") else metric.unit
    if told := _words(given):
        unit += f", {told}"
    return Column(key=name, label=spaced(name), unit=unit, better=metric.better, help=words)


def _words(unit: str) -> str:
    """How a unit says that words are cut, if it is not the usual way.

    Example:
        >>> _words("tokens/word (UAX #29: one per character in this script)"), _words("tokens/word (UAX #29)")
        ('one per character in this script', '')
    """
    return unit.partition(" (UAX #29: ")[2].removesuffix(")")


def spaced(name: str) -> str:
    """The name of a metric as a heading: separate words, with proper names in their own spelling."""
    return " ".join(_WRITTEN.get(word, word) for word in name.split("_"))


_WRITTEN = {"renyi": "Rényi", "gini": "Gini", "shannon": "Shannon", "zipf": "Zipf", "nsl": "NSL", "unk": "UNK",
            "cer": "CER", "vocab": "vocabulary", "macro": "(mean of languages)",
            "cold": "(first pass)"}  # fmt: skip


def headlines(run: Run) -> dict[str, Table]:
    """The headline of each natural dataset with figures for it."""
    return {
        name: headline(run, name)
        for name in data.natural_datasets(run)
        if headline_metrics(run, name) and (run.frame["dataset"] == name).any()
    }


def headline(run: Run, dataset: str, *, metrics: Sequence[str] = (), rows: Sequence[str] = ()) -> Table:
    """One row for each tokenizer, ranked over a whole dataset, with vocabulary size and training text.

    Ranked by compression (with several languages, by their mean), or, if that was not measured, by the first
    metric with a direction. Lossless tokenizers come first. If `metrics` or `rows` (tokenizers) are given, only
    these are shown, in this order, if they were measured; bold figures and the note then refer to them only.
    """
    facts = metric_facts(run)
    frame = run.frame
    here = frame[(frame["language"] == ALL) & frame["dataset"].isin([dataset, ""])]
    cells, units = Cells.of(here, "metric", "tokenizer"), _units(here, "metric")
    fine = [
        name
        for name, value in _FINE.items()
        if name not in asked(run) and (here.loc[here["metric"] == name, "value"] == value).all()
    ]
    shown = headline_metrics(run, dataset, without=fine) or headline_metrics(run, dataset)
    shown += [name for name in metrics if name in units and name not in shown]
    columns = [metric_column(name, facts, units.get(name, "")) for name in shown]
    columns.insert(0, Column.text("tokenizer"))
    columns.append(Column(key="vocab_size", label="vocabulary", unit="ids", places=0))
    if "compression_ratio_macro" in shown:
        columns = [_named_apart(column, "compression_ratio", "pooled") for column in columns]
    if "encode_speed_cold" in shown:
        columns = [_named_apart(column, "encode_speed", "again") for column in columns]
    first = ranks_by(run, dataset, columns)
    names = [] if first is None else best_first(run, first.key, dataset, higher=first.better == "higher")
    names += [name for name in run.tokenizers if name not in names]
    names = [name for name in rows if name in names] or names
    if metrics:
        by_key = {column.key: column for column in columns}
        columns = [columns[0], *(by_key[name] for name in metrics if name in by_key)]
        shown = [name for name in metrics if name in shown]
    sizes = vocabulary_sizes(run)
    cells |= {("vocab_size", name): TableCell(value=sizes.get(name)) for name in names}
    figures = {name: [cells[column.key, name] for column in columns[1:]] for name in names}
    made = tokenizer_rows(run, figures, marks=training_marks(run, dataset))
    best = frozenset(
        (names.index(name), index)
        for index, column in enumerate(columns)
        if column.key in shown
        for name in marks.best(run, column.key, dataset, column.better, cells.values_of(column.key, names))
    )
    speeds = {"encode_speed", "encode_speed_cold"} & {*shown}
    timed = data.shown_pass(run, dataset) if speeds else ""
    again = "; again, over a little of it" if len(speeds) > 1 else ""
    note = sentences(
        BOLD if best else marks.nothing_bold(run, shown, dataset),
        "" if first is None or rows else f"Ranked by {first.label}.",
        explained(run, names),
        *training_notes(run, dataset, names),
        *fewer_notes(run, names),
        f"Encode speed: {timed}{again}." if timed else "",
        data.busy(run) if speeds else "",
        counted_on(run, dataset, tuple(names)),
    )
    return Table(f"headline-{_slug(dataset)}", dataset_label(run, dataset), tuple(columns), made, note, best)


def _named_apart(column: Column, metric: str, what: str) -> Column:
    """The column; that of `metric` gets `what` added, if another has the same name (pooled, again)."""
    return replace(column, label=f"{column.label} ({what})") if column.key == metric else column


def _units(rows: pd.DataFrame, key: str) -> dict[str, str]:
    """The units of what was measured, by a column of its rows."""
    measured = rows[rows["value"].notna()]
    return dict(zip(measured[key], measured["unit"].map(str), strict=True))


_FINE = {"round_trip": 1.0, "unk_rate": 0.0, "lost_form": 0.0, "lost_spaces": 0.0, "lost_text": 0.0}
"""Metrics of loss, with their values if nothing is lost; then shown only on request, and never ranked by."""


def ranks_by(run: Run, dataset: str, columns: Sequence[Column]) -> Column | None:
    """The column that ranks a headline, or None if no column has a direction."""
    by = [column for column in columns if column.better in ("higher", "lower") and column.key not in _FINE]
    main = data.main_metric(run, dataset)
    return next((column for column in by if column.key == main), by[0] if by else None)


def vocabulary_sizes(run: Run) -> dict[str, float]:
    """Vocabulary size by tokenizer, as the manifest states it."""
    return {
        entry["spec"]: float(entry["vocab_size"])
        for entry in run.manifest["tokenizers"]
        if entry.get("vocab_size")  # 0 if it is not known
    }


def by_language(run: Run, metric: str, dataset: str) -> Table:
    """A metric by language (rows, with code, name, script and family) and tokenizer (columns).

    A metric of loss has no rows if nothing is lost, which the headline shows already.
    """
    facts = metric_facts(run)
    labels = run_labels(run)
    measured = run.frame[(run.frame["metric"] == metric) & (run.frame["dataset"] == dataset)]
    cells, units = Cells.of(measured, "language", "tokenizer"), _units(measured, "language")
    details = {language: _words(unit) for language, unit in units.items()}
    differ = len({*details.values()}) > 1
    noted = {language: f" ({told})" for language, told in details.items() if told and differ}
    held = {name for (_, name), cell in cells.items() if cell.value is not None}
    there = [name for name in run.tokenizers if name in held]
    # where words are characters in some languages only, these say so, and not the heading of all
    unit = next(iter(units.values()), "")
    column = metric_column(metric, facts, unit.partition(" (")[0] if differ else unit)
    columns = [Column.text("language")]
    divisor, _ = in_unit(typical(cell.value for cell in cells.values()), column.unit)  # the same for all
    columns += [replace(column, key=name, label=labels[name], help="", divisor=divisor) for name in there]
    values = {code: cells.values_of(code, there) for code in run.languages(dataset)}
    told = {value for of in values.values() for value in of.values()}
    shown = [] if told == {_FINE.get(metric)} else [code for code in values if values[code]]
    named = {code: language_label(code, data.kind(run, dataset)) + noted.get(code, "") for code in shown}
    rows = tuple(Row.of(named[code], *(cells[code, name] for name in there), key=code) for code in shown)
    best = frozenset(
        (index, 1 + there.index(name))
        for index, code in enumerate(shown)
        for name in marks.best(run, metric, dataset, column.better, values[code], code)
    )
    title = f"{metric} · {dataset_label(run, dataset)}"
    note = sentences(
        f"{column.help}." if column.help else "",
        ALONG if best else "",
        marks_explained(run, there) if shown else "",
        counted_on(run, dataset),
        caveat_of(run, dataset) if metric in _BETWEEN else "",
    )
    return Table(f"{metric}-{_slug(dataset)}", title, tuple(columns), rows, note, best)


_BETWEEN = ("premium", "tokens_per_line")
"""Metrics that compare languages with one another."""


def overall_metrics(run: Run, dataset: str) -> Table:
    """Every metric over all languages of a dataset: metrics as rows, tokenizers as columns."""
    facts = metric_facts(run)
    labels = run_labels(run)
    frame = run.frame
    rows = frame[(frame["language"] == ALL) & (frame["dataset"] == dataset)]
    rows = rows[rows["metric"].isin(rows.loc[rows["value"].notna(), "metric"])]
    cells = Cells.of(rows, "metric", "tokenizer")
    units = dict(zip(rows["metric"], rows["unit"], strict=True))
    there = [name for name in run.tokenizers if name in set(rows["tokenizer"])]
    columns = (
        Column.text("metric"),
        Column.text("unit"),
        *(Column(key=name, label=labels[name]) for name in there),
    )
    names = sorted(units, key=lambda name: (list(facts).index(name) if name in facts else len(facts), name))
    made = []
    for name in names:
        figures = [cells[name, key] for key in there]
        divisor, unit = in_unit(typical(cell.value for cell in figures), units[name] or "")
        places = decimals(cell.value and cell.value / divisor for cell in figures)
        made.append(Row((name, unit, *figures), key=name, places=places, divisor=divisor))
    note = sentences(marks_explained(run, there), counted_on(run, dataset))
    return Table(f"all-{_slug(dataset)}", dataset_label(run, dataset), columns, tuple(made), note)


def fairness(run: Run, dataset: str) -> Table:
    """Each tokenizer's spread over languages: Gini, and the premiums of the median and costliest language."""
    premiums = data.by_language(run, "premium", dataset)
    if premiums.empty:
        return Table("fairness", dataset_label(run, dataset), (), ())
    known = data.intervals(run, "premium", dataset)
    costliest = {name: str(premiums[name].idxmax()) for name in premiums}
    ginis = Cells.of(data.overall(run, "gini", dataset), "tokenizer")
    columns = (
        Column.text("tokenizer"),
        metric_column("gini", metric_facts(run)),
        Column(key="median_premium", label="median premium", unit="×"),
        Column(key="highest_premium", label="highest premium", unit="×", better="lower"),
        Column.text("costliest", "costliest language"),
        Column.text("reference", "reference language"),
    )
    names = fairest_first(run, dataset)
    figures = {
        name: (
            ginis[name],
            float(premiums[name].median()),
            TableCell.known(float(premiums[name].max()), *known.get((costliest[name], name), ())),
            language_label(costliest[name], data.kind(run, dataset)),
            reference_of(run, dataset, premiums[name]),
        )
        for name in names
    }
    rows = tokenizer_rows(run, figures, marks=training_marks(run, dataset))
    values = {name: cell.value for name, cell in ginis.items() if cell.value is not None}
    best = frozenset((names.index(name), 1) for name in marks.best(run, "gini", dataset, "lower", values))
    note = sentences(
        explained(run, names),
        BOLD if best else "",
        *training_notes(run, dataset),
        counted_on(run, dataset),
        caveat_of(run, dataset),
    )
    return Table("fairness", dataset_label(run, dataset), columns, rows, note, best)


def reference_of(run: Run, dataset: str, premiums: pd.Series[float]) -> str:
    """The reference language of premiums: the one chosen, or else the cheapest, whose premium is 1."""
    chosen = run.manifest.get("suite", {}).get("reference")
    there = [str(code) for code, value in premiums.items() if value == 1]
    found = chosen if chosen in there else next(iter(there), None)
    return "" if found is None else language_label(str(found), data.kind(run, dataset))


def definitions(run: Run, metrics: Sequence[str]) -> Table:
    """How each metric of the run is defined, with its source."""
    facts = metric_facts(run)
    keys = ("name", "summary", "formula", "unit", "better", "source", "caveat")
    columns = tuple(Column.text(key) for key in keys)
    rows = tuple(
        Row(tuple(str(getattr(facts[name], key)) for key in keys)) for name in metrics if name in facts
    )
    return Table("definitions", "Definitions", columns, rows)


def _slug(text: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in text).strip("-")
