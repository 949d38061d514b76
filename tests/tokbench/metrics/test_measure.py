"""Measuring: plugin metrics, what is refused, several languages, baselines, lossy tokenizers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tokbench.metrics.measuring import NAMED, TEXTS, metric, one, parallel
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts
from tokbench.metrics.measure import measure
from tokbench.metrics.needs import missing_need
from tokbench.tally.collect import collect


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


def test_a_script_that_is_not_known_has_no_share(tally) -> None:
    audits = {"t": SimpleNamespace(scripts={"Latin": 3})}
    context = MeasureContext(audits=audits)
    rows = measure({CellKey("t", "d", "qqq"): tally}, [NAMED["script_share"]], context=context)
    assert "undefined: the script of the language 'qqq' is not known" in {row.status for row in rows}


def test_one_failing_metric_leaves_the_others(tally) -> None:
    rows = measure(
        {CellKey("t", "d", "eng"): tally},
        [metric(lambda t: 1 / 0), metric(lambda t: t.tokens, name="good")],
        context=MeasureContext(),
    )
    assert [row.status for row in rows if row.metric == "good"] == ["ok", "ok"]


def test_what_is_needed_is_named(tally, stand_ins) -> None:
    row = one(tally, metric(lambda t: 1, needs=("operators",)))
    assert row.status == "undefined: no operators (operators of two or more characters (code))"
    of_nothing = one(collect(stand_ins.Pieces(), []), metric(lambda t: 1, needs=("token_bytes",)))
    assert of_nothing.status.startswith("undefined: ")


@pytest.mark.parametrize(("language", "package"), [("rust", "rust"), ("und", "LANGUAGE"), ("all", "LANGUAGE")])
def test_the_grammar_to_install_is_named_of_known_languages_only(language, package) -> None:
    why = missing_need(
        metric(lambda t: 1, needs=("parsed_documents",)), [Counts(parsed_documents=0, language=language)]
    )
    assert why.endswith(f": pip install tree-sitter and tree-sitter-{package}")


def test_estimated_tokens_have_figures_where_code_makes_one_number_of_resamples(tally) -> None:
    context = MeasureContext(estimates={"t": (0.9, 1.1)})
    whole = metric(lambda t: float(np.sum(t.bytes) / np.sum(t.tokens)), no_interval="none")
    arrays = metric(lambda t: t.bytes / t.tokens, no_interval="none")
    found = [measure({CellKey("t", "d", "eng"): tally}, [each], context=context)[0] for each in (whole, arrays)]
    assert found[0].status == "ok"
    assert found[0].ci_low is not None
    assert found[0] == found[1]


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
    elsewhere = {key._replace(dataset="e") if key.tokenizer == "base" else key: cells[key] for key in cells}
    alone = measure(elsewhere, [NAMED["nsl"]], context=MeasureContext(baseline="base"), only={"t"})
    assert ["--baseline" in row.status for row in alone] == [True, True]


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


def test_words_of_thai_are_not_split_at_spaces(stand_ins) -> None:
    row = one(collect(stand_ins.Pieces(), [Document("กข คง")]), NAMED["fertility"])
    assert row.value == 3  # four characters of three bytes, not two words of six


def test_further_orders_of_renyi(tally) -> None:
    context = MeasureContext(vocab_sizes={"t": 257}, renyi_alphas=(1, 2.5, 3))
    rows = measure({CellKey("t", "d", "e"): tally}, [NAMED["renyi_efficiency"]], context=context)
    assert {row.metric for row in rows} == {
        "renyi_efficiency", "renyi_efficiency_1", "renyi_efficiency_3",
    }  # fmt: skip
