"""Numbers cut by tokens, and operators that stand alone, by hand; and the fewest tokens, as a metric."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.digits import MAGNITUDES, METRICS, owners
from tokbench.metrics.measure import measure
from tokbench.metrics.metric import Metric
from tokbench.metrics.optimum import METRICS as OPTIMUM
from tokbench.registry import build_registry
from tokbench.runner.planning.plan import make_plan
from tokbench.runner.planning.suite_keys import Suite
from tokbench.tally.collect import collect

ALL_METRICS = {metric.name: metric for metric in (*METRICS, *OPTIMUM)}


def row(metric: Metric, tokenizer: object, texts: list[str]):
    counting = metric.counting
    assert counting is not None
    documents = [Document(text) for text in texts]
    tally = collect(tokenizer, documents, counting=[counting])
    cells = {CellKey("t", "d", "eng"): tally}
    found = measure(cells, [metric], context=MeasureContext())
    return next(each for each in found if each.language == "eng")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # of length 4 the cuts 12|34, 56|34, 2|12|1, of length 2 twice none and once 7|8: H(1/3) both
        ("digit_split_variability", (3 * 0.9182958 + 3 * 0.9182958) / 6),
        # 4 tokens of 3 × 2 digits, 7 of 3 × 4: 8/12 and 7/12 a digit
        ("magnitude_consistency", (0.5 / 12) / (7.5 / 12)),
        # "+" and "==" alone, ">" joined with x
        ("operator_isolation", 2 / 3),
    ],
)
def test_figures_by_hand(stand_ins, name: str, expected: float) -> None:
    pieces = stand_ins.Pieces("12", "34", "56", "x>")
    texts = ["1234 5634", "12 12 78", "2121 a + b", "c == x>d !"]
    found = row(ALL_METRICS[name], pieces, texts)
    assert found.status == "ok"
    assert found.value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("wrong", "whose"), [(0, [0, 0, -1, 1, 1]), (-1, [-1] * 5), (1, [-1] * 5)])
def test_places_outside_the_text_own_no_character(stand_ins, wrong: int, whose: list[int]) -> None:
    class Off(stand_ins.Told):
        def offsets(self, text: str) -> np.ndarray:
            return super().offsets(text) + wrong

    assert owners(["12 34"], Off("12", "34")) == [whose]


def test_text_without_numbers_has_a_reason_and_no_figure(stand_ins) -> None:
    pieces = stand_ins.Pieces("12")
    for name, said in (
        ("digit_split_variability", "no numbers of 2 to 6 digits"),
        ("magnitude_consistency", "numbers of two lengths"),
        ("operator_isolation", "no found"),
    ):
        found = row(ALL_METRICS[name], pieces, ["no number here"])
        assert found.value is None
        assert said in found.status


def test_an_entropy_of_few_numbers_has_no_interval(stand_ins) -> None:
    """Of 150 numbers in 30 documents, intervals held the true entropy in 4 to 66 %: they were too low."""
    pieces = stand_ins.Pieces("12", "34", "56")
    texts = [f"{number} {i}" for i in range(10) for number in (1234, 5634, 2121, 78)]
    found, rates = (
        row(ALL_METRICS[name], pieces, texts) for name in ("digit_split_variability", "magnitude_consistency")
    )
    assert found.value is not None
    assert (found.ci_low, found.ci_high) == (None, None)
    assert rates.ci_low is not None


def test_the_optimum_is_tokens_over_fewest_tokens() -> None:
    from tokbench_subword.methods import bpe_of_merges

    tokenizer = bpe_of_merges([(b"a", b"b"), (b"b", b"c"), (b"bc", b"d")], pattern="none")
    found = row(OPTIMUM[0], tokenizer, ["abcd" * (1 + i % 7) + "xy" * i for i in range(200)])
    n, pairs = sum(1 + i % 7 for i in range(200)), sum(range(200))  # ab|c|d, where a|bcd would do
    assert found.value == pytest.approx((3 * n + 2 * pairs) / (2 * n + 2 * pairs))
    assert found.ci_low is not None
    assert found.ci_low <= found.value <= found.ci_high
    without = row(OPTIMUM[0], tokbench.load("chars"), ["abcd"])
    assert without.value is None
    assert "where it tells" in without.status


def test_they_are_measured_where_a_run_names_them_and_nowhere_else() -> None:
    registry = build_registry()
    suite = Suite(name="s", tokenizers=["bytes"], datasets=["bundled:prose"])
    assert not {*ALL_METRICS} & {metric.name for metric in make_plan(suite, registry).metrics}
    suite = Suite(name="s", tokenizers=["bytes"], datasets=["bundled:prose"], metrics=["optimum"])
    assert "optimum" in {metric.name for metric in make_plan(suite, registry).metrics}


def test_one_digit_is_told_of_as_one() -> None:
    told = {name: what for metric in METRICS for name, what in metric.counters.items()}
    assert [told[f"numbers_{length}"] for length in MAGNITUDES][:2] == [
        "numbers of 1 digit",
        "numbers of 2 digits",
    ]
