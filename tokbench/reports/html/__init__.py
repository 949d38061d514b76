"""The HTML report: one file that opens offline, with its policy, styles, script, tables and figures inside."""

from __future__ import annotations

from pathlib import Path

from tokbench.results import Run
from tokbench.results.atomic import write_bytes


def write(run: Run, path: Path) -> None:
    """Write the report of a run to `path`."""
    from tokbench.reports.html.page import render

    write_bytes(path, render(run).encode("utf-8", "backslashreplace"))
