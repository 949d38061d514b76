"""The headline table of a run, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokbench.results import Run

SHOWN = (
    ("compression_ratio", "bytes/token", "{:.2f}"),
    ("fertility", "tokens/word", "{:.2f}"),
    ("vocab_utilization", "vocab used", "{:.1%}"),
    ("renyi_efficiency", "Rényi", "{:.3f}"),
    ("gini", "Gini", "{:.3f}"),
    ("round_trip", "round trip", "{:.1%}"),
    ("encode_speed", "MB/s", "{:.1f}"),
)


def print_headline(run: Run) -> None:
    """Print one row per tokenizer and dataset, and below it what was skipped or failed, with the remedies."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width to keep to
        console = Console(highlight=False, width=140)
    rows = run.frame[run.frame["language"] == "all"]
    values = {(r.tokenizer, r.dataset, r.metric): r for r in rows.itertuples()}
    present = set(rows.loc[rows["value"].notna(), "metric"])
    shown = [column for column in SHOWN if column[0] in present]
    for dataset in run.datasets:
        table = Table(title=escape(dataset), title_justify="left", box=None, title_style="bold")
        table.add_column("tokenizer", overflow="fold", min_width=28)
        for _, head, _ in shown:
            table.add_column(head, justify="right")
        for tokenizer in run.tokenizers:
            cells = [
                _cell(values.get((tokenizer, dataset, name)) or values.get((tokenizer, "", name)), form)
                for name, _, form in shown
            ]
            table.add_row(escape(tokenizer) + _mark(values.get((tokenizer, dataset, "round_trip"))), *cells)
        console.print(table)
        console.print()
    if any(_mark(values.get((t, d, "round_trip"))) for t in run.tokenizers for d in run.datasets):
        console.print("* loses text: its compression is not comparable with that of lossless tokenizers")
    for entry in run.manifest.get("skipped", []):
        console.print(f"skipped: {escape(entry['spec'])}: {escape(entry['reason'])}")
    for entry in run.failures:
        what = " · ".join(filter(None, (entry["tokenizer"], entry["dataset"], entry["language"])))
        remedy = f" ({entry['remedy']})" if entry["remedy"] else ""
        console.print(f"failed: {escape(what)}: {escape(entry['kind'] + ': ' + entry['message'] + remedy)}")


def _cell(row: Any, form: str) -> str:
    if row is None or row.value != row.value:
        return "–" if row is None or not row.status.startswith("failed") else "failed"
    return form.format(row.value)


def _mark(row: Any) -> str:
    return " *" if row is not None and row.value == row.value and row.value < 1 else ""
