"""The report as Markdown that GitHub renders, with every table, so also with the data of the plots."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from tokbench.plots import data
from tokbench.reports import tables, unmeasured
from tokbench.reports.chosen import asked, metrics_shown
from tokbench.reports.decision import decided, undecided
from tokbench.reports.decision import table as decision_table
from tokbench.reports.diffs import diff_table
from tokbench.reports.findings import findings
from tokbench.reports.speeds import speed_tables
from tokbench.reports.table import ShownCell, Table
from tokbench.reports.vocabularies import injection_table
from tokbench.results import Run
from tokbench.results.atomic import write_text
from tokbench.wording import counted, printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def write(run: Run, path: Path) -> None:
    """Write the run as one Markdown file."""
    write_text(path, document(run))


def document(run: Run) -> str:
    """The whole report as Markdown."""
    parts = [f"# tokbench report: {escape(run_title(run))}", "", provenance_line(run), ""]
    found = decided(run)
    if found is not None:
        told = decision_table(run, found)
        choice, *others = found.sentences
        said = (f"{choice} Weights: {found.weighed}.", *others)
        parts += ["## Decision", "", *(f"- {escape(each)}" for each in said), "", *_noted(told)]
    elif why := undecided(run):
        parts += ["## Decision", "", escape(why), ""]
    for finding in findings(run):
        parts += [escape(finding.sentence), ""]
    for table in tables.headlines(run).values():
        parts += [f"## {escape(table.title)}", "", *_noted(table)]
    main = data.main_dataset(run)
    usual = metrics_shown(run, "languages")
    for metric in dict.fromkeys((*usual, *asked(run))):
        table = tables.by_language(run, metric, main)
        if len(table.rows) > (metric not in usual):  # with one language, the headline has it already
            parts += [f"## {escape(table.title)}", "", escape(table.note), "", render(table), ""]
    for table in speed_tables(run):
        parts += [f"## Speed: {escape(table.title)}", "", *_noted(table)]
    for title, table in (
        ("Control strings in plain text", injection_table(run)),
        ("Who gives the same ids", diff_table(run)),
    ):
        if table.rows:
            parts += [f"## {title}", "", *_noted(table)]
    if (failed := unmeasured.failures(run)).rows:
        parts += ["## Failures and skips", "", render(failed), ""]
    parts += ["## Provenance", "", *provenance(run), ""]
    measured = list(dict.fromkeys(run.frame["metric"]))
    defined = tables.definitions(run, measured)
    if defined.rows:
        parts += ["## Definitions", "", render(defined), ""]
    return "\n".join(parts)


def run_title(run: Run) -> str:
    """The title of the run's suite, or else the run's name."""
    return str(run.manifest.get("suite", {}).get("title") or run.name)


def provenance_line(run: Run) -> str:
    """A line that says how much was measured."""
    return (
        f"{counted(len(run.tokenizers), 'tokenizer')}, {counted(len(run.datasets), 'dataset')}, "
        f"{counted(len(run.frame), 'measurement')}, {counted(len(run.failures), 'failure')}."
    )


def provenance(run: Run) -> list[str]:
    """A list of versions, machine, seed, datasets, and the files of tokenizers."""
    manifest = run.manifest
    suite, machine = manifest.get("suite", {}), manifest.get("machine", {})
    said = {
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items()),
        "machine": ", ".join(
            str(machine[key]) for key in ("processor", "system", "architecture") if key in machine
        ),
        "bootstrap": ", ".join(
            f"{key} {suite[key]}" for key in ("replicates", "seed", "confidence") if key in suite
        ),
        "trained on": str(manifest.get("train_on") or ""),
    }
    for entry in manifest["datasets"]:
        digests = [str(known.get("sha256") or "") for known in entry["languages"].values()]
        licence = (entry.get("facts") or {}).get("licence", "")
        digest = hashlib.sha256("".join(digests).encode()).hexdigest()[:16] if any(digests) else ""
        said[f"dataset {entry['spec']}"] = ", ".join(filter(None, (licence, digest and f"sha256 {digest}…")))
    for entry in manifest["tokenizers"]:
        libraries = " ".join(f"{name} {version}" for name, version in (entry.get("libraries") or {}).items())
        print_ = str(entry.get("fingerprint") or "")[:16]
        said[f"tokenizer {entry['spec']}"] = ", ".join(
            filter(None, (libraries, print_ and f"fingerprint {print_}…"))
        )
    return [f"- {escape(name)}: {escape(text)}" for name, text in said.items() if text]


def render(table: Table) -> str:
    """A table in the pipe form: figures right-aligned, the best in bold, intervals in parentheses."""
    heads = [escape(column.heading) for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [[_cell(cell, len(rules)) for cell in row] for row in table.shown]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows))


def _noted(table: Table) -> list[str]:
    """A table with its note below it."""
    return [render(table), "", f"*{escape(table.note)}*", ""]


def escape(text: str) -> str:
    r"""Text escaped for Markdown, on one line; control characters are spelt out, as in the terminal.

    Example:
        >>> escape("a|b <script>")
        'a\\|b \\<script\\>'
    """
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


def formula(text: str) -> str:
    r"""A TeX formula as Markdown mathematics; as plain text if it would need escapes.

    Example:
        >>> formula(r"\frac{|a|}{b}")
        '$`\\frac{\\|a\\|}{b}`$'
    """
    text = " ".join(text.split())
    if not text or not text.isprintable() or re.search(r"`|\\\||\\$", text):
        return escape(text)
    return "$`" + text.replace("|", r"\|") + "`$"


def _cell(cell: ShownCell, many: int) -> str:
    """A cell of a table with `many` columns."""
    if cell.column.key == "formula":
        return formula(cell.text)
    text = escape(cell.text)
    text = f"**{text}**" if cell.best else text
    return text + (f" ({cell.ends})" if cell.ends and many < 14 else "")
