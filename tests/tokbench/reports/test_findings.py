"""The sentences that a report opens with: what they claim, and what they are told beside."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tests.tokbench.plots.drawing import drawn
from tests.tokbench.reports.tested import add_metric, chances, lossy_run
from tokbench.plots import data
from tokbench.plots.labels import run_labels
from tokbench.plots.losses import best_first
from tokbench.reports import tables
from tokbench.reports.findings import apart, compression, cost, coverage, fairness, findings, speed
from tokbench.reports.html import page
from tokbench.reports.table import TableCell
from tokbench.reports.training import shares_text, trained_on
from tokbench.spec import Spec


def test_a_sentence_claims_no_more_than_the_intervals(made_up_run) -> None:
    run = made_up_run(4, 2)
    first, second = best_first(run, "compression_ratio", "bundled:parallel")
    rows = run.frame = run.frame.copy()
    here = (rows["metric"] == "compression_ratio") & (rows["language"] == "all")
    rows.loc[here & (rows["tokenizer"] == first), ["value", "ci_low", "ci_high"]] = [4.0, 3.8, 4.2]
    rows.loc[here & (rows["tokenizer"] == second), ["value", "ci_low", "ci_high"]] = [3.9, 3.7, 4.1]
    chances(run, (first, second, 0.2))
    assert apart(run, "bundled:parallel", first, second) is False
    found = compression(run)
    assert "may do as well: the difference could be chance" in found.sentence
    assert "95 % interval 3.80–4.20" in found.sentence
    chances(run, (second, first, 0.01))
    assert apart(run, "bundled:parallel", first, second) is True
    assert "chance" not in (compression(run) or found).sentence
    run.comparisons = run.comparisons.iloc[:0]
    assert apart(run, "bundled:parallel", first, second) is None
    assert "No paired test was made" in (compression(run) or found).sentence


def test_those_with_the_same_figure_lead_together_untested_too(made_up_run) -> None:
    run = made_up_run(4, 3)
    run.comparisons = run.comparisons.iloc[:0]
    first, second, _ = best_first(run, "compression_ratio", "bundled:parallel")
    ratios = (run.frame["metric"] == "compression_ratio") & (run.frame["language"] == "all")
    run.frame = run.frame.copy()
    run.frame.loc[ratios & run.frame["tokenizer"].isin([first, second]), "value"] = 9.0
    one, other = (run_labels(run)[name] for name in (first, second))
    found = compression(run)
    assert f" {other} reaches the same." in found.sentence
    assert "chance" not in found.sentence
    assert f"Most text per token elsewhere: on bundled code {one} or {other}" in found.sentence
    assert found.gist.startswith(f"{one} and {other} share first place")
    assert "Others lead" not in found.gist


def test_the_highest_premium_is_told_with_its_interval(made_up_run) -> None:
    run = made_up_run(10, 3)
    table = tables.fairness(run, "bundled:parallel")
    cell = table.rows[0].cells[3]
    assert isinstance(cell, TableCell)
    assert cell.value is not None
    assert (cell.low, cell.high) == (0.97 * cell.value, 1.03 * cell.value)
    said = fairness(run)
    assert f"needs up to {cell.value:.2f} times (95 % interval {cell.low:.2f}–{cell.high:.2f})" in said.sentence


def test_a_reference_that_costs_most_is_not_compared_with_itself(made_up_run) -> None:
    """It read "up to 1.00 times as many tokens for hin_Deva Hindi as for hin_Deva Hindi"."""
    run = made_up_run(10, 3)
    one = run.frame.eval("metric == 'premium' and tokenizer == @run.tokenizers[0]")
    run.frame.loc[one, ["value", "ci_low", "ci_high"]] = [0.5, 0.4, 0.6]
    run.frame.loc[one & (run.frame["language"] == "eng_Latn"), ["value", "ci_low", "ci_high"]] = 1.0
    said = fairness(run).sentence.replace(run_labels(run)[run.tokenizers[0]], "it")
    assert said.startswith("For the same text, it needs for no language more tokens than for eng_Latn English;")
    assert re.search(r"; .* up to [\d.]+ times \(95 % interval [\d.–]+\) as many, for ", said)


def test_every_parallel_dataset_is_told_of(made_up_run) -> None:
    run = made_up_run(10, 3)
    more = run.frame[run.frame["dataset"] == "bundled:parallel"].assign(dataset="parallel:devtest")
    more.loc[more["metric"] == "premium", ["value", "ci_low", "ci_high"]] *= 2
    run.frame = pd.concat([run.frame, more], ignore_index=True)
    run.datasets = ["bundled:parallel", "parallel:devtest"]
    run.manifest["datasets"].append(
        {**run.manifest["datasets"][0], "spec": "parallel:devtest", "facts": {}, "label": ""}
    )
    one, other = (
        data.by_language(run, "premium", name).max().min() for name in ("bundled:parallel", "parallel:devtest")
    )
    said = fairness(run)
    assert f"needs up to {one:.2f} times" in said.sentence
    assert "On parallel devtest, " in said.sentence
    assert f"needs up to {other:.2f} times" in said.sentence


def test_languages_are_not_counted_twice_in_a_sentence(made_up_run) -> None:
    run = made_up_run(5, 2)
    run.manifest["datasets"][0]["label"] = "parallel pud, 5 languages"  # as one that names them is called
    found = compression(run)
    assert "the 5 languages of parallel pud, " in found.sentence.replace("On", "on")
    assert found.sentence.count("5 languages") == 1


def test_there_are_three_findings_with_figures(made_up_run) -> None:
    assert [finding.plot for finding in findings(made_up_run(10, 5))] == ["compression", "fairness", "speed"]


def test_a_tokenizer_measured_on_what_it_was_trained_on_is_named(made_up_run) -> None:
    run = made_up_run(10, 5)
    dataset = data.main_dataset(run)
    fair = compression(run)
    assert "trained on" not in fair.sentence + fair.gist
    best = data.ranked(run, "compression_ratio", dataset).iloc[0]["tokenizer"]
    trained = {"spec": best, "training": {"on": f"{dataset},lines=even + stdlib:docs"}}
    run.manifest["tokenizers"] = [
        trained if entry["spec"] == best else entry for entry in run.manifest["tokenizers"]
    ]
    assert trained_on(run, dataset) == [best]
    flattered = compression(run)
    assert f"{run_labels(run)[best]} was trained on this very text, which flatters it." in flattered.sentence
    assert re.search(r"which (it was|some were) trained on\. (Others lead|.* leads) on", flattered.gist)
    [entry] = [each for each in run.manifest["datasets"] if each["spec"] == dataset]
    entry["in_training"] = {code: {"lines": 30, "found": 9} for code in run.languages(dataset)}
    assert re.search(r"which (it was|some were) trained on \(30 % of its lines\)\. ", compression(run).gist)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("text:a.txt", "text:a.txt", True),
        ("text:a.txt", "text:b.txt", False),
        ("text:a.txt", "jsonl:a.txt", False),
        ("bundled:parallel,lines=even", "bundled:parallel,lines=odd", False),
        ("bundled:parallel,lines=even", "bundled:parallel", True),
        ("bundled:parallel,lines=even", "bundled:parallel,lines=all", True),
        ("flores:f,split=dev", "flores:f,split=devtest", False),
        ("bundled:prose,languages=eng_Latn", "bundled:prose,languages=deu_Latn;fra_Latn", False),
        ("bundled:prose,languages=eng_Latn", "bundled:prose,languages=deu_Latn+eng_Latn", True),
        ("bundled:prose,languages=eng_Latn", "bundled:prose", True),
        ("csv:t.csv,field=a", "csv:t.csv,field=b", False),
    ],
)
def test_which_datasets_share_text(one: str, other: str, shared: bool) -> None:
    assert shares_text(Spec.parse(one), Spec.parse(other)) is shared
    assert shares_text(Spec.parse(other), Spec.parse(one)) is shared


@pytest.mark.usefixtures("no_figures")
def test_the_cheapest_is_found_where_there_are_prices(made_up_run) -> None:
    run = made_up_run(3, 3)
    first, second, third = run.tokenizers
    paid = {first: 0.25, second: 0.5}
    add_metric(run, "cost", unit="EUR", value=lambda rows: rows["tokenizer"].map(paid))
    found = cost(run)
    assert found.sentence == (
        "At the prices given, the text of 2 datasets costs least with bpe 8k: 0.500 EUR; "
        f"most with tiktoken o200k_base: 1.00 EUR. No price was given for {run_labels(run)[third]}."
    )
    assert found.sentence in page.render(run)  # though it has no figure


def test_what_loses_text_is_not_the_cheapest(made_up_run) -> None:
    run = lossy_run(made_up_run)
    paid = dict(zip(run.tokenizers, range(1, 6), strict=True)) | {"unigram:vocab_size=8000": 0.1}
    add_metric(run, "cost", unit="EUR", value=lambda rows: rows["tokenizer"].map(paid))
    found = cost(run)
    assert "costs least with unigram" not in found.sentence
    assert "unigram 8k † loses text and cannot be compared by cost." in found.sentence


def test_the_longest_tokens_are_said_to_be_of_those_ranked_where_others_are_not(made_up_run) -> None:
    run = lossy_run(made_up_run)
    add_metric(run, "token_length", unit="bytes")
    found = coverage(run)
    assert found.sentence.startswith(
        "Among the tokenizers ranked together, tokens are longest on average with tik"
    )
    run.frame = run.frame[~run.frame["metric"].isin(["round_trip", "unk_rate"])]
    found = coverage(run)
    assert found.sentence.startswith("Tokens are longest on average with tiktoken")


def test_the_compression_beside_a_speed_is_said_to_be_pooled_where_another_is_ranked_by(made_up_run) -> None:
    run = made_up_run(3, 2)
    best = best_first(run, "compression_ratio", "bundled:parallel")[0]
    rows = run.frame = run.frame.copy()
    rows.loc[(rows["metric"] == "encode_speed") & (rows["tokenizer"] == best), "value"] = 1000.0
    said = speed(run)
    assert said.sentence.endswith("also compresses best of those timed.")
    add_metric(run, "compression_ratio_macro")
    said = speed(run)
    assert said.sentence.endswith("also compresses best of those timed, pooled by bytes.")


def test_a_speed_of_text_met_before_is_not_said_to_be_of_a_first_pass(made_up_run) -> None:
    run = made_up_run(10, 2)
    dataset = data.timed_dataset(run)
    run.manifest["speed"] = {"summary": [{"dataset": dataset, "state": "cold", "n_bytes": 12_000_000}]}
    first = "one pass over 12 MB never seen"
    for metric, said, other in (
        ("encode_speed_cold", first, "batches of text met before"),
        ("encode_speed", "batches of text met before", first),
    ):
        run.frame = run.frame[~run.frame["metric"].str.startswith("encode_speed")]
        row = run.frame[(run.frame["metric"] == "compression_ratio") & (run.frame["dataset"] == dataset)]
        run.frame = pd.concat([run.frame, row.assign(metric=metric, unit="MB/s")], ignore_index=True)
        finding = speed(run)
        assert finding
        for text in (finding.sentence, drawn("speed", run).get_label(), tables.headline(run, dataset).note):
            assert said in text
            assert other not in text
