"""Small runs on disk, made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokbench.metrics.measurement import CellKey, Measurement
from tokbench.results import SCHEMA_VERSION, Run
from tokbench.results.atomic import write_json
from tokbench.results.frames import measurement_table, write_measurements

KEY = CellKey("bytes", "text:a", "eng_Latn")


TEXT = {"sha256": "1" * 64}


def make_run(folder: Path, rows: list[Measurement], **manifest: Any) -> Run:
    folder.mkdir()
    known = {
        "schema": SCHEMA_VERSION,
        "run": folder.name,
        "tokenizers": [{"spec": "bytes"}, {"spec": "chars"}],
        "datasets": [{"spec": "text:a", "languages": {"eng_Latn": TEXT, "deu_Latn": TEXT}}],
    }
    write_json(folder / "run.json", {**known, **manifest})
    write_measurements(folder / "measurements.parquet", measurement_table(folder.name, rows))
    return Run.open(folder)


def row(
    tokenizer: str, language: str, value: float | None, low: float | None = None, high: float | None = None
) -> Measurement:
    status = "ok" if value is not None else "failed: raised: no"
    figure = {"value": value, "ci_low": low, "ci_high": high, "unit": "bytes/token"}
    return Measurement(
        tokenizer, "text:a", language, "compression_ratio", **figure, n_documents=5, status=status
    )


ROWS = [
    row("bytes", "eng_Latn", 1.0),
    row("bytes", "deu_Latn", 1.0, 0.5, 1.5),
    row("chars", "eng_Latn", 1.25),
    row("chars", "deu_Latn", None),
]
