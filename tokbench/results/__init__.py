"""Results: the files of a run, and how they are read.

A run is a folder (see `tokbench.results.folder`); `Run.open(path)` gives its figures as pandas frames.
"""

from tokbench.results.cell import CellResult
from tokbench.results.failure import TaskFailure
from tokbench.results.folder import SCHEMA_VERSION, RunFolder
from tokbench.results.frames import COLUMNS
from tokbench.results.run import Run

__all__ = ["COLUMNS", "SCHEMA_VERSION", "CellResult", "Run", "RunFolder", "TaskFailure"]
