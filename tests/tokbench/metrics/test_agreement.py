"""Agreement with public implementations, named with the versions that were compared."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.entropy import chao_shen, miller_madow, renyi_entropy
from tokbench.metrics.fairness import gini
from tokbench.metrics.information import efficiency, percentile_frequency, zipf_slope
from tokbench.metrics.measure import measure
from tokbench.tally.collect import collect

COUNTS = st.lists(st.integers(1, 5000), min_size=2, max_size=300)


@pytest.mark.parametrize("alpha", [70, 1000, 1e10, 1e308])
def test_high_orders_of_renyi_entropy_come_to_the_min_entropy(alpha: float) -> None:
    assert renyi_entropy(np.ones(50_000, np.int64), alpha) == pytest.approx(math.log2(50_000))
    skewed = np.array([5, 3, 2, 1])
    lowest = renyi_entropy(skewed, math.inf)
    assert lowest - 1e-12 <= renyi_entropy(skewed, alpha) <= alpha / (alpha - 1) * lowest + 1e-12


@given(COUNTS, st.sampled_from([0.5, 1.0, 2.0, 2.5, 3.0]))
def test_renyi_and_percentile_frequency_of_tokenization_scorer(counts: list[int], alpha: float) -> None:
    """tokenization-scorer 1.1.8."""
    scorer = pytest.importorskip("tokenization_scorer.metrics", reason="needs tokenization-scorer")
    text = [[str(i)] * min(count, 50) for i, count in enumerate(counts)]
    array = np.array([len(line) for line in text])
    assert renyi_entropy(array, alpha) == pytest.approx(
        scorer.get_metric("renyi_entropy")(text, power=alpha), abs=1e-9
    )
    observed = scorer.get_metric("renyi_efficiency")(text, power=alpha)
    assert efficiency(array, alpha, len(array)) == pytest.approx(observed, abs=1e-9)
    declared = scorer.get_metric("renyi_efficiency")(text, power=alpha, vocab=5000)
    assert efficiency(array, alpha, 5000) == pytest.approx(declared, abs=1e-9)
    if len(array) > 5:
        frequency = scorer.get_metric("percentile_freq")(text)
        assert percentile_frequency(array, start=0.03, end=0.83) == pytest.approx(frequency, abs=1e-9)


def test_figures_of_real_text_are_those_of_tokenization_scorer_and_scipy(test_data: Path) -> None:
    """From text to rows, GPT-2 on 1,000 German sentences: tokenization-scorer 1.1.8 and scipy 1.17."""
    scorer = pytest.importorskip("tokenization_scorer.metrics", reason="needs tokenization-scorer")
    stats = pytest.importorskip("scipy.stats")
    tokenizer = tokbench.load("tiktoken:gpt2")
    [path] = (test_data / "corpora" / "pud").glob("de*.txt")
    lines = path.read_text("utf-8").splitlines()
    text = [tokenizer.encode(line) for line in lines]
    cells = {CellKey("t", "d", "deu"): collect(tokenizer, map(Document, lines))}
    context = MeasureContext(vocab_sizes={"t": 50257}, replicates=0, renyi_alphas=(0.5, 3))
    asked = [metric for metric in CATALOGUE if metric.group == "information"]
    found = {row.metric: row.value for row in measure(cells, asked, context=context) if row.language == "deu"}
    for name, value in {
        "renyi_efficiency": scorer.get_metric("renyi_efficiency")(text, power=2.5, vocab=50257),
        "renyi_efficiency_0.5": scorer.get_metric("renyi_efficiency")(text, power=0.5, vocab=50257),
        "renyi_efficiency_3": scorer.get_metric("renyi_efficiency")(text, power=3.0, vocab=50257),
        "renyi_efficiency_observed": scorer.get_metric("renyi_efficiency")(text, power=2.5),
        "shannon_entropy": scorer.get_metric("shannon_entropy")(text),
        "shannon_efficiency": scorer.get_metric("shannon_efficiency")(text, vocab=50257),
        "percentile_frequency": scorer.get_metric("percentile_freq")(text),
        **{
            name: stats.entropy(list(Counter(chain.from_iterable(grams)).values()), base=2)
            for name, grams in (
                ("bigram_entropy", map(pairwise, text)),
                ("trigram_entropy", (zip(ids, ids[1:], ids[2:], strict=False) for ids in text)),
            )
        },
    }.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


@given(COUNTS)
def test_shannon_entropy_of_scipy(counts: list[int]) -> None:
    """scipy 1.17."""
    stats = pytest.importorskip("scipy.stats")
    assert renyi_entropy(np.array(counts), 1) == pytest.approx(stats.entropy(counts, base=2), abs=1e-9)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60))
def test_corrected_entropies_are_their_definitions(counts: list[int]) -> None:
    array = np.array(counts)
    n, once = sum(counts), min(counts.count(1), sum(counts) - 1)
    slow = -sum(count / n * math.log2(count / n) for count in counts)
    assert miller_madow(array) == pytest.approx(slow + (len(counts) - 1) / (2 * n * math.log(2)), abs=1e-9)
    if len(counts) > 1:
        shares = [(1 - once / n) * count / n for count in counts]
        slow = -sum(p * math.log2(p) / (1 - (1 - p) ** n) for p in shares)
        assert chao_shen(array) == pytest.approx(slow, rel=1e-9)
    else:
        assert chao_shen(array) == 0


def test_corrections_come_nearer_to_the_truth() -> None:
    """Draws from a distribution of Zipf, of which too few are seen; counting alone is far below its entropy."""
    rng = np.random.default_rng(2)
    shares = 1 / np.arange(1, 2001)
    shares /= shares.sum()
    truth = -(shares * np.log2(shares)).sum()
    for n, estimate in ((1000, chao_shen), (20000, miller_madow)):
        draws = [rng.multinomial(n, shares) for _ in range(20)]
        counted = np.mean([renyi_entropy(draw, 1) for draw in draws])
        corrected = np.mean([estimate(draw) for draw in draws])
        assert counted < truth
        assert abs(corrected - truth) < 0.4 * (truth - counted)


def test_slope_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    counts = np.sort(np.random.default_rng(0).zipf(1.5, 3000).clip(max=10**9))[::-1]
    ranks = np.unique(np.geomspace(1, 3000, 200).round().astype(int))
    expected = stats.linregress(np.log(ranks), np.log(counts[ranks - 1])).slope
    assert zipf_slope(counts) == pytest.approx(expected, abs=1e-9)


def test_interval_against_the_bootstrap_of_scipy(stand_ins) -> None:
    """scipy's bootstrap resamples documents with replacement; ours must agree to within the noise of both."""
    stats = pytest.importorskip("scipy.stats")
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
    shares = np.append(0.0, np.cumsum(np.sort(c)) / c.sum())
    assert 1 - 2 * np.trapezoid(shares, np.linspace(0, 1, n + 1)) == pytest.approx(slow, abs=1e-9)
