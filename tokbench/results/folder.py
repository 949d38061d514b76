"""The files of a run folder, by name.

::

    run.json                schema version, suite, specs, versions, checksums, machine, timings, failures
    measurements.parquet    one row per tokenizer, dataset, language and metric; the same as .csv
    comparisons.parquet     paired differences between tokenizers
    speed.parquet           every round of the speed pass
    samples.json            chosen passages, tokenized by everyone
    audits.json             vocabulary audits
    diffs.json              tokenizers with the same vocabulary compared document by document
    cells/                  one file per finished cell, with its tally
    plots/  report.html  report.md
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import ResultsError

SCHEMA_VERSION = 1
"""The version of the run folder's layout; a folder of a later version is refused, of an earlier upgraded."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run folder; nothing is created or read until asked.

    Example:
        >>> RunFolder(Path("out")).manifest.as_posix()
        'out/run.json'
    """

    path: Path

    @property
    def manifest(self) -> Path:
        """``run.json``."""
        return self.path / "run.json"

    @property
    def measurements(self) -> Path:
        """``measurements.parquet``; the same rows are in ``measurements.csv``."""
        return self.path / "measurements.parquet"

    @property
    def comparisons(self) -> Path:
        """``comparisons.parquet``."""
        return self.path / "comparisons.parquet"

    @property
    def speed(self) -> Path:
        """``speed.parquet``."""
        return self.path / "speed.parquet"

    @property
    def samples(self) -> Path:
        """``samples.json``."""
        return self.path / "samples.json"

    @property
    def audits(self) -> Path:
        """``audits.json``."""
        return self.path / "audits.json"

    @property
    def diffs(self) -> Path:
        """``diffs.json``."""
        return self.path / "diffs.json"

    @property
    def cells(self) -> Path:
        """The folder of finished cells."""
        return self.path / "cells"

    @property
    def plots(self) -> Path:
        """The folder of plots."""
        return self.path / "plots"

    def remove_reports(self) -> None:
        """Remove reports and plots: beside figures that are about to be written they would show other ones."""
        for path in [*self.path.glob("report.*"), *self.plots.glob("*")]:
            if path.is_file():
                path.unlink()

    def read_manifest(self) -> dict[str, Any]:
        """The content of ``run.json``; raises `ResultsError` where there is none, or of a later schema."""
        if not self.path.is_dir():
            what = "a file, not the folder of a run" if self.path.exists() else "no such folder"
            raise ResultsError(f"{self.path}: {what}; `tokbench list runs` shows the runs there are")
        manifest: dict[str, Any] = read_json(self.manifest, "is this the folder of a run?")
        version = manifest.get("schema")
        if not isinstance(version, int) or version > SCHEMA_VERSION:
            raise ResultsError(
                f"{self.manifest}: schema {version!r}, but this tokbench reads up to {SCHEMA_VERSION}; "
                f"it was written by tokbench {manifest.get('versions', {}).get('tokbench', '?')}: upgrade"
            )
        return manifest


def read_json(path: Path, hint: str) -> Any:
    """The JSON in a file; raises `ResultsError` with `hint` where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}; {hint}") from error
    except ValueError as error:
        raise ResultsError(f"{path}: {error}; {hint}") from error
