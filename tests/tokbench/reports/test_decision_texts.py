"""Which texts the decision and the answer are about, of several: each counts the same, or is left out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.tokbench.reports.tested import three
from tokbench.reports.decision import decide, table
from tokbench.reports.findings import findings


def two_texts(
    run: Any,
    figures: dict[str, tuple[float, float]],
    metric: str = "compression_ratio",
    dataset: str = "bundled:prose",
) -> Any:
    """The run with another dataset, on which a metric has these figures."""
    more = run.frame.iloc[:1].assign(dataset=dataset, metric=metric, key=0).drop(columns="key")
    rows = [
        more.assign(tokenizer=name, value=value, ci_low=value - half, ci_high=value + half)
        for name, (value, half) in figures.items()
    ]
    run.frame = pd.concat([run.frame, *rows], ignore_index=True)
    run.datasets = [*run.datasets, dataset]
    run.manifest["datasets"] = [
        {"spec": name, "languages": {"eng_Latn": {}}, "facts": {}} for name in run.datasets
    ]
    return run


def test_every_dataset_counts_the_same(small) -> None:
    figures = {"compression_ratio": three(4, 2, 1), "embedding_share": three(0.1, 0.2, 0.3)}
    run = two_texts(small(figures), three(1, 8, 1))  # what is of no text does not change what is said of texts
    found = decide(run, {"price": 1, "embedding": 0})
    assert found.choice == ("chars",)  # by the geometric means 2, 4 and 1
    assert found.scores["bytes"] == pytest.approx(0.5)
    assert found.scores["words"] == pytest.approx(0.25)
    assert table(run, found).note.startswith(
        "On bundled parallel and bundled prose, each of which counts the same."
    )


def test_a_text_too_small_decides_nothing_beside_one_that_is_not(small) -> None:
    run = two_texts(small({"compression_ratio": three(4, 2, 1)}), three(1, 8, 1, half=float("nan")))
    found = decide(run)
    assert found.choice == ("bytes",)
    assert any(said.startswith("Price and context leave out bundled prose: its") for said in found.sentences)
    assert table(run, found).note.startswith("On bundled parallel. ")


def test_the_answer_tells_who_leads_on_the_other_datasets(small) -> None:
    figures = {"compression_ratio": three(4, 2, 1)}
    finding = findings(two_texts(small(figures), three(1, 8, 1)))[0]
    assert finding.gist.endswith(
        "token on the 2 languages of bundled parallel. Others lead on the other dataset."
    )
    assert "Most text per token elsewhere: on bundled prose chars." in finding.sentence
    assert findings(two_texts(small(figures), three(9, 8, 1)))[0].gist.endswith(
        ". It leads on the other dataset, too."
    )
    three_texts = two_texts(small(figures), three(9, 8, 1))
    more = three_texts.frame[three_texts.frame["dataset"] == "bundled:prose"].assign(dataset="bundled:code")
    three_texts.frame = pd.concat([three_texts.frame, more], ignore_index=True)
    three_texts.datasets = [*three_texts.datasets, "bundled:code"]
    three_texts.manifest["datasets"] += [{"spec": "bundled:code", "languages": {"c": {}}, "facts": {}}]
    assert "elsewhere: on bundled prose and bundled code bytes." in findings(three_texts)[0].sentence
    assert findings(small(figures))[0].gist.endswith("of bundled parallel.")


def test_the_answer_says_where_the_first_place_is_shared_on_another_dataset(small) -> None:
    def gist(main: Any, *elsewhere: Any) -> str:
        run = small({"compression_ratio": main})
        for name, values in zip(("bundled:prose", "bundled:code"), elsewhere, strict=False):
            run = two_texts(run, values, dataset=name)
        return str(findings(run)[0].gist).partition("bundled parallel. ")[2]

    ahead, shared, behind = three(4, 2, 1), three(4, 4, 1), three(1, 4, 4)
    assert gist(ahead, shared) == "It shares first place on the other dataset."
    assert gist(ahead, shared, ahead) == "It leads or shares first place on the other 2 datasets, too."
    assert gist(ahead, shared, behind) == "Others lead on 1 of the other 2 datasets."
    assert gist(shared, ahead) == "bytes leads on the other dataset."
    assert gist(shared, shared) == "bytes shares first place on the other dataset, too."
    assert gist(shared, behind) == "Tokenizers other than bytes lead on the other dataset."


@pytest.mark.parametrize(
    "costs",
    [
        {"chars": (2.0, 0.0), "words": (4.0, 0.0)},  # bytes failed there
        {"bytes": (0.0, 0.0), "chars": (2.0, 0.0), "words": (4.0, 0.0)},
    ],
)
def test_a_price_needs_a_cost_on_every_text(costs: Any, small) -> None:
    run = two_texts(small({"compression_ratio": three(4, 2, 1), "cost": three(0, 2, 1)}), costs, "cost")
    found = decide(run)
    assert not any("No price was given for" in said for said in found.sentences)
    assert table(run, found).rows


def test_a_text_is_left_out_only_where_no_pair_is_known(small) -> None:
    figures = {**three(1, 8, 4), "bytes": (1.0, float("nan"))}
    run = two_texts(small({"compression_ratio": three(4, 2, 1)}), figures)
    found = decide(run)
    assert found.known["price"].datasets == tuple(run.datasets)
    assert not any("without" in said for said in found.sentences)


def test_the_note_says_where_a_text_does_not_count_in_every_criterion(small) -> None:
    run = two_texts(small({"compression_ratio": three(4, 2, 1)}), three(9, 2, 1), "encode_speed")
    found = decide(run)
    assert found.known["speed"].datasets == ("bundled:prose",)
    assert table(run, found).note.startswith(
        "On bundled parallel and bundled prose, not all of them for every criterion. "
    )
