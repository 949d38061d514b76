"""The bootstrap: its weights, and the sums of its groups."""

from __future__ import annotations

import numpy as np

from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS


def test_weights_are_poisson() -> None:
    weights = poisson_weights(3, 1000)
    assert weights.shape == (GROUPS, 1000)
    shares = np.bincount(weights.astype(int).ravel(), minlength=5)[:5] / weights.size
    expected = np.exp(-1) / np.array([1, 1, 2, 6, 24])
    assert np.abs(shares - expected).max() < 2e-3
    assert not np.array_equal(weights, poisson_weights(4, 1000))


def test_sums_add_up() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("bytes")] = 100_000, 300_000
    sums = GroupSums.of_dense(dense)
    assert GroupSums.sum([sums, sums]).totals()["bytes"] == 800_000
