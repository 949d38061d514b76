"""The runner: from a suite to a run folder. Importing this package is cheap; the work is in its modules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokbench.results import Run


def run_suite(
    suite: str | os.PathLike[str] | None = None,
    tokenizers: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Run a suite and return its `Run`; see `tokbench.runner.run.run_suite`."""
    from tokbench.runner.run import run_suite as run

    return run(suite, tokenizers, datasets, output, **options)
