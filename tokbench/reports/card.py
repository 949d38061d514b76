"""A summary in the form of a Hugging Face dataset card: metadata in YAML, then the headline tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tokbench.reports import tables
from tokbench.reports.findings import findings
from tokbench.reports.markdown import escape, provenance_line, render, run_title
from tokbench.results import Run
from tokbench.results.atomic import write_text


def write(run: Run, path: Path) -> None:
    """Write the card of a run."""
    write_text(path, document(run))


def document(run: Run) -> str:
    """The text of the card: what was measured, how, and how to load the data."""
    parts = ["---", *_metadata(run), "---", "", f"# tokbench: {escape(run_title(run))}", ""]
    parts += [provenance_line(run), ""]
    parts += [f"- {escape(finding.sentence)}" for finding in findings(run)]
    parts += ["", "## Results", ""]
    for table in tables.headlines(run).values():
        parts += [f"### {escape(table.title)}", "", render(table), "", escape(table.note), ""]
    parts += [
        "## Data",
        "",
        "One row per tokenizer, dataset, language and metric; `language` is `all` for a whole dataset;",
        "`value` is null where nothing was measured, and `status` says why.",
        "",
        "```python",
        "import pandas as pd",
        'frame = pd.read_parquet("measurements.parquet")',
        "```",
        "",
    ]
    return "\n".join(parts)


def _metadata(run: Run) -> list[str]:
    """Front matter; every string is quoted as JSON, which YAML reads."""
    codes = {code for name in run.datasets for code in run.languages(name)}
    languages = sorted({code.partition("_")[0].partition("-")[0] for code in codes})
    lines = [f"pretty_name: {json.dumps('tokbench ' + run_title(run))}"]
    lines += ["tags:", "- tokenizers", "- tokbench"]
    known = [code for code in languages if re.fullmatch(r"[a-z]{2,3}", code)]
    if known:
        lines += ["language:", *(f"- {json.dumps(code)}" for code in known)]
    return [*lines, "configs:", "- config_name: measurements", "  data_files: measurements.parquet"]
