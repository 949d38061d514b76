"""A report writer: bars of text, for a terminal, a commit message or a chat.

tokbench run -t bytes -t chars -d bundled:tricky -o out
tokbench report out --format bars --plugin docs/examples/bars.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import tokbench
from tokbench import ReportWriter

if TYPE_CHECKING:
    from tokbench.results import Run

WIDTH = 40


def write(run: Run, path: Path) -> None:
    """Bytes per token over all languages of each dataset, longest bar for the best."""
    rows = run.frame.query("metric == 'compression_ratio' and language == 'all'")
    lines = []
    for dataset, group in rows.groupby("dataset", sort=False):
        lines.append(f"{dataset}: bytes per token")
        best = group["value"].max()
        for row in group.sort_values("value", ascending=False).itertuples():
            if row.status != "ok":
                lines.append(f"  {row.tokenizer}: {row.status}")
                continue
            bar = "█" * max(1, round(WIDTH * row.value / best))
            lines.append(f"  {bar:<{WIDTH}} {row.value:5.2f}  {row.tokenizer}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@tokbench.hookimpl
def tokbench_report_writers() -> Iterable[ReportWriter]:
    """Offer the format `bars`."""
    return [ReportWriter(name="bars", summary="Bars of text", suffix=".txt", write=write)]
