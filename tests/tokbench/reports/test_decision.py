"""The decision: scores by hand, losslessness first, no winner within the noise, weights that turn it."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import pandas as pd
import pytest

from tests.tokbench.reports.tested import three
from tokbench.reports.criteria import known_criteria
from tokbench.reports.decision import decide, script_data, table
from tokbench.reports.findings import cost

DATASET = "bundled:parallel"


def test_scores_by_hand(small) -> None:
    run = small({"compression_ratio": three(4, 2, 1), "gini": three(0.2, 0.1, 0.1)})
    found = decide(run, {"price": 3, "fairness": 1, "context": 0})
    assert found.choice == ("bytes",)
    assert found.scores["bytes"] == 1
    assert found.scores["chars"] == pytest.approx((0.5**3 * 0.9 / 0.8) ** (1 / 4))
    assert found.scores["words"] == pytest.approx((0.25**3 * 0.9 / 0.8) ** (1 / 4))
    assert found.sentences[0] == "Choice under these weights: bytes."
    assert "Not known: embedding (needs embedding_share: --model)." in found.sentences
    assert sum(found.first_share.values()) == pytest.approx(1)
    rows = {row.key: row.cells for row in table(run, found).rows}
    assert rows["bytes"][1] == "choice"
    assert rows["words"][1].endswith("% behind")
    assert rows["chars"][3].value == pytest.approx(0.5)


def test_scores_and_shares_of_weights_have_a_decimal_as_verdicts_do(small) -> None:
    """29.2 stood as 29 beside "70.8 % behind", and of 4,000 drawn weights three decimals were shown."""
    run = small({"compression_ratio": {"bytes": (4.0, 0.001), "chars": (2.0, 0.001)}})
    shown = table(run, decide(run))
    last = len(shown.columns) - 1
    assert [[shown.text(row, column) for column in (1, 2, last)] for row in (0, 1)] == [
        ["choice", "100.0", "100.0"],
        ["50.0 % behind", "50.0", "0.0"],
    ]


@pytest.mark.parametrize("metric", ["encode_speed", "encode_speed_cold"])
def test_one_speed_alone_is_the_speed_of_the_decision(small, metric: str) -> None:
    run = small({"compression_ratio": three(4, 2, 1), metric: three(1, 2, 4)})
    found = decide(run)
    assert found.known["speed"].metric == metric
    columns = [column.key for column in table(run, found).columns]
    rows = {row.key: row.cells for row in table(run, found).rows}
    assert rows["chars"][columns.index("speed")].value == pytest.approx(0.5)


def test_those_without_a_price_are_named(small) -> None:
    figures = {"compression_ratio": three(4, 2, 1)}
    for costs, said in (
        ({"chars": (2.0, 0.0)}, "No price was given for bytes and words: price is taken per token."),
        ({"chars": (2.0, 0.0), "bytes": (1.0, 0.0)}, "Left out, because no price was given: words."),
        ({"chars": (0.0, 0.0), "bytes": (1.0, 0.0)},
         "The price of chars is 0, so that no ratio can be taken: price is taken per token."),
        ({}, "No prices were given: price is taken per token."),
    ):  # fmt: skip
        found = decide(small({**figures, "cost": costs}))
        assert [each for each in found.sentences if "price" in each and "figure" not in each] == [said]


def test_one_that_failed_is_not_said_to_have_no_price(small) -> None:
    prices = {"bytes": (1.0, 0.0), "chars": (2.0, 0.0), "words": (math.nan, 0.0)}
    figures = {"compression_ratio": {"bytes": (4.0, 0.001), "chars": (2.0, 0.001)}}
    run = small({**figures, "cost": prices})
    run.frame.loc[run.frame["value"].isna(), "status"] = "failed: raised: words: no such file"
    found, cheapest = decide(run), cost(run)
    assert not [said for said in (*found.sentences, cheapest.sentence) if "price was given" in said]


def test_without_any_prices_those_that_were_measured_are_not_listed(small) -> None:
    run = small({"compression_ratio": three(4, 2, 1), "cost": three(math.nan, math.nan, math.nan)})
    run.frame.loc[run.frame.eval("metric == 'cost' and tokenizer == 'words'"), "status"] = "failed: no"
    assert decide(run).sentences[-1] == "No prices were given: price is taken per token."


def test_a_third_tokenizer_changes_nothing_between_two(small) -> None:
    run = small({"compression_ratio": three(4, 2, 1), "gini": three(0.2, 0.1, 0.1)})
    three_of_them = decide(run)
    run.tokenizers = run.tokenizers[:2]
    two = decide(run)
    assert two.scores["chars"] == pytest.approx(three_of_them.scores["chars"])


def test_no_winner_where_the_data_cannot_tell(small) -> None:
    close = small({"compression_ratio": three(4, 3.99, 1, half=0.1)})
    found = decide(close)
    assert found.choice == ("bytes", "chars")
    assert found.sentences[0] == "No winner under these weights: bytes and chars cannot be told apart."
    apart = decide(small({"compression_ratio": three(4, 3.99, 1, half=0.001)}))
    assert apart.choice == ("bytes",)
    nothing_known = decide(small({"compression_ratio": three(4, 2, 1, half=float("nan"))}))
    assert len(nothing_known.choice) == 3
    assert nothing_known.sentences[0] == (
        "No winner under these weights: by the figures alone bytes leads, but too little is measured to test "
        "the differences in price and context."
    )


def test_beside_a_baseline_a_figure_that_never_varies_is_told_apart(small) -> None:
    """Bytes are a byte a token: no interval of their own, and paired with the baseline alone."""
    figures = {"chars": (4.0, 0.01), "words": (2.0, 0.01), "bytes": (1.0, float("nan"))}
    unknown = decide(small({"compression_ratio": figures}))
    assert unknown.choice == ("chars", "bytes")
    run = small({"compression_ratio": figures})
    run.manifest["baseline"] = "words"
    run.comparisons = pd.DataFrame(
        [
            {"tokenizer": name, "baseline": "words", "dataset": DATASET, "language": "all",
             "metric": "compression_ratio", "ci_low": low, "ci_high": high}
            for name, low, high in (("chars", 1.98, 2.02), ("bytes", -1.01, -0.99))
        ]
    )  # fmt: skip
    found = decide(run)
    assert found.choice == ("chars",)
    spread = 2 * NormalDist().inv_cdf(0.975)
    noise = found.known["price"].noise("chars", "bytes")
    assert noise == pytest.approx((0.04 / math.sqrt(8) + 0.02 / math.sqrt(2)) / spread)


def test_where_the_first_are_level_none_of_them_leads(small) -> None:
    for half, last, said in (
        (0.001, 1, "bytes and chars are level."),
        (0.0, 1, "bytes and chars are level."),
        (float("nan"), 1, "by the figures alone bytes and chars are level, but too little is measured to test "
         "the differences in price and context."),
        (0.1, 3.99, "bytes, chars and words cannot be told apart."),
    ):  # fmt: skip
        found = decide(small({"compression_ratio": three(4, 4, last, half=half)}))
        assert found.sentences[0] == f"No winner under these weights: {said}"
        assert found.first_share == {"bytes": 0.5, "chars": 0.5, "words": 0.0}


def test_the_noise_is_that_of_any_confidence(small) -> None:
    """Intervals of a fifth of the confidence are narrower, and say the same of chance."""
    wide = {confidence: NormalDist().inv_cdf((1 + confidence) / 2) for confidence in (0.2, 0.95, 0.999)}
    for confidence, deviates in wide.items():
        run = small({"compression_ratio": three(4, 3.99, 1, half=0.05 * deviates)})
        run.confidence = confidence
        noise = known_criteria(run)["price"].noise("bytes", "chars")
        assert noise == pytest.approx(0.05 * math.hypot(1 / 4, 1 / 3.99))
        assert decide(run).choice == ("bytes", "chars")


def test_the_weight_that_turns_it_does_turn_it(small) -> None:
    run = small({"compression_ratio": three(4, 3, 1), "embedding_share": three(0.5, 0.1, 0.01)})
    found = decide(run, {"price": 3, "context": 0, "embedding": 1})
    assert found.choice[0] == "bytes"
    # ln(4/3) w = ln(0.9/0.5) at w = 2.04
    assert "price below 2 (now 3): chars" in found.sentences[1]
    for weight, first in ((2.0, "chars"), (2.1, "bytes")):
        turned = decide(run, {"price": weight, "context": 0, "embedding": 1})
        assert turned.candidates[0] == first


def test_what_weighs_nothing_may_turn_it_too(small) -> None:
    run = small({"compression_ratio": three(4, 3, 1), "embedding_share": three(0.5, 0.1, 0.01)})
    found = decide(run, {"price": 3, "context": 0, "embedding": 0})
    assert found.choice == ("bytes",)
    # 3 ln(4/3) = w ln(0.9/0.5) at w = 1.47, and chars is before words, for which w = 6.09
    said = "Another would come first with embedding above 1.5 (now 0): chars."
    assert found.sentences[1] == said  # price, alone, changes nothing; context is the same figure
    for weight, first in ((1.46, "bytes"), (1.48, "chars")):
        turned = decide(run, {"price": 3, "context": 0, "embedding": weight})
        assert turned.candidates[0] == first


@pytest.mark.parametrize(("shares", "then"), [((0.5, 0.1, 0.6), True), ((0.1, 0.5, 0.6), False)])
def test_any_weight_parts_those_that_are_level(small, shares: tuple[float, float, float], then: bool) -> None:
    run = small({"compression_ratio": three(4, 4, 1), "embedding_share": three(*shares)})
    found = decide(run, {"embedding": 0})
    assert found.choice == ("bytes", "chars")
    turned = "Another would come first with embedding above 0 (now 0): chars."
    stays = "No change of a single weight puts another ahead of bytes."
    level = "The first are level: any other weight of embedding separates them."
    assert found.sentences[1] == f"{level} {turned if then else stays}"
    same = decide(small({"compression_ratio": three(4, 4, 4)}))
    assert same.sentences[1] == stays


def test_losslessness_first(small) -> None:
    figures = {
        "compression_ratio": three(4, 3, 2), "round_trip": three(0.5, 1, 0.5, half=0),
        "lost_form": three(0.5, 0, 0, half=0), "lost_text": three(0, 0, 0.5, half=0),
    }  # fmt: skip
    run = small(figures)
    assert decide(run) is None  # one candidate is no choice
    admitted = decide(run, {"lossless": 0})
    assert admitted.candidates == ("bytes", "chars")  # words loses text: never
    verdicts = {row.key: row.cells[1] for row in table(run, admitted).rows}
    assert verdicts["words"] == "loses text"


def test_who_was_trained_on_the_text_is_said_beside_the_choice(small) -> None:
    run = small({"compression_ratio": three(4, 3, 2)})
    assert not any("trained" in sentence for sentence in decide(run).sentences)
    run.manifest["tokenizers"] = [{"spec": "bytes", "training": {"on": DATASET}}]
    assert any(
        "on bundled parallel than elsewhere" in sentence and ": bytes." in sentence
        for sentence in decide(run).sentences
    )


def test_the_page_is_given_the_same_figures(small) -> None:
    run = small({"compression_ratio": three(4, 2, 1)})
    found = decide(run)
    assert found is not None
    content = json.loads(script_data(run, found))
    price = content["criteria"]["price"]
    assert price["logs"] == pytest.approx([1.3862943611, 0.6931471806, 0])
    assert price["noise"][0][0] == 0
    assert price["noise"][0][1] == price["noise"][1][0] > 0


def test_one_that_gives_no_tokens_has_no_value_and_stops_no_report(small) -> None:
    run = small({"compression_ratio": three(4, 2, 1), "gini": three(0.2, 0.1, 0.1)})
    rows = run.frame[run.frame["metric"] == "gini"].assign(metric="tokens_per_line")
    lines = [
        rows.assign(language=language, value=[0.0, 20.0, 30.0], ci_low=[0.0, 19, 29], ci_high=[0.0, 21, 31])
        for language in run.languages(run.datasets[0])[:2]
    ]
    run.frame = pd.concat([run.frame, *lines], ignore_index=True)
    context = known_criteria(run)["context"]
    assert context.metric == "tokens_per_line"
    assert context.values == {"chars": 1 / 20, "words": 1 / 30}


def test_there_is_no_choice_where_most_of_what_weighs_is_unknown(small) -> None:
    run = small({"embedding_share": three(0.1, 0.2, 0.3)})
    found = decide(run, {"price": 5, "embedding": 2})
    assert "fairness (needs gini, of parallel text in several languages)" in " ".join(found.sentences)
    said = "No choice under these weights: most of the weight is on criteria that are not known."
    assert found.sentences[0] == said
    assert len(found.choice) == 3
    assert {row.cells[1] for row in table(run, found).rows} == {"no choice"}
    assert found.weighed == "embedding 2"
    known = decide(run, {"price": 0, "fairness": 0, "context": 0, "embedding": 2})
    assert known.choice == ("bytes",)
    assert not any("below 0" in sentence for sentence in known.sentences)
    assert table(run, known).note.startswith("Each column is")
