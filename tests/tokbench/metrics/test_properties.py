"""What holds for every figure of any text: bounds, and that order and sharding of documents do not matter."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokbench.corpus import Document
from tokbench.metrics import CellKey, Measurement
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.gold import GoldWord
from tokbench.metrics.measure import measure
from tokbench.metrics.morphemes import score
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.tally import Tally

WORDS = st.sampled_from(["ab", "abab", "é", "ж", "12", "1234567", "==", "\n  x", "fooBar", "ไทย", "漢字"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=30)
LANGUAGES = ("eng_Latn", "rus_Cyrl", "tha_Thai")
COUNTING = [counting for metric in CATALOGUE if (counting := metric.counting) is not None]
FACTS = {"text": CorpusFacts(parallel=True), "code": CorpusFacts(kind="code", language="python")}


def rows_of(cells: dict[CellKey, Tally], tokenizers: dict[str, object]) -> list[Measurement]:
    gold = [GoldWord("abab", (2,)), GoldWord("fooBars", (3, 6)), GoldWord("xé", (1,))]
    context = MeasureContext(
        vocab_sizes=dict.fromkeys(tokenizers, 300),
        parallel={"text": True},
        kinds={"code": "code"},
        baseline="base",
        prices=PriceTable("EUR", dict.fromkeys(tokenizers, 2.0)),
        context_length=1000,
        morphology={(name, "eng_Latn"): score(tokenizer, gold) for name, tokenizer in tokenizers.items()},
        replicates=200,
    )
    return measure(cells, CATALOGUE, context=context)


def counted(tokenizer, texts: list[str], shards: int, *, rotate: bool) -> dict[tuple[str, str], Tally]:
    """The tallies of a tokenizer on three languages and as code, counted in shards in one order or another."""
    found = {}
    for number, language in enumerate(LANGUAGES):
        documents = [Document(text * (1 + (i + number) % 3), line=i) for i, text in enumerate(texts)]
        for dataset in ("text", "code"):
            parts = [documents[shard::shards] for shard in range(shards)]
            parts = [part[::-1] for part in reversed(parts)] if rotate else parts
            found[dataset, language] = Tally.sum(
                collect(tokenizer, part, facts=FACTS[dataset], counting=COUNTING) for part in parts
            )
    return found


@pytest.mark.long
@given(TEXTS, st.integers(2, 5))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_and_sharding_change_no_figure_and_no_interval(stand_ins, texts: list[str], shards: int) -> None:
    tokenizers = {"t": stand_ins.Pieces("ab", " ab", "12", "oo"), "base": stand_ins.Words("ab", "x", "12")}
    found = []
    for pieces, rotate in ((1, False), (shards, True)):
        cells = {
            CellKey(name, dataset, language): tally
            for name, tokenizer in tokenizers.items()
            for (dataset, language), tally in counted(tokenizer, texts, pieces, rotate=rotate).items()
        }
        found.append(rows_of(cells, tokenizers))
    assert found[0] == found[1]


LOWEST = {"token_length": 1, "fertility_isolated": 1, "cost_ratio": 1}
FREE = {"zipf_slope", "nsl", "premium", "magnitude_consistency"}


@pytest.mark.long
@given(TEXTS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bounds(stand_ins, texts: list[str]) -> None:
    tokenizers = {"t": stand_ins.Pieces("ab", " ab", "12", "oo"), "base": stand_ins.Lowering("ab")}
    cells = {
        CellKey(name, dataset, language): tally
        for name, tokenizer in tokenizers.items()
        for (dataset, language), tally in counted(tokenizer, texts, 1, rotate=False).items()
    }
    rows = rows_of(cells, tokenizers)
    units = {metric.name: metric.unit for metric in CATALOGUE}
    for row in rows:
        if row.value is None:
            assert row.status.startswith("undefined: "), row
            assert row.ci_low is None
            continue
        assert row.status == "ok"
        assert math.isfinite(row.value)
        ends = [end for end in (row.ci_low, row.value, row.ci_high) if end is not None]
        assert ends == pytest.approx(sorted(ends), abs=1e-12), row
        if (
            units[row.metric].startswith("share")
            or units[row.metric] in {"0..1", "F1"}
            or "effici" in row.metric
        ):
            assert min(ends) >= -1e-12, row
            assert max(ends) <= 1 + 1e-12, row
        elif row.metric not in FREE:
            assert min(ends) >= LOWEST.get(row.metric, 0) - 1e-9, row
    values = {(row.tokenizer, row.dataset, row.language, row.metric): row.value for row in rows}
    for (name, dataset, language, metric), value in values.items():
        if metric == "continued_words" and value is not None:
            assert value + values[name, dataset, language, "single_token_words"] == pytest.approx(1)
        if metric == "premium" and value is not None:
            assert value >= 1 - 1e-12  # the reference is the cheapest where nothing is hidden
        if metric.endswith("_chao_shen") and value is not None:
            counted_alone = values[name, dataset, language, metric.removesuffix("_chao_shen")]
            assert value >= counted_alone - 1e-9
