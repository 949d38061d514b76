"""Intervals and p-values: which figures have them, and what they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.tokbench.metrics.measuring import NAMED, TEXTS, metric, one, p_of, parallel
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.differences import differences
from tokbench.metrics.intervals import bearing, intervals, normal_of_t, t_of_normal
from tokbench.metrics.measure import measure
from tokbench.metrics.resampling import resampled_sums
from tokbench.tally.collect import collect
from tokbench.tally.counters import GROUPS


def test_seeds_and_confidence(tally) -> None:
    plain = one(tally, metric(lambda t: t.tokens / t.bytes))
    assert one(tally, metric(lambda t: t.tokens / t.bytes)) == plain
    assert one(tally, metric(lambda t: t.tokens / t.bytes), seed=1).ci_low != plain.ci_low
    wide = one(tally, metric(lambda t: t.tokens / t.bytes), confidence=0.99)
    assert wide.ci_low < plain.ci_low
    assert one(tally, metric(lambda t: t.tokens / t.bytes), replicates=0).ci_low is None


def test_histograms_have_no_interval(tally) -> None:
    row = one(tally, metric(lambda t: len(t.ids)))
    assert row.value == len(tally.ids)
    assert row.ci_low is None


def test_one_document_has_no_interval(stand_ins) -> None:
    row = one(collect(stand_ins.Pieces(), [Document("abc")]), NAMED["compression_ratio"])
    assert row.value == 1
    assert row.ci_low is None


def test_one_document_has_the_intervals_of_figures_over_its_words(stand_ins) -> None:
    text = " ".join(f"{'x' * (number % 9)}word{number}" for number in range(200))
    cells = {
        CellKey(name, "d", "eng"): collect(stand_ins.Pieces(*known), [Document(text)])
        for name, known in (("t", ["word"]), ("u", ["word", "xx"]))
    }
    rows = measure(cells, CATALOGUE, context=MeasureContext())
    assert {row.metric for row in rows if row.ci_low is not None} == {"fertility_isolated"}
    compared = differences(cells, CATALOGUE, context=MeasureContext())
    assert {row.metric for row in compared if row.ci_low is not None or row.p is not None} == {
        "fertility_isolated"
    }


def resampled_figure(drawn: np.ndarray, each: np.ndarray) -> np.ndarray:
    """What a mean over documents is on resamples, for documents of these values."""
    left_out = np.full(GROUPS, each.mean())
    left_out[: len(each)] = (each.sum() - each) / (len(each) - 1)
    return np.concatenate([drawn, left_out, [each.mean()]])


def test_p_values_are_never_below_what_resamples_can_tell() -> None:
    rng = np.random.default_rng(0)
    each, drawn = rng.normal(6, 30, 900), rng.normal(6, 1, 1000)
    assert p_of(resampled_figure(drawn, each)) == pytest.approx(2 / 1001, rel=0.05)  # none beyond zero
    assert p_of(resampled_figure(drawn, each)) >= 2 / 1001
    assert p_of(resampled_figure(drawn - 6, each)) > 0.9
    counted = 2 * (1 + (drawn < 4).sum()) / 1001
    assert p_of(resampled_figure(drawn - 4, each)) == pytest.approx(counted, rel=0.05)
    few = p_of(resampled_figure(drawn - 4, each[:8]))
    assert few > 1.5 * counted  # eight documents tell less: the tail is one of Student's t
    assert p_of(resampled_figure(np.zeros(1000), np.zeros(9))) == 1
    assert p_of(resampled_figure(drawn, each[:1].repeat(9))) is None  # the same in each: nothing varies


@pytest.mark.parametrize("freedom", [4.0, 7.5, 30.0, 1000.0])
def test_deviates_are_those_of_student(freedom: float) -> None:
    """scipy 1.17; Wallace's approximation is within half a percent from four degrees of freedom on."""
    stats = pytest.importorskip("scipy.stats")
    for z in (0.5, 1.645, 1.96, 2.576):
        exact = stats.t.isf(stats.norm.sf(z), freedom)
        assert t_of_normal(z, freedom) == pytest.approx(exact, rel=0.005 if z < 2 else 0.02)
        assert normal_of_t(t_of_normal(-z, freedom), freedom) == pytest.approx(-z)
    assert t_of_normal(3.0, 0.01) == math.inf


def test_how_documents_bear_on_a_figure() -> None:
    """Degrees of freedom by their definition, and whether normal documents have one fewer than their number."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        each = rng.normal(1, 1, 60)
        figure = resampled_figure(np.zeros(10), each)[None]
        groups, freedom = bearing(figure[:, 10:-1], figure[:, -1])
        assert groups == 60
        found.append(float(freedom[0]))
    d = (each - each.mean()) ** 2
    slow = min(59, 2 / ((d**2).sum() / d.sum() ** 2 - 1 / 60))
    assert found[-1] == pytest.approx(slow, rel=1e-9)
    assert np.median(found) == pytest.approx(59, rel=0.15)


def test_what_never_varied_is_not_certain(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), map(Document, TEXTS))
    kept = one(tally, NAMED["round_trip"])
    assert (kept.value, kept.ci_high) == (1, 1)
    assert kept.ci_low == pytest.approx(0.025 ** (1 / len(tally.groups.rows)))
    stats = pytest.importorskip("scipy.stats")
    n = len(tally.groups.rows)
    assert kept.ci_low == pytest.approx(stats.binomtest(n, n).proportion_ci(0.95).low)
    split = one(tally, NAMED["split_characters"])
    assert (split.value, split.ci_low) == (0, None)


def test_what_is_decided_by_one_document_has_no_interval(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), map(Document, ["5678", *TEXTS]))
    row = one(tally, metric(lambda t: t.digit_cuts / t.digit_reach))
    assert row.value is not None
    assert row.ci_low is None


@pytest.mark.parametrize(("n", "uneven"), [(6, 0.2), (9, 1.0), (12, 2.0), (60, 3.0), (400, 1.0)])
@pytest.mark.parametrize("replicates", [60, 1000])
def test_an_interval_leaves_out_zero_where_the_p_value_is_below_its_level(n, uneven, replicates) -> None:
    """Of few documents, of some that decide alone, of few resamples: else a page contradicts itself."""
    rng = np.random.default_rng([n, replicates])
    agreed = 0
    for effect in np.repeat(np.linspace(0, 4 / n**0.5, 12), 5):
        sums = np.zeros((2, GROUPS))
        size = rng.lognormal(0, uneven, n)
        sums[:, :n] = size * (effect + rng.normal(0, 1, n)), size
        drawn, of = resampled_sums(sums, seed=0, n=replicates)
        with np.errstate(all="ignore"):
            figure = drawn / of
        [limits] = intervals([figure], 0.95, n)
        p = p_of(figure)
        sure = limits is not None and not limits[0] <= 0 <= limits[1]
        assert sure == (p is not None and p < 0.05), (limits, p)
        agreed += sure
    assert agreed or n < 10 or replicates < 100  # where there is something to agree on


@pytest.mark.parametrize(
    ("replicates", "known"), [(0, False), (1, False), (39, False), (40, False), (50, True)]
)
def test_few_resamples_give_no_interval(tally, replicates: int, known: bool) -> None:
    """One at least is expected beyond each end: of 200 documents a little seldomer than of endless ones."""
    row = one(tally, NAMED["fertility"], replicates=replicates)
    assert row.value is not None
    assert (row.ci_low is not None) == known


@pytest.mark.parametrize(("lines", "known"), [(2, False), (5, False), (20, True)])
def test_few_equal_documents_have_no_interval_instead_of_one_without_width(stand_ins, lines, known) -> None:
    texts = {"eng": ["ab"] * lines, "twice": ["abab"] * lines}
    cells = parallel(stand_ins.Pieces(), languages=texts)
    cells |= parallel(stand_ins.Pieces("ab"), languages=texts, name="other")
    asked = [NAMED[name] for name in ("premium", "gini", "compression_ratio", "tokens_per_line", "round_trip")]
    context = MeasureContext(parallel={"d": True}, baseline="t")
    rows = measure(cells, asked, context=context)
    ends = {(row.metric, row.language, row.ci_low) for row in rows if row.tokenizer == "t" and row.value}
    assert ("premium", "twice", 2.0 if known else None) in ends
    assert ("compression_ratio", "eng", None) in ends
    share = next(row for row in rows if row.metric == "round_trip" and row.language == "eng")
    assert share.ci_low is not None  # exact, of however few
    assert share.ci_high == 1
    apart = {row.metric: row for row in differences(cells, asked, context=context) if row.language == "all"}
    assert apart["compression_ratio"].value == 1
    assert (apart["compression_ratio"].ci_low == 1) == known
    assert (apart["gini"].ci_low == 0) == known


def test_a_mean_over_languages_that_never_varied_has_no_interval_as_the_figures_it_is_made_of(
    stand_ins,
) -> None:
    """Of languages set against one another it is a point: that difference is the same in every document."""
    languages = {"eng": [f"{'ab' * (n % 7)}x" for n in range(40)], "twice": ["abab" * 3] * 40}
    cells = parallel(stand_ins.Pieces(), languages=languages)
    asked = [NAMED[name] for name in ("compression_ratio", "compression_ratio_macro", "gini_bytes")]
    rows = measure(cells, asked, context=MeasureContext(parallel={"d": True}))
    ends = {row.metric: (row.value, row.ci_low, row.ci_high) for row in rows if row.language == "all"}
    assert ends["compression_ratio"] == ends["compression_ratio_macro"] == (1, None, None)
    assert ends["gini_bytes"] == (0, 0, 0)


def test_a_metric_may_say_that_it_has_no_interval(tally) -> None:
    row = one(tally, metric(lambda t: t.tokens, no_interval="The tokens of this very text."))
    assert (row.value, row.ci_low) == (tally.tokens, None)
