"""The histograms that plots draw from tallies: token lengths, frequencies of ids, documents by length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import ResultsError
from tokbench.metrics.measurement import ALL
from tokbench.plots.data import remembered
from tokbench.results import Run

FEW_DOCUMENTS = 5
"""Classes of document length with fewer documents than this are left out of curves."""


@dataclass(frozen=True, slots=True)
class PlotCounts:
    """The part of a tally that plots need: tokens by byte length, frequencies of ids, documents by length.

    `ids` and `frequencies` begin with the most frequent. `lengths` is int64 ``(buckets, 3)``:
    documents, bytes and tokens of documents of 2^(b-1) to 2^b − 1 bytes.
    """

    token_bytes: NDArray[Any]
    frequencies: NDArray[Any]
    ids: NDArray[Any]
    lengths: NDArray[Any]


@remembered
def counts(run: Run, tokenizer: str, dataset: str) -> PlotCounts | None:
    """The counts of a tokenizer over all languages of a dataset; None if some were not measured."""
    try:
        tally = run.tally(tokenizer, dataset, ALL)
    except ResultsError:
        return None
    keys, amounts = tally.token_bytes.keys, tally.token_bytes.counts
    known = keys >= 0  # −1: the bytes of the token are not known
    histogram = np.bincount(keys[known], weights=amounts[known]) if known.any() else np.zeros(1)
    order = np.argsort(-tally.ids.counts, kind="stable")
    return PlotCounts(histogram, tally.ids.counts[order], tally.ids.keys[order], tally.lengths)


def most_varied(run: Run) -> str:
    """The dataset with documents in the most classes of length, by the first tokenizer measured on it."""
    best, most = "", 1
    for dataset in run.datasets:
        found = next(filter(None, (counts(run, name, dataset) for name in run.tokenizers)), None)
        filled = 0 if found is None else int((found.lengths[:, 0] >= FEW_DOCUMENTS).sum())
        if filled > most:
            best, most = dataset, filled
    return best
