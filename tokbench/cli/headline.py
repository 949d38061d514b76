"""The headline table of a run, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tokbench.cli.tables import plain_console, show_table
from tokbench.wording import beginning, listed, without_name

if TYPE_CHECKING:
    from tokbench.reports.table import ShownCell, Table
    from tokbench.results import Run


def print_headline(run: Run) -> None:
    """Print one row per tokenizer and dataset, and below it what was skipped or failed, with the remedies."""
    from tokbench.plots.labels import run_labels
    from tokbench.plots.losses import EXPLAINED, hard_losses, losses
    from tokbench.reports.decision import decided, undecided
    from tokbench.reports.reasons import gaps
    from tokbench.reports.training import fewer_notes, how_much, trained_on

    console = plain_console()
    lossy, labels = losses(run), run_labels(run)
    names = {entry["spec"]: entry.get("label") or entry["spec"] for entry in run.manifest["datasets"]}
    for dataset in run.datasets:
        console.print(names[dataset], style="bold", soft_wrap=True)
        if not (table := _figures(run, dataset)).rows:
            console.print(f" nothing was measured: {_reason(run, dataset)}\n")
            continue
        _print_figures(table)
        console.print()
    measured = run.frame[run.frame["value"].notna()]
    if {"encode_speed", "encode_speed_cold"} <= {*measured["metric"]}:
        console.print("MB/s first is of text that was never met before, again of text that was.")
    wanted = run.manifest.get("suite", {}).get("metrics") or ()
    for name in wanted:
        if why := in_vain(run, name):
            console.print(f"{name}: not measured on anything: {why}")
    measured_at_all, over_all = {*measured["metric"]}, {*measured.loc[measured["language"] == "all", "metric"]}
    if apart := [name for name in dict.fromkeys(wanted) if name in measured_at_all - over_all]:
        console.print(f"{listed(apart)}: by language only, in measurements.csv and the reports")
    for entry in run.manifest["tokenizers"]:
        if also := entry.get("also"):
            console.print(f"{listed(list(also))}: the same tokenizer as {entry['typed']}, so there is one row")
    for name, loss in lossy.items():
        console.print(f"{labels[name]}: {loss}")
    for name, loss in hard_losses(run).items():
        console.print(f"{labels[name]}: gives all natural text back; of cases made to be hard, {loss}")
    for mark in sorted({loss.mark for loss in lossy.values()}):
        console.print(EXPLAINED[mark])
    if decision := decided(run):
        said = [decision.sentences[0], f"Weights: {decision.weighed} (--weights changes them)."]
        console.print(" ".join([*said, *gaps(run, decision.weights, decision.known, vague=decision.vague)]))
    elif why := undecided(run):
        console.print(why)
    for dataset in run.datasets:
        if flattered := trained_on(run, dataset):
            console.print(
                f"trained on the text of {names[dataset]}{how_much(run, dataset)}, "
                f"which flatters their figures on it: {', '.join(labels[name] for name in flattered)}"
            )
    for note in fewer_notes(run):
        console.print(note)
    for entry in run.manifest.get("skipped", []):
        console.print(f"skipped: {entry['spec']}: {without_name(entry['reason'], entry['spec'])}")
    for line in _failures(run):
        console.print(line)


def _failures(run: Run) -> Iterator[str]:
    """A line for each failure of a tokenizer, or for one of all of them, as over a dataset without text."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for entry in run.failures:
        if entry["tokenizer"] is None:  # no tokenizer's: said when everything is done
            continue
        remedy = f" ({entry['remedy']})" if entry["remedy"] else ""
        why = beginning(without_name(entry["message"], entry["tokenizer"]))
        said = f"{entry['kind']}: {why}{remedy}"
        alike.setdefault((entry["dataset"], entry["language"], said), []).append(entry["tokenizer"])
    for (dataset, language, said), names in alike.items():
        every = 1 < len(names) == len(run.tokenizers)
        for name in [f"all {len(names)} tokenizers"] if every else names:
            yield f"failed: {' · '.join(filter(None, (name, dataset, language)))}: {said}"


def _figures(run: Run, dataset: str) -> Table:
    """The metrics of the headline, else the tokens counted; without rows where nothing was measured."""
    from tokbench.reports.chosen import headline_metrics, metric_facts
    from tokbench.reports.figures import is_share
    from tokbench.reports.table import Cells, Column, Table, tokenizer_rows

    facts, frame = metric_facts(run), run.frame
    rows = frame[(frame["language"] == "all") & frame["dataset"].isin([dataset, ""])]
    measured = rows[rows["value"].notna()]
    units = dict(zip(measured["metric"], measured["unit"].map(str), strict=True))
    names = headline_metrics(run, dataset, "terminal") or [name for name in ("tokens",) if name in units]
    columns = [Column.text("tokenizer")]
    for name in names:
        unit = units[name].partition(" (")[0]
        base, options, given = name.partition(":")  # which are typed as they stand
        head = (name in facts and facts[name].heading) or f"{base.replace('_', ' ')}{options}{given}"
        columns.append(Column(key=name, label=head, unit=unit, places=1 if is_share(unit) else None))
    there = run.tokenizers if names and (measured["dataset"] == dataset).any() else ()
    cells = Cells.of(rows, "metric", "tokenizer")
    figures = {tokenizer: [cells[name, tokenizer] for name in names] for tokenizer in there}
    return Table("headline", dataset, tuple(columns), tokenizer_rows(run, figures))


def _print_figures(table: Table) -> None:
    """The figures of one dataset, all of them in any width."""
    heads = [
        column.heading if column.divisor not in (None, 1) or column.key == "cost" else column.label
        for column in table.columns
    ]
    show_table(heads, (map(_cell, row) for row in table.shown), right=heads[1:])


def _reason(run: Run, dataset: str) -> str:
    """Why a dataset has no figure at all: every tokenizer failed on it, or no metric applies."""
    failed = run.frame.loc[run.frame["dataset"] == dataset, "status"].str.startswith("failed").any()
    return "it failed" if failed else "none of the metrics applies to it"


def in_vain(run: Run, metric: str) -> str:
    """Why a metric that was asked for by name has no figure at all; empty where it has one, or all failed."""
    from tokbench.metrics.speed import METRICS
    from tokbench.results.frames import why_unmeasured

    failed = run.frame.loc[run.frame["metric"] == metric, "status"].str.startswith("failed")
    if not len(failed) and not run.manifest["suite"]["speed"] and metric in {each.name for each in METRICS}:
        return "it is timed, and this run times nothing (--no-speed)"
    return "" if len(failed) and failed.all() else why_unmeasured(run.frame, metric)


def _cell(cell: ShownCell) -> str:
    from tokbench.reports.figures import is_share

    if cell.measured:
        return f"{cell.text} %" if is_share(cell.column.unit) else cell.text
    return "failed" if getattr(cell.content, "why", "").startswith("failed") else cell.text
