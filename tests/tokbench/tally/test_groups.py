"""The bootstrap: its weights, that it does not depend on order, and that its intervals cover."""

from __future__ import annotations

import numpy as np
import pytest

from tokbench.metrics.intervals import percentile_intervals
from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS


def test_weights_are_poisson() -> None:
    weights = poisson_weights(3, 1000)
    assert weights.shape == (GROUPS, 1000)
    shares = np.bincount(weights.astype(int).ravel(), minlength=5)[:5] / weights.size
    expected = np.exp(-1) / np.array([1, 1, 2, 6, 24])
    assert np.abs(shares - expected).max() < 2e-3
    assert not np.array_equal(weights, poisson_weights(4, 1000))


def test_replicates_are_the_weighted_sums() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("tokens")] = 5, 7
    dense[[3, 900], NAMES.index("bytes")] = 100_000, 300_000
    sums = GroupSums.of_dense(dense)
    weights = poisson_weights(0, 50)
    tokens, n_bytes, words = sums.replicates(["tokens", "bytes", "words"], seed=0, n=50)
    assert np.array_equal(tokens, 5 * weights[3] + 7 * weights[900])
    assert np.array_equal(n_bytes, 100_000 * weights[3] + 300_000 * weights[900])
    assert not words.any()
    assert GroupSums.sum([sums, sums]).totals()["bytes"] == 800_000


def coverage(n_documents: int, trials: int, seed: int) -> float:
    """How often the 95 % interval of a ratio of sums holds the ratio the documents were drawn from."""
    rng = np.random.default_rng(seed)
    weights = poisson_weights(0, 1000)
    held = 0
    for _ in range(trials // 50):
        sums = np.empty((2, 50, GROUPS))
        for trial in range(50):
            size = rng.lognormal(5, 1, n_documents)  # long and short documents
            rate = rng.gamma(8, 1 / 32, n_documents)  # tokens per byte, 0.25 in expectation
            groups = rng.integers(0, GROUPS, n_documents)
            for row, values in enumerate((np.round(size), np.round(size * rate))):
                sums[row, trial] = np.bincount(groups, weights=values, minlength=GROUPS)
        n_bytes, tokens = sums @ weights
        for limits in percentile_intervals(list(tokens / n_bytes), 0.95):
            assert limits is not None
            held += limits[0] <= 0.25 <= limits[1]
    return held / trials


@pytest.mark.parametrize("n_documents", [400, 4000])
def test_intervals_cover_in_a_thousand_trials(n_documents: int) -> None:
    assert 0.93 <= coverage(n_documents, 1000, seed=n_documents) <= 0.97
