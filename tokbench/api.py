"""The Python API: `load` a tokenizer, `run` a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokbench.results import Run
    from tokbench.tokenizer import Tokenizer


def load(
    spec: str,
    *,
    train_on: str | Sequence[str] | None = None,
    plugins: Sequence[str] = (),
    disable: Iterable[str] = (),
) -> Tokenizer:
    """Load the tokenizer that `spec` names; one that must be trained is trained on `train_on` first.

    `train_on` is a dataset spec, several joined by " + ", or a sequence of texts. Raises `SpecError` for a
    wrong spec and `TokenizerError` where the tokenizer cannot be had.

    Example:
        >>> load("bytes").vocab_size
        256
    """
    from tokbench.registry import build_registry

    registry = build_registry(disable=disable, plugin_files=plugins)
    if train_on is None:
        return registry.load(spec)
    from tokbench.runner.training import train

    return train(registry, spec, train_on)


def run(
    tokenizers: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    *,
    suite: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Run a comparison and return its `Run`; with no arguments, the bundled suite.

    `suite` is a TOML file or the name of a shipped one; `options` are the suite's own keys: `metrics`,
    `train_on`, `jobs`, `engine`, `speed`, `timeout`, `baseline` … (see docs/suites.md).
    """
    from tokbench.runner import run_suite

    return run_suite(suite=suite, tokenizers=tokenizers, datasets=datasets, output=output, **options)
