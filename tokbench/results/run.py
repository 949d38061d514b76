"""A run read back: its figures as frames, its tallies, samples and audits, its plots and reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError, UnknownNameError
from tokbench.metrics.context import CONFIDENCE
from tokbench.metrics.measurement import ALL, CellKey
from tokbench.presenting import presenters
from tokbench.results.cell import cell_file_name, read_cell
from tokbench.results.folder import RunFolder, read_json
from tokbench.results.frames import read_frame, read_measurements, why_unmeasured
from tokbench.wording import counted, writable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from tokbench.tally.tally import Tally


@dataclass(frozen=True, repr=False)
class Run:
    """A finished (or unfinished) run, opened from its folder with `Run.open`; everything is read when asked.

    Specs are canonical, and in the order of the suite wherever there is an order.
    """

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """The run in the folder `path`; raises `ResultsError` if it holds none, or one of a later schema."""
        folder = RunFolder(Path(path))
        return cls(folder.path, folder.read_manifest())

    @property
    def name(self) -> str:
        """The run's name: its folder's name when it was made, and the `run` column of every row."""
        return writable(str(self.manifest.get("run", self.path.name)))

    def __repr__(self) -> str:
        """Where it is and what is in it, in a line.

        Example:
            >>> Run(Path("out"), {"status": "finished", "tokenizers": [{}, {}], "datasets": [{}]})
            <Run out: finished, 2 tokenizers, 1 dataset>
        """
        held = [counted(len(self.manifest.get(f"{what}s", [])), what) for what in ("tokenizer", "dataset")]
        return f"<Run {self.path}: {', '.join([str(self.manifest.get('status', '?')), *held])}>"

    def _repr_html_(self) -> str:
        """The headline table of each dataset, for notebooks."""
        return presenters[0].notebook(self)

    @property
    def finished(self) -> bool:
        """Whether the run was completed; False while it is running or if it was interrupted."""
        return self.manifest.get("status") not in ("unfinished", "interrupted")

    @property
    def folder(self) -> RunFolder:
        """The paths of the run's files."""
        return RunFolder(self.path)

    # --- figures ----------------------------------------------------------------------------------

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Every measurement, tidy: one row per tokenizer, dataset, language and metric, columns `COLUMNS`.

        To change figures, change a copy: plots and reports cache what they read from this frame. Raises
        `ResultsError` if the run is not finished: the folder may still hold figures of an earlier run, which
        the manifest no longer describes.
        """
        if not self.finished:
            status = self.manifest["status"]
            raise ResultsError(f"{self.path}: the run is {status}; run the suite again to complete it")
        return read_measurements(self.folder.measurements)

    @property
    def confidence(self) -> float:
        """The confidence level of its intervals, except those of speed, which are always at 95 %."""
        return float(self.manifest.get("suite", {}).get("confidence", CONFIDENCE))

    @property
    def level(self) -> str:
        """Its `confidence` in per cent, as text.

        Example:
            >>> Run(Path("out"), {"suite": {"confidence": 0.999}}).level
            '99.9 %'
        """
        return f"{100 * self.confidence:.6g} %"

    @property
    def tokenizers(self) -> list[str]:
        """The canonical specs of the tokenizers."""
        return [entry["spec"] for entry in self.manifest["tokenizers"]]

    @property
    def datasets(self) -> list[str]:
        """The canonical specs of the datasets."""
        return [entry["spec"] for entry in self.manifest["datasets"]]

    def languages(self, dataset: str) -> list[str]:
        """The languages of a dataset, without "all"."""
        return list(self._dataset(dataset)["languages"])

    def table(self, metric: str, dataset: str | None = None) -> pd.DataFrame:
        """One metric as a wide frame: languages as rows, tokenizers as columns, NaN if not measured.

        With several datasets and none named, rows are (dataset, language). Raises `UnknownNameError` for a
        metric or dataset that the run does not have, `ResultsError` with the reason if no figure was measured.
        """
        metrics = self.frame["metric"].unique().tolist()
        if metric not in metrics:
            raise UnknownNameError.of("metric of this run", metric, metrics)
        rows = self.frame[self.frame["metric"] == metric]
        if dataset is not None:
            rows = rows[rows["dataset"] == self._dataset(dataset)["spec"]]
        if why := why_unmeasured(self.frame, metric, dataset):
            raise ResultsError(f"{metric}: not measured on {dataset or 'anything'}: {why}")
        single = dataset is not None or rows["dataset"].nunique() == 1
        index = ["language"] if single else ["dataset", "language"]
        wide = rows.pivot_table(
            index=index, columns="tokenizer", values="value", aggfunc="first", sort=False, dropna=False
        )
        wide = wide.dropna(how="all")
        return wide[[spec for spec in self.tokenizers if spec in wide.columns]]

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """Paired differences between tokenizers, with intervals and p-values; empty if none were made.

        Runs of earlier versions have Holm's correction as `p_adjusted`.
        """
        return self._optional_frame(self.folder.comparisons).rename(columns={"p_holm": "p_adjusted"})

    @cached_property
    def speed(self) -> pd.DataFrame:
        """Every round of the speed pass as it was timed; empty if speed was not measured."""
        return self._optional_frame(self.folder.speed)

    def tally(self, tokenizer: str, dataset: str, language: str = ALL) -> Tally:
        """The counts of one cell, or with "all" the sum over the dataset's languages.

        Raises `ResultsError` if the cell was not measured.
        """
        languages = self.languages(dataset) if language == ALL else [language]
        tallies = []
        for each in languages:
            path = self.folder.cells / cell_file_name(CellKey(tokenizer, dataset, each))
            if not path.is_file():
                raise ResultsError(f"{self.path}: no cell for {tokenizer} on {dataset}, {each}")
            cell = read_cell(path)
            if cell.tally is None:
                raise ResultsError(f"{tokenizer} on {dataset}, {each}: {cell.status}")
            tallies.append(cell.tally)
        if not tallies:
            raise ResultsError(f"{dataset}: no languages")
        return type(tallies[0]).sum(tallies)

    # --- beside the figures -----------------------------------------------------------------------

    @cached_property
    def samples(self) -> list[dict[str, Any]]:
        """Chosen passages side by side: title, dataset, language, text, and each tokenizer's pieces."""
        return list(self._optional_json(self.folder.samples, []))

    @cached_property
    def audits(self) -> dict[str, Any]:
        """Vocabulary audits by tokenizer, as `tokbench audit` gives them; empty if not made."""
        return dict(self._optional_json(self.folder.audits, {}))

    @cached_property
    def injections(self) -> dict[str, Any]:
        """What control strings in plain text become by tokenizer, a row per entry; empty if not asked."""
        return dict(self._optional_json(self.folder.injections, {}))

    @cached_property
    def diffs(self) -> dict[str, Any]:
        """Tokenizers that claim the same vocabulary, or were named, compared document by document.

        ``pairs`` holds, for each, what `TokenizerDiff.as_json` gives, or an ``error``; ``budget`` how much text
        there was at most. Empty if nothing was compared.
        """
        return dict(self._optional_json(self.folder.diffs, {}))

    @property
    def failures(self) -> list[dict[str, Any]]:
        """What was not measured: tokenizer, dataset, language, kind, message, remedy, traceback, output."""
        return list(self.manifest.get("failures", []))

    # --- pictures and reports ---------------------------------------------------------------------

    def plot(self, name: str, *, plugins: Sequence[str] = ()) -> Figure:
        """Draw one of `tokbench list plots`; raises `ResultsError` if the run lacks the data.

        A notebook shows the figure if it is the last value of a cell; `savefig` writes it.

        `plugins` are plugin files to load for this call. The plugins that the run used are not loaded by
        themselves: a run folder from somebody else must not decide which code runs here.
        """
        figure: Figure = presenters[0].plot(self, name, plugins)
        return figure

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        format: str | None = None,
        *,
        plugins: Sequence[str] = (),
    ) -> Path:
        """Write a report in a format, by default into the run's folder, and return the file.

        Without a `format`, the ending of `path` says which: ``.md``, ``.tex``, ``.csv`` …, or HTML if it has
        none; raises `SpecError` for an ending of no format, or of another than `format`. `plugins` are plugin
        files to load for this call, as in `plot`.
        """
        return presenters[0].report(self, path, format, plugins)

    def _dataset(self, dataset: str) -> Mapping[str, Any]:
        for entry in self.manifest["datasets"]:
            if entry["spec"] == dataset:
                return dict(entry)
        raise UnknownNameError.of("dataset of this run", dataset, self.datasets)

    def _optional_frame(self, path: Path) -> pd.DataFrame:
        import pandas as pd

        return read_frame(path) if path.is_file() else pd.DataFrame()

    def _optional_json(self, path: Path, default: Any) -> Any:
        return read_json(path, "delete it and run again") if path.is_file() else default


def open_runs(folder: Path) -> Sequence[Run]:
    """The runs directly inside `folder`, oldest first; damaged runs and other folders are skipped."""
    found: list[Run] = []
    for path in sorted(folder.glob("*/run.json"), key=lambda path: path.stat().st_mtime):
        with suppress(ResultsError):
            found.append(Run.open(path.parent))
    return found
