"""Resamples are the weighted sums of groups, exactly, whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.from_tally import known_of, resampled
from tokbench.metrics.resampling import parts_of, poisson_weights, resampled_rows, resampled_sums
from tokbench.tally.collect import collect
from tokbench.tally.counters import GROUPS, NAMES, GroupSums


def test_resamples_are_the_weighted_sums() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("tokens")] = 5, 7
    dense[[3, 900], NAMES.index("documents")] = 5, 7
    dense[[3, 901], NAMES.index("bytes")] = 100_000_001, 3
    weights = poisson_weights(0, 50).astype(np.int64)
    names = ["tokens", "lines", "bytes", "documents"]
    found = resampled_rows(dict(zip(names, GroupSums.of_dense(dense).dense(names), strict=True)), seed=0, n=50)
    assert [*found] == names
    assert np.array_equal(found["tokens"][:50], 5 * weights[3] + 7 * weights[900])
    assert found["documents"] is found["tokens"]
    assert np.array_equal(found["bytes"][:50], 100_000_001 * weights[3] + 3 * weights[901])
    assert not found["lines"].any()
    parts = parts_of(np.array([found["bytes"]]))
    assert parts.left_out[0, [3, 901, 0]].tolist() == [3, 100_000_001, 100_000_004]
    assert parts.whole.tolist() == [100_000_004]


def test_resamples_are_counts_of_all_that_was_counted() -> None:
    tally = collect(tokbench.load("bytes"), [Document("one two"), Document("three")])
    key, context = CellKey("bytes", "d", "l"), MeasureContext(replicates=20)
    again = resampled(tally, key, context, known_of(key, context, [key.language]))
    assert {name: int(vars(again)[name][-1]) for name in NAMES} == tally.totals
    assert again.one(-1).words == again.one(-1).isolated_words == 3
    with pytest.raises(AttributeError, match="no attribute 'ids'"):
        _ = again.ids


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
