"""Measuring: plugin metrics, intervals, what is refused, baselines, lossy tokenizers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tokbench.corpus import Document
from tokbench.metrics import CellKey, Metric
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.cell import unit_of
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.counts import Counts
from tokbench.metrics.differences import differences
from tokbench.metrics.intervals import bearing, normal_of_t, p_value, t_of_normal
from tokbench.metrics.measure import measure
from tokbench.tally import CorpusFacts, Tally
from tokbench.tally.collect import collect
from tokbench.tally.counters import GROUPS

NAMED = {metric.name: metric for metric in CATALOGUE}
TEXTS = [f"ab {'ab' * (i % 5)} c{i}" for i in range(200)]


def metric(compute, **more) -> Metric:
    return Metric(
        **{"name": "mine", "unit": "x", "better": "lower", "summary": "Mine.", "compute": compute} | more
    )


def one(tally: Tally, *metrics: Metric, **more):
    rows = measure({CellKey("t", "d", "eng"): tally}, metrics, context=MeasureContext(**more))
    return next(row for row in rows if row.language in ("eng", "all"))


@pytest.fixture(scope="module")
def tally(stand_ins) -> Tally:
    return collect(stand_ins.Pieces("ab"), map(Document, TEXTS))


def test_the_smallest_plugin_metric_gets_an_interval(tally) -> None:
    row = one(tally, metric(lambda t: t.tokens / t.bytes))
    assert row.value == tally.tokens / tally.bytes
    assert row.ci_low < row.value < row.ci_high
    assert (row.tokenizer, row.dataset, row.n_documents, row.status) == ("t", "d", 200, "ok")


def test_code_for_numbers_only_gets_the_same_interval(tally) -> None:
    arrays = one(tally, metric(lambda t: t.tokens / t.bytes))
    numbers = one(tally, metric(lambda t: math.fsum([t.tokens]) / float(t.bytes) if t.bytes > 0 else None))
    assert (numbers.ci_low, numbers.ci_high) == (arrays.ci_low, arrays.ci_high)


def test_code_that_makes_one_number_of_all_resamples_gets_the_same_interval(tally) -> None:
    """`mean` takes arrays without a word, and once it was taken for a figure without resamples."""
    arrays = one(tally, metric(lambda t: t.tokens / t.bytes))
    mean = one(tally, metric(lambda t: np.mean([t.tokens / t.bytes, t.tokens / t.bytes])))
    assert (mean.ci_low, mean.ci_high) == (arrays.ci_low, arrays.ci_high)
    assert one(tally, metric(lambda t: 2)).ci_low is None


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


@pytest.mark.parametrize(
    ("compute", "status"),
    [
        (lambda t: None, "undefined: "),
        (lambda t: float("nan"), "undefined: "),
        (lambda t: 1 / 0, "undefined: "),
        (lambda t: t.nonsense, "failed: AttributeError"),
        (lambda t: "seven", "failed: compute returned str"),
        (lambda t: {}["x"], "failed: KeyError"),
    ],
)
def test_what_goes_wrong_is_a_status(tally, compute, status) -> None:
    row = one(tally, metric(compute))
    assert row.value is None
    assert row.status.startswith(status)


def test_a_metric_of_languages_is_told_of_as_one_of_a_cell(stand_ins) -> None:
    cells = parallel(stand_ins.Pieces(), languages={"eng": ["ab"] * 9, "fra": ["abc"] * 9})
    for compute, status in (
        (lambda g: 1 / 0, "undefined: nothing to divide by"),
        (lambda g: g.nonsense, "failed: AttributeError"),
    ):
        rows = measure(
            cells, [metric(compute, level="languages")], context=MeasureContext(parallel={"d": True})
        )
        assert {row.status.startswith(status) for row in rows} == {True}, [row.status for row in rows]


def test_one_failing_metric_leaves_the_others(tally) -> None:
    rows = measure(
        {CellKey("t", "d", "eng"): tally},
        [metric(lambda t: 1 / 0), metric(lambda t: t.tokens, name="good")],
        context=MeasureContext(),
    )
    assert [row.status for row in rows if row.metric == "good"] == ["ok", "ok"]


def test_what_is_needed_is_named(tally) -> None:
    row = one(tally, metric(lambda t: 1, needs=("operators",)))
    assert row.status == "undefined: no operators (operators of two or more characters (code))"


def test_estimated_tokens_have_figures_where_code_makes_one_number_of_resamples(tally) -> None:
    context = MeasureContext(estimates={"t": (0.9, 1.1)})
    whole = metric(lambda t: float(np.sum(t.bytes) / np.sum(t.tokens)), no_interval="none")
    arrays = metric(lambda t: t.bytes / t.tokens, no_interval="none")
    found = [measure({CellKey("t", "d", "eng"): tally}, [each], context=context)[0] for each in (whole, arrays)]
    assert found[0].status == "ok"
    assert found[0].ci_low is not None
    assert found[0] == found[1]


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


def test_all_is_the_sum_of_the_languages(stand_ins) -> None:
    tokenizer = stand_ins.Pieces("ab")
    cells = {
        CellKey("t", "d", language): collect(tokenizer, map(Document, texts))
        for language, texts in (("a", TEXTS[:50]), ("b", TEXTS[50:]))
    }
    rows = measure(cells, [NAMED["compression_ratio"]], context=MeasureContext())
    together = collect(tokenizer, map(Document, TEXTS))
    assert [row.language for row in rows] == ["a", "b", "all"]
    assert rows[2].value == together.bytes / together.tokens
    whole = one(together, NAMED["compression_ratio"])
    assert (rows[2].ci_low, rows[2].ci_high) == (whole.ci_low, whole.ci_high)


def parallel(tokenizer, *, languages: dict[str, list[str]], name: str = "t") -> dict[CellKey, Tally]:
    facts = CorpusFacts(parallel=True)
    return {
        CellKey(name, "d", language): collect(
            tokenizer, [Document(text, line=i) for i, text in enumerate(texts)], facts=facts
        )
        for language, texts in languages.items()
    }


def test_languages_are_compared_on_parallel_text_only(stand_ins) -> None:
    cells = parallel(stand_ins.Pieces(), languages={"eng": ["ab"] * 9, "fra": ["abc"] * 9})
    asked = [NAMED["premium"], NAMED["gini"]]
    refused = measure(cells, asked, context=MeasureContext(parallel={"d": False}))
    assert all(row.value is None and "parallel text" in row.status for row in refused)
    given = measure(cells, asked, context=MeasureContext(parallel={"d": True}))
    values = {(row.metric, row.language): row.value for row in given}
    assert values["premium", "fra"] == 1.5
    assert values["premium", "eng"] == 1
    assert values["gini", "all"] == pytest.approx(1 / 10)
    to_french = measure(cells, asked, context=MeasureContext(parallel={"d": True}, reference="fra"))
    assert {row.language: row.value for row in to_french if row.metric == "premium"}["eng"] == pytest.approx(
        2 / 3
    )


def test_languages_with_other_lines_are_refused(stand_ins) -> None:
    cells = parallel(stand_ins.Pieces(), languages={"eng": ["ab"] * 9, "fra": ["abc"] * 8})
    rows = measure(cells, [NAMED["gini"]], context=MeasureContext(parallel={"d": True}))
    assert "do not have the same lines (8 to 9)" in rows[-1].status


def test_a_reference_that_is_not_there_is_said(stand_ins) -> None:
    cells = parallel(stand_ins.Pieces(), languages={"eng": ["ab"] * 2, "fra": ["abc"] * 2})
    context = MeasureContext(parallel={"d": True}, reference="deu")
    rows = measure(cells, [NAMED["premium"]], context=context)
    assert rows[0].status == "undefined: the reference language is not in this dataset"


def test_a_language_that_is_lost_is_no_reference(stand_ins) -> None:
    cells = parallel(stand_ins.Words("a", "b"), languages={"tha": ["xyz"] * 5, "eng": ["a b a"] * 5})
    rows = measure(cells, [NAMED["premium"]], context=MeasureContext(parallel={"d": True}))
    assert {row.language: row.value for row in rows}["eng"] == 1


def test_premiums_pair_by_line(stand_ins) -> None:
    lines = ["ab" * (1 + i % 40) for i in range(500)]
    cells = parallel(stand_ins.Pieces(), languages={"eng": lines, "twice": [line + line for line in lines]})
    rows = measure(cells, [NAMED["premium"]], context=MeasureContext(parallel={"d": True}))
    twice = next(row for row in rows if row.language == "twice")
    assert (twice.value, twice.ci_low, twice.ci_high) == (2, 2, 2)


def test_relative_to_a_baseline(stand_ins) -> None:
    cells = {
        CellKey(name, "d", "eng"): collect(tokenizer, map(Document, TEXTS))
        for name, tokenizer in (("base", stand_ins.Pieces()), ("t", stand_ins.Pieces("ab")))
    }
    rows = measure(cells, [NAMED["nsl"]], context=MeasureContext(baseline="base"))
    values = {(row.tokenizer, row.language): row for row in rows}
    expected = cells[CellKey("t", "d", "eng")].tokens / cells[CellKey("base", "d", "eng")].tokens
    assert values["t", "eng"].value == values["t", "all"].value == expected
    assert values["t", "eng"].ci_low < expected < values["t", "eng"].ci_high
    assert values["base", "eng"].ci_high == 1
    without = measure(cells, [NAMED["nsl"]], context=MeasureContext())
    assert all("--baseline" in row.status for row in without)


def test_rows_of_some_tokenizers_only(stand_ins) -> None:
    pieces = {"base": stand_ins.Pieces("a"), "t": stand_ins.Pieces("ab")}
    cells = {
        CellKey(name, "d", language): collect(piece, map(Document, TEXTS[start:]))
        for name, piece in pieces.items()
        for language, start in (("eng", 0), ("deu", 90))
    }
    calls: list[int] = []

    def counted(t):
        calls.append(1)
        return t.tokens / t.bytes

    metrics, context = [NAMED["nsl"], metric(counted)], MeasureContext(baseline="base")
    every = measure(cells, metrics, context=context)
    of_both = len(calls)
    some = measure(cells, metrics, context=context, only={"t"})
    assert some == [row for row in every if row.tokenizer == "t"]
    assert 2 * (len(calls) - of_both) == of_both


def test_lossy_tokenizers_leave_the_ranking_at_the_users_wish(stand_ins) -> None:
    cells = {
        CellKey("lossy", "small", "eng"): collect(stand_ins.Lowering(), map(Document, ["ab", "b"])),
        CellKey("lossy", "d", "eng"): collect(stand_ins.Lowering(), map(Document, ["Ab", "b"])),
        CellKey("exact", "d", "eng"): collect(stand_ins.Pieces(), map(Document, ["Ab", "b"])),
    }
    asked = [NAMED[name] for name in ("compression_ratio", "round_trip", "token_length")]
    rows = measure(cells, asked, context=MeasureContext(exclude_lossy=True))
    found = {(row.tokenizer, row.metric): row for row in rows if row.language == "eng" and row.dataset == "d"}
    assert found["lossy", "compression_ratio"].value is None
    assert found["lossy", "compression_ratio"].status.startswith("skipped: the tokenizer loses text")
    assert found["lossy", "round_trip"].value == 0.5
    assert found["exact", "compression_ratio"].value == 1
    small = [row.value for row in rows if (row.dataset, row.metric) == ("small", "compression_ratio")]
    assert small == [1, 1]  # nothing is lost of that text


def test_the_word_that_was_counted_is_named(stand_ins) -> None:
    def unit(*documents: Document) -> str:
        return one(collect(stand_ins.Pieces(), documents), NAMED["fertility"]).unit

    assert unit(Document("ab cd")) == "tokens/word (UAX #29)"
    assert unit(Document("ab", words=((0, 2),))) == "tokens/word (gold)"
    assert "one per character" in unit(Document("ไทย"))
    assert unit(Document("ไทย ab cd")) == "tokens/word (UAX #29: single characters in some scripts)"


def test_the_currency_and_the_sample_are_named(tally, stand_ins) -> None:
    prices = PriceTable("EUR", {"t": 2.0})
    assert one(tally, NAMED["cost"], prices=prices).unit == "EUR"
    assert one(tally, NAMED["cost_per_million_words"], prices=prices).unit == "EUR per million words (UAX #29)"
    assert one(tally, NAMED["bigram_entropy"]).unit == "bits"
    long = collect(stand_ins.Pieces(), (Document(f"{i} " + "ab" * 500) for i in range(1000)))
    unit = one(long, NAMED["bigram_entropy"]).unit
    assert unit == f"bits (sample of {round(long.ngrams.n_bytes / 1024)} KiB)"
    assert long.ngrams.n_bytes <= 512 * 1024


def test_blocks_of_one_text_are_no_clusters_in_the_table_either(tally) -> None:
    assert one(tally, NAMED["clusters"]).unit == "clusters"
    assert "consecutive" in one(tally, NAMED["clusters"], consecutive=frozenset({"d"})).unit


def test_words_of_thai_are_not_split_at_spaces(stand_ins) -> None:
    row = one(collect(stand_ins.Pieces(), [Document("กข คง")]), NAMED["fertility"])
    assert row.value == 3  # four characters of three bytes, not two words of six


def test_further_orders_of_renyi(tally) -> None:
    context = MeasureContext(vocab_sizes={"t": 257}, renyi_alphas=(1, 2.5, 3))
    rows = measure({CellKey("t", "d", "e"): tally}, [NAMED["renyi_efficiency"]], context=context)
    assert {row.metric for row in rows} == {
        "renyi_efficiency", "renyi_efficiency_1", "renyi_efficiency_3",
    }  # fmt: skip


def resampled_figure(drawn: np.ndarray, each: np.ndarray) -> np.ndarray:
    """What a mean over documents is on resamples, for documents of these values."""
    left_out = np.full(GROUPS, each.mean())
    left_out[: len(each)] = (each.sum() - each) / (len(each) - 1)
    return np.concatenate([drawn, left_out, [each.mean()]])


def test_p_values_are_never_below_what_resamples_can_tell() -> None:
    rng = np.random.default_rng(0)
    each, drawn = rng.normal(6, 30, 900), rng.normal(6, 1, 1000)
    assert p_value(resampled_figure(drawn, each)) == pytest.approx(2 / 1001, rel=0.05)  # none beyond zero
    assert p_value(resampled_figure(drawn, each)) >= 2 / 1001
    assert p_value(resampled_figure(drawn - 6, each)) > 0.9
    counted = 2 * (1 + (drawn < 4).sum()) / 1001
    assert p_value(resampled_figure(drawn - 4, each)) == pytest.approx(counted, rel=0.05)
    few = p_value(resampled_figure(drawn - 4, each[:8]))
    assert few > 1.5 * counted  # eight documents tell less: the tail is one of Student's t
    assert p_value(resampled_figure(np.zeros(1000), np.zeros(9))) == 1
    assert p_value(resampled_figure(drawn, each[:1].repeat(9))) is None  # the same in each: nothing varies


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


@pytest.mark.parametrize(("replicates", "known"), [(0, False), (1, False), (39, False), (40, True)])
def test_few_resamples_give_no_interval(tally, replicates: int, known: bool) -> None:
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


def test_a_metric_may_say_that_it_has_no_interval(tally) -> None:
    row = one(tally, metric(lambda t: t.tokens, no_interval="The tokens of this very text."))
    assert (row.value, row.ci_low) == (tally.tokens, None)


def test_only_what_is_over_the_words_that_are_counted_says_which_words_they_are() -> None:
    def unit(*needs: str) -> str:
        metric = Metric(name="own", unit="swords", better="none", summary="s", needs=needs, compute=len)
        return unit_of(metric, Counts(words=3, gold_words=0, unspaced_words=0))

    assert unit("bytes") == "swords"
    assert unit("words") == "swords (UAX #29)"
