"""Where a run goes: the folder, its name, and that nobody else is writing to it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tokbench.errors import ResultsError
from tokbench.results.folder import RunFolder

REPORTS = Path("reports")


def choose_folder(
    output: str | os.PathLike[str] | None, name: str, request: str, *, force: bool = False
) -> RunFolder:
    """The folder of a run: `output`, or ``reports/<time>-<name>``, or the unfinished run of the same request.

    Raises `ResultsError` where `output` holds something that is no run, or, without `force`, another run.
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
        if path.is_dir() and any(entry.name not in (".lock", "cells") for entry in path.iterdir()):
            raise ResultsError(f"{path} is not empty and not the folder of a run; choose another with -o")
        return folder
    manifest = folder.read_manifest()
    if not {"run", "status", "request", "tokenizers", "datasets"} <= manifest.keys():
        raise ResultsError(f"{folder.manifest} is not of a run of tokbench; choose another folder with -o")
    if manifest["request"] != request and not force:
        raise ResultsError(
            f"{path} holds another run, {manifest['run']!r}, of {len(manifest['tokenizers'])} tokenizers on "
            f"{len(manifest['datasets'])} datasets; choose another folder with -o, or replace it with --force"
        )
    return folder


@contextlib.contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Hold the folder for this process; raises `ResultsError` where another run is writing to it.

    The lock goes with the process, however it ends, so a killed run leaves nothing to clean up.
    """
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        stream = (folder.path / ".lock").open("a")
    except OSError as error:
        raise ResultsError(f"cannot write to {folder.path}: {error}") from error
    with stream:
        _hold(stream, folder.path)
        yield
    with contextlib.suppress(OSError):
        (folder.path / ".lock").unlink()


def _hold(stream: IO[str], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two runs on one folder are the user's to avoid
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ResultsError(f"another run is writing to {path}; wait for it or choose another with -o") from None
