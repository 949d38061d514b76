"""The folder of a run: the names of its files, the choice of a folder for a new run, and the folder's lock.

::

    run.json                schema version, suite, specs, versions, checksums, machine, timings, failures
    measurements.parquet    one row per tokenizer, dataset, language and metric; the same as .csv
    comparisons.parquet     paired differences between tokenizers
    speed.parquet           every round of the speed pass; speed.json says what was timed
    samples.json            chosen passages, tokenized by every tokenizer
    audits.json             vocabulary audits
    injections.json         what control strings in plain text become, if the suite asks for it
    diffs.json              tokenizers with the same vocabulary compared document by document
    cells/                  one file per finished cell, with its tally
    plots/  report.html  report.md
    written.json            the reports and plots that tokbench wrote, with their SHA-256
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tokbench.errors import ResultsError
from tokbench.inspection.facts import file_sha256
from tokbench.results.atomic import name_to_take, write_json
from tokbench.wording import counted, reason

SCHEMA_VERSION = 1
"""The version of the run folder's layout: later versions are refused, earlier ones upgraded."""


@dataclass(frozen=True, slots=True)
class _Inside:
    """A file or folder of a run, as an attribute of its `RunFolder`."""

    name: str

    def __get__(self, folder: RunFolder, owner: object) -> Path:
        return folder.path / self.name


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run folder, named as above; nothing is created or read until asked.

    Example:
        >>> RunFolder(Path("out")).manifest.as_posix()
        'out/run.json'
    """

    path: Path

    manifest = _Inside("run.json")
    measurements = _Inside("measurements.parquet")
    comparisons = _Inside("comparisons.parquet")
    speed = _Inside("speed.parquet")
    speed_state = _Inside("speed.json")
    samples = _Inside("samples.json")
    audits = _Inside("audits.json")
    injections = _Inside("injections.json")
    diffs = _Inside("diffs.json")
    cells = _Inside("cells")
    plots = _Inside("plots")
    written = _Inside("written.json")

    def remember(self, paths: Iterable[Path]) -> None:
        """Note reports and plots as written by tokbench; files outside this folder are ignored."""
        new = {name: file_sha256(path) for path in paths if (name := self._name_of(path))}
        if new:
            write_json(self.written, {**self._remembered(), **new})

    def wrote(self, path: Path) -> bool:
        """Whether tokbench wrote this file into this folder and nobody has changed it since."""
        name = self._name_of(path)
        return name is not None and self._remembered().get(name) == file_sha256(path)

    def spare(self, path: Path) -> None:
        """Raise `ResultsError` if `path` is a file of the run itself, which must not be overwritten."""
        name = self._name_of(path)
        if name is not None and _of_the_run(Path(name)):
            raise ResultsError(f"{path} is a file of the run, and would be lost; name another one")

    def _name_of(self, path: Path) -> str | None:
        """The name by which a file in this folder is remembered; None if it is no file or lies elsewhere."""
        whole, here = path.resolve(), self.path.resolve()
        inside = whole.is_relative_to(here) and whole.is_file()
        return whole.relative_to(here).as_posix() if inside else None

    def remove_reports(self) -> None:
        """Remove the reports and plots that tokbench wrote, because they would not match the new figures.

        Files that somebody else wrote or changed stay.
        """
        for path in (self.path / name for name in self._remembered()):
            if self.wrote(path):
                path.resolve().unlink()
        self.written.unlink(missing_ok=True)

    def _remembered(self) -> dict[str, str]:
        with contextlib.suppress(ResultsError):
            known = read_json(self.written, "it is written anew")
            if isinstance(known, dict):
                return known
        return {}

    def read_manifest(self) -> dict[str, Any]:
        """The content of ``run.json``; raises `ResultsError` if there is none, or one of a later schema."""
        if not self.path.is_dir():
            what = "a file, not the folder of a run" if self.path.exists() else "no such folder"
            raise ResultsError(f"{self.path}: {what}; `tokbench list runs` shows the runs there are")
        if not self.manifest.is_file():
            raise ResultsError(f"{self.manifest}: No such file or directory; is this the folder of a run?")
        remedy = (
            "copy the folder again from where the run was made, or run the suite again into another folder: "
            "what was counted comes from the cache"
        )
        manifest = read_json(self.manifest, remedy)
        if not isinstance(manifest, dict):
            raise ResultsError(f"{self.manifest}: no object of JSON; {remedy}")
        version = manifest.get("schema")
        if not isinstance(version, int) or version > SCHEMA_VERSION:
            raise ResultsError(
                f"{self.manifest}: schema {version!r}, but this tokbench reads up to {SCHEMA_VERSION}; "
                f"it was written by tokbench {_version(manifest)}: upgrade"
            )
        for name in ("tokenizers", "datasets"):
            entries = manifest.get(name, [])
            if not isinstance(entries, list) or not all(
                isinstance(entry, dict) and isinstance(entry.get("spec"), str) for entry in entries
            ):
                raise ResultsError(f"{self.manifest}: {name!r} is no list of tables with a 'spec'")
        return manifest


# --- where a run goes ---------------------------------------------------------------------------------------

REPORTS = Path("reports")


def choose_folder(
    output: str | os.PathLike[str] | None, name: str, request: str, *, force: bool = False
) -> RunFolder:
    """The folder of a run: `output`, or ``reports/<time>-<name>``, or the unfinished run of the same request.

    Raises `ResultsError` if `output` holds something that is not a run, or, without `force`, another run.
    """
    if output is not None:
        return _checked(RunFolder(Path(output)), request, force=force)
    for path in sorted(REPORTS.glob("*/run.json"), reverse=True):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            manifest = json.loads(path.read_text(encoding="utf-8"))
            if manifest.get("request") == request and manifest.get("status") != "finished":
                return RunFolder(path.parent)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S")
    path, number = REPORTS / f"{stamp}-{name}", 1
    while path.exists():
        number += 1
        path = REPORTS / f"{stamp}-{name}-{number}"
    return RunFolder(path)


def _checked(folder: RunFolder, request: str, *, force: bool) -> RunFolder:
    """The folder that the user named, if a run of this request may be written to it."""
    path = folder.path
    if path.exists() and not path.is_dir():
        raise ResultsError(f"{path} is a file; -o takes a folder")
    if not folder.manifest.exists():
        if path.is_dir() and any(
            entry.name not in (".lock", "cells") and not _half_written(entry) for entry in path.iterdir()
        ):
            raise ResultsError(f"{path} is not empty and not the folder of a run; choose another with -o")
        return folder
    manifest = folder.read_manifest()
    if not {"run", "status", "request", "tokenizers", "datasets"} <= manifest.keys():
        raise ResultsError(f"{folder.manifest} was not written by tokbench; choose another folder with -o")
    if manifest["request"] != request and not force:
        numbers = {each: len(manifest[f"{each}s"]) for each in ("tokenizer", "dataset")}
        held = " on ".join(counted(number, each) for each, number in numbers.items() if number)
        raise ResultsError(
            f"{path} holds another run, {manifest['run']!r}, of {held}; choose another folder with -o, or "
            "replace it with --force"
        )
    return folder


@contextlib.contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Lock the folder for this process; raises `ResultsError` if another run is writing to it.

    The lock ends with the process, however that ends. Files that a killed run left half written are removed:
    while the lock is held, no other process can be writing them.
    """
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        stream = (folder.path / ".lock").open("a")
    except OSError as error:
        raise ResultsError(f"cannot write to {folder.path}: {reason(error)}") from error
    with stream:
        if _hold(stream, folder.path):
            for path in filter(_half_written, [*folder.path.glob(".*"), *folder.cells.glob(".*")]):
                path.unlink(missing_ok=True)
        yield
    with contextlib.suppress(OSError):
        (folder.path / ".lock").unlink()


def _half_written(path: Path) -> bool:
    """Whether a file is the unfinished form of one that only the run itself writes."""
    name = name_to_take(path.name)
    return name is not None and _of_the_run(path.with_name(name))


def _of_the_run(path: Path) -> bool:
    """Whether a file in a run's folder has the name of one that only the run itself writes."""
    return path.name in _OF_THE_RUN or (path.parent.name == "cells" and bool(_CELL.fullmatch(path.name)))


_OF_THE_RUN = {each.name for each in vars(RunFolder).values() if isinstance(each, _Inside)}
_OF_THE_RUN |= {"measurements.csv"}
_CELL = re.compile(r".*-[0-9a-f]{16}\.cell")


def _hold(stream: IO[str], path: Path) -> bool:
    """Lock the file; False on a system without locks, where users must avoid two runs in one folder."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ResultsError(f"another run is writing to {path}; wait for it or choose another with -o") from None
    return True


def read_json(path: Path, hint: str) -> Any:
    """The JSON in a file; raises `ResultsError`, with the remedy `hint`, if it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}; {hint}") from error
    except ValueError as error:
        raise ResultsError(f"{path}: truncated or damaged: no JSON ({error}); {hint}") from error


def _version(manifest: dict[str, Any]) -> str:
    versions = manifest.get("versions")
    return str(versions.get("tokbench", "?")) if isinstance(versions, dict) else "?"
