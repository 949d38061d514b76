"""Resamples are the weighted sums of groups, exactly, whatever the numbers."""

from __future__ import annotations

import numpy as np

from tokbench.metrics.resampling import parts_of, resampled, resampled_sums
from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS


def test_resamples_are_the_weighted_sums() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("tokens")] = 5, 7
    dense[[3, 900], NAMES.index("documents")] = 5, 7
    dense[[3, 901], NAMES.index("bytes")] = 100_000_001, 3
    weights = poisson_weights(0, 50).astype(np.int64)
    words = np.zeros((1, GROUPS), np.int64)
    words[0, [1, 2]] = 1, 4
    rows = resampled(GroupSums.of_dense(dense), seed=0, n=50, more=words)
    assert len(rows) == len(NAMES) + 1
    found = dict(zip([*NAMES, "words"], rows, strict=True))
    assert np.array_equal(found["tokens"][:50], 5 * weights[3] + 7 * weights[900])
    assert found["documents"] is found["tokens"]
    assert np.array_equal(found["bytes"][:50], 100_000_001 * weights[3] + 3 * weights[901])
    assert np.array_equal(found["words"][:50], weights[1] + 4 * weights[2])
    assert not found["lines"].any()
    parts = parts_of(np.array([found["bytes"]]))
    assert parts.left_out[0, [3, 901, 0]].tolist() == [3, 100_000_001, 100_000_004]
    assert parts.whole.tolist() == [100_000_004]


def test_sums_of_any_size_are_exact_or_as_exact_as_numbers_are() -> None:
    """Single precision is left just where it would begin to round."""
    rng = np.random.default_rng(0)
    weights = poisson_weights(2, 300).T.astype(np.int64)
    for most in (3, 1 << 10, 1 << 13, 1 << 14, 1 << 15, 1 << 20, 1 << 40):
        sums = rng.integers(0, most, (3, GROUPS))
        drawn = resampled_sums(sums, seed=2, n=300)[:, :300]
        assert np.array_equal(drawn.astype(np.int64), sums @ weights.T), most
    shares = rng.random((2, GROUPS))
    assert np.allclose(resampled_sums(shares, seed=2, n=300)[:, :300], shares @ weights.T, rtol=1e-13)
