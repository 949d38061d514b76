"""Writes README's table of speeds, and its plot, from runs of the suite `speed`.

    for i in 1 2 3; do tokbench run speed -o run-$i; done; python tools/speed_table.py run-1 run-2 run-3

A row is a tokenizer and the first of those with its ids, with how many times as fast as that it is: the median
of the runs (of two, their mean), and in parentheses the least and the most. The plot of the first run is
docs/gallery/speed_suite.png.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokbench.plots.labels import run_labels
from tokbench.reports.markdown import render
from tokbench.reports.speeds import speed_tables
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.results import Run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PLOT = ROOT / "docs" / "gallery" / "speed_suite.png"
BLOCK = re.compile(r"(<!-- speeds: .*?-->\n)(.*?)(\n<!-- end of speeds -->)", re.DOTALL)
TIMED = {"batch": "warm", "first pass": "cold"}

Ratios = Mapping[tuple[str, str, str], float]


def table(runs: Sequence[Run]) -> str:
    """The runs' ratios in Markdown: for each dataset from a warm and from a cold cache."""
    found = [ratios(run) for run in runs]
    references = same_work(runs[0])
    labels = run_labels(runs[0], [*references])
    datasets = dict.fromkeys(dataset for _, dataset, _ in found[0])
    columns = [
        Column.text("reference", "compared with"),
        Column.text("tokenizer"),
    ]
    columns += [
        Column(key=f"{dataset}-{form}", label=f"{dataset}, {state}", unit="×", places=1)
        for dataset in datasets
        for form, state in TIMED.items()
    ]
    rows = []
    for name, reference in references.items():
        if name != reference:
            cells = (_cell(found, (name, dataset, form)) for dataset in datasets for form in TIMED)
            rows.append(Row((labels[reference], labels[name], *cells)))
    return render(Table("speeds", "Speeds", tuple(columns), tuple(rows)))


def same_work(run: Run) -> dict[str, str]:
    """For each tokenizer that is not alone with its ids, the first with them, in the suite's order."""
    place = run.tokenizers.index
    groups = [sorted(group, key=place) for group in run.manifest["speed"]["same_ids"]]
    return {name: group[0] for group in sorted(groups, key=lambda group: place(group[0])) for name in group}


def ratios(run: Run) -> Ratios:
    """(tokenizer, dataset, form) to how many times as fast as the first with the same ids."""
    references, found = same_work(run), {}
    for timed in speed_tables(run):
        columns = [column.key for column in timed.columns]
        cells = {row.key: dict(zip(columns, row.cells, strict=True)) for row in timed.rows}
        for name, reference in references.items():
            for form in TIMED:
                one, other = cells[name][form], cells[reference][form]
                if isinstance(one, TableCell) and isinstance(other, TableCell) and one.value and other.value:
                    found[name, timed.title, form] = one.value / other.value
    return found


def _cell(runs: Sequence[Ratios], key: tuple[str, str, str]) -> TableCell:
    values = [each[key] for each in runs if key in each]
    if not values:
        return TableCell(why="not timed")
    if len(values) == 1:
        return TableCell(value=values[0])
    return TableCell(value=statistics.median(values), low=min(values), high=max(values))


def main() -> None:
    """Put the table into README.md, and the first run's plot into the gallery."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    options = parser.parse_args()
    runs = [Run.open(path) for path in options.runs]
    text, count = BLOCK.subn(
        lambda match: match[1] + table(runs) + match[3], README.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit("README.md has no block <!-- speeds: … --> to <!-- end of speeds -->")
    README.write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).with_name("tokbench")), "plot", str(options.runs[0]), "speed"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--format", "png", "--output", folder], check=True)
        shutil.copyfile(Path(folder, "speed.png"), PLOT)


if __name__ == "__main__":
    main()
