"""Agreement with public implementations, named with the versions that were compared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.metrics.fairness import gini, lorenz
from tokbench.metrics.information import percentile_frequency, renyi_entropy, zipf_slope

COUNTS = st.lists(st.integers(1, 5000), min_size=2, max_size=300)


@given(COUNTS, st.sampled_from([0.5, 2.0, 2.5, 3.0]))
def test_renyi_and_percentile_frequency_of_tokenization_scorer(counts: list[int], alpha: float) -> None:
    """tokenization-scorer 1.1.x."""
    scorer = pytest.importorskip("tokenization_scorer.metrics", reason="needs tokenization-scorer")
    text = [[str(i)] * min(count, 50) for i, count in enumerate(counts)]
    array = np.array([len(line) for line in text])
    observed = scorer.get_metric("renyi_efficiency")(text, power=alpha)
    assert renyi_entropy(array, alpha) / math.log2(len(array)) == pytest.approx(observed, abs=1e-9)
    declared = scorer.get_metric("renyi_efficiency")(text, power=alpha, vocab=5000)
    assert renyi_entropy(array, alpha) / math.log2(5000) == pytest.approx(declared, abs=1e-9)
    if len(array) > 5:
        frequency = scorer.get_metric("percentile_freq")(text)
        assert percentile_frequency(array, start=0.03, end=0.83) == pytest.approx(frequency, abs=1e-9)


@given(COUNTS)
def test_shannon_entropy_of_scipy(counts: list[int]) -> None:
    """scipy 1.17."""
    stats = pytest.importorskip("scipy.stats")
    assert renyi_entropy(np.array(counts), 1) == pytest.approx(stats.entropy(counts, base=2), abs=1e-9)


def test_slope_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    counts = np.sort(np.random.default_rng(0).zipf(1.5, 3000).clip(max=10**9))[::-1]
    ranks = np.unique(np.geomspace(1, 3000, 200).round().astype(int))
    expected = stats.linregress(np.log(ranks), np.log(counts[ranks - 1])).slope
    assert zipf_slope(counts) == pytest.approx(expected, abs=1e-9)


def test_interval_against_the_bootstrap_of_scipy(stand_ins) -> None:
    """scipy's bootstrap resamples documents with replacement; ours must agree to within the noise of both."""
    stats = pytest.importorskip("scipy.stats")
    from tokbench.corpus import Document
    from tokbench.metrics import CellKey
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.tally import collect

    rng = np.random.default_rng(5)
    texts = ["ab" * rng.integers(1, 40) + "x" * rng.integers(0, 60) + f" {i}" for i in range(800)]
    tokenizer = stand_ins.Pieces("ab")
    tokens = np.array([len(tokenizer.encode(text)) for text in texts])
    size = np.array([len(text) for text in texts])
    found = stats.bootstrap(
        (size, tokens), lambda b, t, axis: b.sum(axis=axis) / t.sum(axis=axis), paired=True, vectorized=True,
        n_resamples=2000, method="percentile", rng=rng,
    ).confidence_interval  # fmt: skip
    cells = {CellKey("t", "d", "e"): collect(tokenizer, map(Document, texts))}
    ratio = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]
    row = measure(cells, ratio, context=MeasureContext())[0]
    width = found.high - found.low
    assert row.value == pytest.approx(size.sum() / tokens.sum())
    assert row.ci_low == pytest.approx(found.low, abs=0.1 * width)
    assert row.ci_high == pytest.approx(found.high, abs=0.1 * width)


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=40))
def test_gini_is_its_definition(costs: list[float]) -> None:
    c = np.array(costs)
    n, mean = len(c), c.mean()
    slow = sum(abs(a - b) for a in c for b in c) / (2 * n**2 * mean)
    assert float(gini(c)) == pytest.approx(slow, abs=1e-9)
    assert 0 <= float(gini(c)) + 1e-12 < 1
    # twice the area between the Lorenz curve and the line of equality
    x, y = lorenz(c)
    assert 1 - 2 * np.trapezoid(y, x) == pytest.approx(slow, abs=1e-9)


def test_gini_of_bytes_as_tokens_is_nought_per_byte() -> None:
    assert float(gini(np.ones(200))) == 0
