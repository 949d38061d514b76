"""Paired differences between tokenizers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tokbench.corpus import Document
from tokbench.metrics import CellKey, Metric
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.differences import differences
from tokbench.tally.collect import collect

RATIO = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]
TEXTS = [f"{'ab' * (i % 7)} x{'y' * (i % 31)} 1{i}" for i in range(400)]


@pytest.fixture(scope="module")
def cells(stand_ins):
    tokenizers = {
        "base": stand_ins.Pieces(),
        "same": stand_ins.Pieces(),
        "better": stand_ins.Pieces("ab"),
        "hardly": stand_ins.Pieces("\u2603"),
    }
    return {
        CellKey(name, "d", "eng"): collect(tokenizer, map(Document, TEXTS))
        for name, tokenizer in tokenizers.items()
    }


def test_against_a_baseline(cells) -> None:
    rows = differences(cells, RATIO, context=MeasureContext(baseline="base"))
    assert len(rows) == 6  # three tokenizers, on the language and on all
    found = {row.tokenizer: row for row in rows if row.language == "eng"}
    better = found["better"]
    assert better.value == pytest.approx(better.ratio - 1)  # bytes have a ratio of 1
    assert 0 < better.ci_low < better.value < better.ci_high
    assert 2 / 1001 <= better.p < 3 / 1001
    assert better.p <= better.p_adjusted < 0.01
    assert (found["same"].value, found["same"].p, found["same"].p_adjusted) == (0, 1, 1)


def test_every_pair_without_a_baseline(cells) -> None:
    rows = differences(cells, RATIO, context=MeasureContext())
    pairs = {(row.tokenizer, row.baseline) for row in rows}
    assert len(pairs) == 6
    assert ("better", "base") in pairs


def test_pairing_makes_differences_certain(cells) -> None:
    """The difference varies less than the figures would if they were drawn apart."""
    row = next(
        row
        for row in differences(cells, RATIO, context=MeasureContext(baseline="base"))
        if row.tokenizer == "better"
    )
    assert row.ci_high - row.ci_low < 0.1


def test_nulls_have_the_reason(cells) -> None:
    unk = [metric for metric in CATALOGUE if metric.name == "context_words"]
    rows = differences(cells, unk, context=MeasureContext(baseline="base"))
    assert all(row.value is None and "context length" in row.status for row in rows)


def test_figures_beyond_numbers_are_undefined_and_take_no_others_along(cells) -> None:
    def made(name, compute, level="cell"):
        about = {"unit": "x", "better": "lower", "summary": "", "level": level}
        return Metric(name=name, compute=compute, **about)

    odd = [
        made("large", lambda t: 10**400),
        made("apart", lambda t: 1e308 if t.tokens < t.bytes else -1e308),
        made("least", lambda t: t.tokens * 5e-324),
        made("largest", lambda t: 1e300 / t.bytes if t.tokens == t.bytes else 1e308),
        replace(made("across", lambda languages: 10**400, "languages"), needs=("several",)),
    ]
    several = cells | {key._replace(language="deu"): tally for key, tally in cells.items()}
    rows = differences(several, [*RATIO, *odd], context=MeasureContext(baseline="base"))
    found = {row.metric: row for row in rows if row.tokenizer == "better" and row.language == "all"}
    assert found["compression_ratio"].value > 0
    assert "OverflowError" in found["large"].status
    assert "OverflowError" in found["across"].status
    assert (found["apart"].value, found["apart"].status) == (None, "undefined: not a finite number")
    for row in rows:
        figures = (row.value, row.ratio, row.ci_low, row.ci_high, row.p)
        assert all(each is None or math.isfinite(each) for each in figures), row


def test_documents_that_others_lack_are_not_compared(cells, stand_ins) -> None:
    more = {**cells, CellKey("base", "d", "fra"): collect(stand_ins.Pieces(), [Document("x")])}
    rows = differences(more, RATIO, context=MeasureContext(baseline="base"))
    assert {row.language for row in rows} == {"eng"}


def test_figures_of_several_languages_together_are_paired_too(cells, stand_ins) -> None:
    tokenizers = {"base": stand_ins.Pieces(), "better": stand_ins.Pieces("ab")}
    several = {
        CellKey(name, "d", language): collect(tokenizer, map(Document, texts))
        for name, tokenizer in tokenizers.items()
        for language, texts in {"eng": TEXTS, "deu": TEXTS[:200]}.items()
    }
    macro = [metric for metric in CATALOGUE if metric.name == "compression_ratio_macro"]
    [row] = differences(several, macro, context=MeasureContext(baseline="base"))
    assert row.language == "all"
    assert 0 < row.ci_low < row.value < row.ci_high
    assert row.p_adjusted < 0.01
    assert differences(cells, macro, context=MeasureContext(baseline="base")) == []  # of one language


def test_every_metric_and_language_of_a_dataset_is_one_family(cells, stand_ins) -> None:
    """The p-value of a weak difference grows with what is looked at beside it."""
    hardly = collect(stand_ins.Pieces("x" + "y" * 7), map(Document, TEXTS))
    pair = {
        CellKey("base", "d", "eng"): cells[CellKey("base", "d", "eng")],
        CellKey("hardly", "d", "eng"): hardly,
    }
    many = [metric for metric in CATALOGUE if metric.group in ("compression", "words", "structure")]
    alone, among = (
        next(row for row in differences(pair, metrics, context=MeasureContext()) if row.metric == RATIO[0].name)
        for metrics in (RATIO, many)
    )
    assert alone.p == among.p
    assert among.p_adjusted >= alone.p_adjusted >= alone.p
