"""The views of a run: rankings, losses, labels, fronts."""

from __future__ import annotations

import pytest

from tests.tokbench.plots.drawing import drawn
from tokbench.plots import data
from tokbench.plots.fitting import cut
from tokbench.plots.labels import dataset_label, dataset_name, language_label, run_labels, tokenizer_labels
from tokbench.plots.losses import best_first, losses
from tokbench.plots.speed import pareto_front
from tokbench.plots.vocabulary import size_families


def test_labels_stay_apart_where_short_ones_would_not() -> None:
    specs = ["transformers:a/hf/tokenizer.json", "transformers:b/a/hf/tokenizer.json", "bytes"]
    labels = tokenizer_labels(specs)
    assert len(set(labels.values())) == 3
    assert labels["bytes"] == "bytes"


def test_a_name_given_in_the_suite_wins() -> None:
    assert tokenizer_labels(["bpe:x.json"], {"bpe:x.json": "ours"}) == {"bpe:x.json": "ours"}


def test_a_long_label_leaves_out_what_all_of_its_family_share() -> None:
    rest = "byte_fallback=true,normalization_rule_name=identity,remove_extra_whitespaces=false,vocab_size=8000"
    one, other = (f"sentencepiece:{rest},model_type={kind}" for kind in ("bpe", "unigram"))
    assert [*tokenizer_labels([one, other, "bytes"]).values()] == [
        "sentencepiece bpe 8k", "sentencepiece unigram 8k", "bytes",
    ]  # fmt: skip
    plain = "sentencepiece:model_type=bpe,vocab_size=8000"
    assert "byte_fallback=true" in tokenizer_labels([one, other, plain])[one]


def test_labels_of_languages_and_datasets() -> None:
    assert language_label("tha_Thai") == "tha_Thai Thai"
    assert language_label("qqq") == "qqq"
    assert dataset_name("flores:/data/flores200") == "flores flores200"
    assert dataset_name("text:odd") == "text odd"  # a folder of that name, and no half of the lines
    assert dataset_name("parallel:pud,languages=eng_Latn+deu_Latn,lines=odd").endswith(
        " and deu_Latn, odd lines"
    )
    assert dataset_name("parquet:crawl.parquet,field=body,language_field=lang") == "parquet crawl field=body"


def test_two_datasets_of_one_run_are_never_called_the_same(made_up_run) -> None:
    run = made_up_run(3, 2)
    given = {"text:a/x.txt": None, "text:b/x.txt": None, "text:c/y.txt": "ours"}
    run.manifest = {**run.manifest, "datasets": [{"spec": spec, "label": given[spec]} for spec in given]}
    assert [dataset_label(run, spec) for spec in given] == ["text:a/x.txt", "text:b/x.txt", "ours"]


def test_tokenizers_that_lose_text_come_last_and_are_marked(made_up_run) -> None:
    run = made_up_run(5, 5)
    assert list(losses(run)) == ["wordpiece:vocab_size=8000"]
    assert best_first(run, "compression_ratio", "bundled:parallel")[-1] == "wordpiece:vocab_size=8000"
    assert run_labels(run)["wordpiece:vocab_size=8000"] == "wordpiece 8k †"


def test_the_front_holds_only_what_nothing_beats() -> None:
    points = {"a": (1.0, 9.0), "b": (5.0, 5.0), "c": (4.0, 4.0), "d": (5.0, 4.0), "e": (9.0, 1.0)}
    assert pareto_front(points) == ["a", "b", "e"]


def test_sizes_of_one_algorithm_belong_together(made_up_run) -> None:
    run = made_up_run(3, 15)
    assert size_families(run) == {"bpe": [(8000, "bpe:vocab_size=8000"), (16000, "bpe:vocab_size=16000")]}


def test_the_main_dataset_is_the_parallel_one(made_up_run) -> None:
    assert data.main_dataset(made_up_run(3, 2)) == "bundled:parallel"


def test_a_cut_label_keeps_the_mark_of_what_loses_text() -> None:
    assert cut("bpe 8k †", 8) == "bpe 8k †"
    for room in range(8, 26):
        short = cut("transformers wordpiece 8k †", room)
        assert short.endswith("… †")
        assert len(short) <= room
    assert cut("transformers wordpiece 8k", 10) == "transform…"


def test_intervals_are_those_of_the_rows(made_up_run) -> None:
    run = made_up_run(3, 2)
    found = data.intervals(run, "premium", "bundled:parallel")
    assert len(found) == 6
    value = data.by_language(run, "premium", "bundled:parallel").loc["deu_Latn", "tiktoken:o200k_base"]
    assert found["deu_Latn", "tiktoken:o200k_base"] == pytest.approx((0.97 * value, 1.03 * value))
    assert data.intervals(run, "round_trip", "bundled:parallel") == {}


def test_speeds_have_their_own_confidence_and_that_is_said(made_up_run) -> None:
    run = made_up_run(3, 3)
    assert data.levels(run) == "95 %"
    run.confidence, run.level = 0.9, "90 %"
    assert data.levels(run) == "90 % (of speeds 95 %)"
    assert "Bars: 90 % (of speeds 95 %) intervals." in drawn("speed", run).get_label()
    run.frame = run.frame[~run.frame["metric"].str.startswith("encode_speed")]
    assert data.levels(run) == "90 %"
