"""The tables of a report, the same in every format: headline, by language, fairness, definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, explained, language_label, run_labels
from tokbench.plots.losses import best_first, fairest_first, losses
from tokbench.reports import marks
from tokbench.reports.chosen import headline_metrics, metric_facts
from tokbench.reports.figures import decimals, typical
from tokbench.reports.marks import BOLD
from tokbench.reports.sizes import caveat_of, counted_on
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.reports.training import fewer_notes, training_marks, training_notes
from tokbench.wording import in_unit

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.metrics import Metric
    from tokbench.results import Run

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
    """What the words of a unit are, where that is said and not the usual.

    Example:
        >>> _words("tokens/word (UAX #29: one per character in this script)"), _words("tokens/word (UAX #29)")
        ('one per character in this script', '')
    """
    return unit.partition(" (UAX #29: ")[2].removesuffix(")")


def spaced(name: str) -> str:
    """The name of a metric as a heading: words that can wrap, names as their owners write them."""
    return " ".join(_WRITTEN.get(word, word) for word in name.split("_"))


_WRITTEN = {"renyi": "Rényi", "gini": "Gini", "shannon": "Shannon", "zipf": "Zipf", "nsl": "NSL", "unk": "UNK",
            "cer": "CER", "vocab": "vocabulary", "macro": "(mean of languages)",
            "cold": "(first pass)"}  # fmt: skip


def headlines(run: Run) -> dict[str, Table]:
    """The headline of each natural dataset on which something was measured that stands in one."""
    return {
        name: headline(run, name)
        for name in data.natural_datasets(run)
        if headline_metrics(run, name) and (run.frame["dataset"] == name).any()
    }


def headline(run: Run, dataset: str, more: Sequence[str] = ()) -> Table:
    """One row a tokenizer, ranked over a whole dataset; vocabulary size and what it was trained on beside it.

    Ranked by compression, of several languages the mean over them; where that was not measured, by the first
    metric with a direction. Those that lose something come after those that do not. Metrics of `more` are there
    in any case, as far as they were measured.
    """
    facts = metric_facts(run)
    frame = run.frame
    rows = frame[(frame["language"] == data.OVERALL) & frame["dataset"].isin([dataset, ""])]
    by_key = {(row.tokenizer, row.metric): row for row in rows.itertuples()}
    fine = [name for name in facts if _constant(name, by_key)]
    shown = headline_metrics(run, dataset, without=fine) or headline_metrics(run, dataset)
    measured = {metric for (_, metric), row in by_key.items() if row.value == row.value}
    shown += [name for name in more if name in measured and name not in shown]
    units = {metric: str(row.unit) for (_, metric), row in by_key.items() if row.value == row.value}
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
    labels, lost, sizes = run_labels(run), losses(run), vocabulary_sizes(run)
    learnt = training_marks(run, dataset)
    made = [
        Row(
            (
                f"{labels[name]} {learnt.get(name, '')}".rstrip(),
                *(TableCell.of(by_key.get((name, key))) for key in shown),
                TableCell(value=sizes.get(name)),
            ),
            lossy=str(lost.get(name, "")),
            key=name,
        )
        for name in names
    ]
    best = frozenset(
        (names.index(name), index)
        for index, column in enumerate(columns)
        if column.key in shown
        for name in marks.best(run, column.key, dataset, column.better, _values(by_key, column.key))
    )
    said = [BOLD if best else marks.nothing_bold(run, shown, dataset)]
    said += ["" if first is None else f"Ranked by {first.label}.", explained(run)]
    said += [*training_notes(run, dataset), *fewer_notes(run)]
    if "encode_speed" in shown:
        unseen = data.first_pass(run, dataset)
        said += [f"Encode speed: {unseen}; again, over a little of it." if unseen else "", data.busy(run)]
    note = " ".join([*filter(None, said), counted_on(run, dataset)])
    return Table(
        f"headline-{_slug(dataset)}", dataset_label(run, dataset), tuple(columns), tuple(made), note, best
    )


def _named_apart(column: Column, metric: str, what: str) -> Column:
    """The column; that of `metric` with `what` tells it from one of the same name: pooled, or again."""
    return replace(column, label=f"{column.label} ({what})") if column.key == metric else column


def _values(by_key: Mapping[tuple[str, str], Any], metric: str) -> dict[str, float]:
    """The figures of a metric that were measured, by tokenizer."""
    return {
        name: float(row.value)
        for (name, of), row in by_key.items()
        if of == metric and row.value is not None and row.value == row.value
    }


_FINE = {"round_trip": 1.0, "unk_rate": 0.0}
"""Metrics of loss, each with its value where nothing is lost: else shown first, and never ranked by."""


def _constant(name: str, by_key: Mapping[tuple[str, str], Any]) -> bool:
    """Whether a column would only say that nothing went wrong."""
    fine = _FINE.get(name)
    found = [row.value for (_, metric), row in by_key.items() if metric == name]
    return fine is not None and all(value == fine for value in found)


def ranks_by(run: Run, dataset: str, columns: Sequence[Column]) -> Column | None:
    """The column that a headline is ranked by, or None where none has a direction."""
    by = [column for column in columns if column.better in ("higher", "lower") and column.key not in _FINE]
    return next(
        (column for column in by if column.key == data.main_metric(run, dataset)), by[0] if by else None
    )


def vocabulary_sizes(run: Run) -> dict[str, float]:
    """Vocabulary size by tokenizer, as the manifest states it."""
    return {
        entry["spec"]: float(entry["vocab_size"])
        for entry in run.manifest["tokenizers"]
        if entry.get("vocab_size")  # 0 where it is not known
    }


def by_language(run: Run, metric: str, dataset: str) -> Table:
    """A metric by language (rows, with code, name, script and family) and tokenizer (columns)."""
    facts = metric_facts(run)
    labels = run_labels(run)
    measured = run.frame[(run.frame["metric"] == metric) & (run.frame["dataset"] == dataset)]
    cells = {(row.language, row.tokenizer): TableCell.of(row) for row in measured.itertuples()}
    units = {str(row.language): str(row.unit) for row in measured.itertuples() if row.value == row.value}
    details = {language: _words(unit) for language, unit in units.items()}
    differ = len({*details.values()}) > 1
    noted = {language: f" ({told})" for language, told in details.items() if told and differ}
    held = {name for (_, name), cell in cells.items() if cell.value is not None}
    there = [name for name in run.tokenizers if name in held]
    # where words are characters in some languages only, these say so, and not the heading of all
    unit = next(iter(units.values()), "")
    column = metric_column(metric, facts, unit.partition(" (")[0] if differ else unit)
    columns = [Column.text("language")]
    divisor, _ = in_unit(typical(cell.value for cell in cells.values()), column.unit)  # one for all of them
    columns += [replace(column, key=name, label=labels[name], help="", divisor=divisor) for name in there]
    rows = [
        Row(
            (
                language_label(code, data.kind(run, dataset)) + noted.get(code, ""),
                *(cells.get((code, name), TableCell(why="not measured")) for name in there),
            ),
            key=code,
        )
        for code in run.languages(dataset)
    ]
    rows = [
        row for row in rows if any(isinstance(cell, TableCell) and cell.value is not None for cell in row.cells)
    ]
    best = frozenset(
        (index, 1 + there.index(name))
        for index, row in enumerate(rows)
        for name in marks.best(run, metric, dataset, column.better, _of_row(row, there), row.key)
    )
    title = f"{metric} · {dataset_label(run, dataset)}"
    said = (
        f"{column.help}." if column.help else "",
        ALONG if best else "",
        counted_on(run, dataset),
        caveat_of(run, dataset) if metric in _BETWEEN else "",
    )
    note = " ".join(filter(None, said))
    return Table(f"{metric}-{_slug(dataset)}", title, tuple(columns), tuple(rows), note, best)


def _of_row(row: Row, names: Sequence[str]) -> dict[str, float]:
    """The figures of a row of single languages, by tokenizer."""
    cells = zip(names, row.cells[1:], strict=True)
    return {name: cell.value for name, cell in cells if isinstance(cell, TableCell) and cell.value is not None}


_BETWEEN = ("premium", "tokens_per_line")
"""Metrics that compare languages with one another."""


def overall_metrics(run: Run, dataset: str) -> Table:
    """Every metric over all languages of a dataset: metrics down, tokenizers across."""
    facts = metric_facts(run)
    labels = run_labels(run)
    frame = run.frame
    rows = frame[(frame["language"] == data.OVERALL) & (frame["dataset"] == dataset)]
    rows = rows[rows["metric"].isin(rows.loc[rows["value"].notna(), "metric"])]
    cells = {(row.metric, row.tokenizer): TableCell.of(row) for row in rows.itertuples()}
    units = dict(zip(rows["metric"], rows["unit"], strict=True))
    there = [name for name in run.tokenizers if name in set(rows["tokenizer"])]
    columns = [
        Column.text("metric"),
        Column.text("unit"),
    ]
    columns += [Column(key=name, label=labels[name]) for name in there]
    names = sorted(units, key=lambda name: (list(facts).index(name) if name in facts else len(facts), name))
    figures = {name: [cells.get((name, key), TableCell(why="not measured")) for key in there] for name in names}
    made = []
    for name in names:
        divisor, unit = in_unit(typical(cell.value for cell in figures[name]), units[name] or "")
        places = decimals(cell.value and cell.value / divisor for cell in figures[name])
        made.append(Row((name, unit, *figures[name]), key=name, places=places, divisor=divisor))
    return Table(
        f"all-{_slug(dataset)}",
        dataset_label(run, dataset),
        tuple(columns),
        tuple(made),
        counted_on(run, dataset),
    )


def fairness(run: Run, dataset: str) -> Table:
    """Each tokenizer's spread over languages: Gini, the median and the costliest language's premium."""
    premiums = data.by_language(run, "premium", dataset)
    if premiums.empty:
        return Table("fairness", dataset_label(run, dataset), (), ())
    labels, lost = run_labels(run), losses(run)
    known = data.intervals(run, "premium", dataset)
    costliest = {name: str(premiums[name].idxmax()) for name in premiums}
    ginis = {row.tokenizer: TableCell.of(row) for row in data.overall(run, "gini", dataset).itertuples()}
    columns = (
        Column.text("tokenizer"),
        metric_column("gini", metric_facts(run)),
        Column(key="median_premium", label="median premium", unit="×"),
        Column(key="highest_premium", label="highest premium", unit="×", better="lower"),
        Column.text("costliest", "costliest language"),
        Column.text("reference", "reference language"),
    )
    names = fairest_first(run, dataset)
    learnt = training_marks(run, dataset)
    rows = [
        Row(
            (
                f"{labels[name]} {learnt.get(name, '')}".rstrip(),
                ginis.get(name, TableCell(why="not measured")),
                TableCell(value=float(premiums[name].median())),
                TableCell.known(float(premiums[name].max()), *known.get((costliest[name], name), ())),
                language_label(costliest[name]),
                reference_of(run, premiums[name]),
            ),
            lossy=str(lost.get(name, "")),
            key=name,
        )
        for name in names
    ]
    values = {name: cell.value for name, cell in ginis.items() if cell.value is not None}
    best = frozenset((names.index(name), 1) for name in marks.best(run, "gini", dataset, "lower", values))
    said = (explained(run), BOLD if best else "", *training_notes(run, dataset))
    said += (counted_on(run, dataset), caveat_of(run, dataset))
    return Table(
        "fairness", dataset_label(run, dataset), columns, tuple(rows), " ".join(filter(None, said)), best
    )


def reference_of(run: Run, premiums: pd.Series[float]) -> str:
    """The language that premiums are relative to: the one chosen, else the cheapest, whose premium is 1."""
    chosen = run.manifest.get("suite", {}).get("reference")
    there = [str(code) for code, value in premiums.items() if value == 1]
    if chosen in there or not there:
        return language_label(str(chosen)) if chosen in there else ""
    return language_label(there[0])


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
