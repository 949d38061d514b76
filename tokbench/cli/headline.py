"""The headline table of a run, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench.cli.tables import plain_console
from tokbench.wording import listed, without_name

if TYPE_CHECKING:
    from rich.console import Console

    from tokbench.results import Run

_NAME, _NARROW_NAME = 28, 20
"""The least width of the tokenizers' column: with headings in one line, and with headings broken."""


def print_headline(run: Run) -> None:
    """Print one row per tokenizer and dataset, and below it what was skipped or failed, with the remedies."""
    from tokbench.plots.labels import run_labels
    from tokbench.plots.losses import EXPLAINED, hard_losses, losses
    from tokbench.reports.decision import decided
    from tokbench.reports.training import fewer_notes, how_much, trained_on

    console = plain_console()
    rows = run.frame[run.frame["language"] == "all"]
    values = {(r.tokenizer, r.dataset, r.metric): r for r in rows.itertuples()}
    lossy, labels = losses(run), run_labels(run)
    names = {entry["spec"]: entry.get("label") or entry["spec"] for entry in run.manifest["datasets"]}
    for dataset in run.datasets:
        measured = any(d == dataset and row.value == row.value for (_, d, _), row in values.items())
        columns = _columns(run, dataset) if measured else []
        if not columns:
            console.print(names[dataset], style="bold", soft_wrap=True)
            console.print(f" nothing was measured: {_reason(run, dataset)}\n")
            continue
        shown = {
            labels[tokenizer]: [
                _cell(
                    values.get((tokenizer, dataset, name)) or values.get((tokenizer, "", name)), divisor, places
                )
                for name, _, divisor, places in columns
            ]
            for tokenizer in run.tokenizers
        }
        _print_figures(console, names[dataset], [head for _, head, *_ in columns], shown)
        console.print()
    wanted = run.manifest.get("suite", {}).get("metrics") or ()
    for name in wanted:
        if why := in_vain(run, name):
            console.print(f"{name}: not measured on anything: {why}")
    measured_at_all, over_all = ({*each.loc[each["value"].notna(), "metric"]} for each in (run.frame, rows))
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
        console.print(f"{decision.sentences[0]} Weights: {decision.weighed} (--weights changes them).")
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
        said = f"{entry['kind']}: {without_name(entry['message'], entry['tokenizer'])}{remedy}"
        alike.setdefault((entry["dataset"], entry["language"], said), []).append(entry["tokenizer"])
    for (dataset, language, said), names in alike.items():
        every = 1 < len(names) == len(run.tokenizers)
        for name in [f"all {len(names)} tokenizers"] if every else names:
            yield f"failed: {' · '.join(filter(None, (name, dataset, language)))}: {said}"


def _columns(run: Run, dataset: str) -> list[tuple[str, str, float, int | str]]:
    """The metrics of the headline: name, heading, what figures are divided by, places (% of shares).

    Where none of those has a figure, the tokens that were counted are there.
    """
    from tokbench.reports.chosen import headline_metrics, metric_facts
    from tokbench.reports.figures import decimals, is_share, typical
    from tokbench.wording import in_unit

    facts = metric_facts(run)
    frame = run.frame[(run.frame["language"] == "all") & run.frame["value"].notna()]
    frame = frame[frame["dataset"].isin([dataset, ""])]
    columns: list[tuple[str, str, float, int | str]] = []
    names = headline_metrics(run, dataset, "terminal")
    if not names and (frame["metric"] == "tokens").any():
        names = ["tokens"]
    for name in names:
        rows = frame[frame["metric"] == name]
        unit = str(rows["unit"].iloc[0]).partition(" (")[0]
        head = (name in facts and facts[name].heading) or name.replace("_", " ")
        divisor, unit = in_unit(typical(rows["value"]), unit)
        head = f"{head} ({unit})" if divisor > 1 or (name == "cost" and unit) else head
        places = "%" if is_share(unit) else decimals(rows["value"] / divisor)
        columns.append((name, head, divisor, places))
    return columns


def _print_figures(
    console: Console, title: str, heads: Sequence[str], shown: Mapping[str, Sequence[str]]
) -> None:
    """The figures of one dataset, all of them in any width: a table, or a paragraph for each tokenizer."""
    console.print(title, style="bold", soft_wrap=True)
    broken = [
        "\n".join(word if len(word) <= len("failed") else word.replace("/", "/\n") for word in head.split(" "))
        for head in heads
    ]
    if _width(heads, shown, _NAME) <= console.width:
        headings, least = heads, _NAME
    elif _width(broken, shown, _NARROW_NAME) <= console.width:
        headings, least = broken, _NARROW_NAME
    else:
        for name, cells in shown.items():
            figures = ", ".join(f"{head} {cell}" for head, cell in zip(heads, cells, strict=True))
            console.print(f" {name}\n   {figures}")
        return
    from rich.table import Table

    table = Table(box=None)
    table.add_column("tokenizer", overflow="fold", min_width=least)
    for head in headings:
        table.add_column(head, justify="right", no_wrap=True)
    for name, cells in shown.items():
        table.add_row(name, *cells)
    console.print(table)


def _width(heads: Sequence[str], shown: Mapping[str, Sequence[str]], name: int) -> int:
    """Columns of the terminal that a table takes: a blank either side of each cell, figures unbroken."""
    columns = zip(heads, *shown.values(), strict=True)
    widths = (max(len(line) for cell in cells for line in cell.split("\n")) for cells in columns)
    return name + 2 + sum(width + 2 for width in widths)


def _reason(run: Run, dataset: str) -> str:
    """Why a dataset has no figure at all: every tokenizer failed on it, or no metric applies."""
    failed = run.frame.loc[run.frame["dataset"] == dataset, "status"].str.startswith("failed").any()
    return "it failed" if failed else "none of the metrics applies to it"


def in_vain(run: Run, metric: str) -> str:
    """Why a metric that was asked for by name has no figure at all; empty where it has one, or failed."""
    from tokbench.results.frames import why_unmeasured

    statuses = run.frame.loc[run.frame["metric"] == metric, "status"]
    return "" if statuses.str.startswith("failed").any() else why_unmeasured(run.frame, metric)


def _cell(row: Any, divisor: float, places: int | str) -> str:
    from tokbench.reports.figures import shown

    if row is None or row.value != row.value:
        return "–" if row is None or not row.status.startswith("failed") else "failed"
    if isinstance(places, int):
        return shown(row.value / divisor, places)
    return shown(100 * row.value, 1, whole=100) + places
