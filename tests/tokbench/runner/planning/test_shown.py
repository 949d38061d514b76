"""What a suite says of tokenizers and texts by name, and of those that others stand in place of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.errors import SpecError, UnknownNameError
from tokbench.results import Run
from tokbench.runner.planning.suite import load_suite

pytestmark = pytest.mark.usefixtures("workers_stay")


def test_the_speed_pass_of_a_suite_times_the_datasets_that_are_given_instead() -> None:
    for source in (None, "default"):
        suite = planned({"datasets": ["bundled:prose"], "tokenizers": None}, source).suite
        assert suite.speed_settings is not None
        assert (suite.speed_settings.datasets, suite.speed_settings.passage_bytes) == ([], 25_000)


def test_those_that_the_speed_pass_of_a_suite_names_are_timed_where_they_are_given_again() -> None:
    suite = planned({"datasets": ["stdlib:docs", "bundled:code"]}, "default").suite
    assert suite.speed_settings is not None
    assert suite.speed_settings.datasets == ["bundled:code"]


def test_what_a_suite_says_of_names_that_are_not_given_again_goes_with_them(tmp_path: Path) -> None:
    suite = tmp_path / "own.toml"
    suite.write_text(
        'tokenizers = ["bytes", "chars"]\ndatasets = ["bundled:prose", "bundled:code"]\n'
        'labels = { "bytes" = "B", "chars" = "C", "bundled:prose" = "P", "bundled:code" = "K" }\n'
        '[speed]\ndatasets = ["bundled:prose"]\nrounds = 3\n'
    )
    given = {"datasets": ["bundled:code"], "tokenizers": ["chars", "words"]}
    found = planned(given, suite).suite
    assert found.labels == {"chars": "C", "bundled:code": "K"}
    assert found.speed_settings is not None
    assert (found.speed_settings.datasets, found.speed_settings.rounds) == ([], 3)
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'bytes'"):
        planned({**given, "labels": {"bytes": "B"}}, suite)
    suite.write_text('datasets = ["bundled:prose"]\n[speed]\ndatasets = "bundled:prose"\n')
    with pytest.raises(SpecError, match=r"speed\.datasets"):
        load_suite(suite, given)


def test_they_are_those_meant_however_spelled(tmp_path: Path) -> None:
    suite = tmp_path / "own.toml"
    suite.write_text(
        'tokenizers = ["bpe:vocab_size=1000", "bpe:vocab_size=2000", "bpe:vocab_size=3k"]\n'
        'datasets = ["bundled:prose,languages=deu_Latn", "bundled:parallel,languages=deu_Latn,lines=odd"]\n'
        'labels = { "bpe:vocab_size=1k" = "gone", "bpe:vocab_size=2000" = "two", '
        '"bpe:vocab_size=3000" = "gone" }\n'
        'colors = { "bpe:vocab_size=1_000" = "#111111", "bpe:vocab_size=2_000" = "#222222" }\n'
        '[speed]\ndatasets = ["bundled:parallel,languages=deu_Latn,lines=odd"]\n'
    )
    found = planned({"tokenizers": ["bpe:vocab_size=2k", "bytes"]}, suite).suite
    assert found.labels == {"bpe:vocab_size=2000": "two"}
    assert found.colors == {"bpe:vocab_size=2_000": "#222222"}
    found = planned({"datasets": ["bundled:parallel,lines=odd,languages=deu_Latn"]}, suite).suite
    assert found.speed_settings is not None
    assert len(found.speed_settings.datasets) == 1
    assert planned({"datasets": ["bundled:prose"]}, suite).suite.speed_settings.datasets == []  # type: ignore[union-attr]
    suite.write_text(suite.read_text().replace("size=1k", "size=9k"))
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'bpe:vocab_size=9k'"):
        planned({"tokenizers": ["bytes"]}, suite)


def test_a_suite_says_how_tokenizers_are_shown() -> None:
    given = {"datasets": ["bundled:prose"], "tokenizers": ["gpt-4o", "bytes"]}
    shown = {"labels": {"gpt-4o": "GPT-4o"}, "colors": {"tiktoken:o200k_base": "#123456"}}
    entry, other = planned({**given, **shown}).entries
    assert (entry.key, entry.typed) == ("tiktoken:o200k_base", "gpt-4o")
    assert (entry.label, entry.color) == ("GPT-4o", "#123456")
    assert planned({**given, "baseline": "gpt-4o"}).baseline == entry.key
    assert (other.typed, other.label, other.color) == ("bytes", "", "")
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'gpt4'"):
        planned({**given, "labels": {"gpt4": "x"}})
    with pytest.raises(UnknownNameError, match="tokenizer in colors: 'stdlib:docs'"):
        planned({**given, "colors": {"stdlib:docs": "#123456"}})
    with pytest.raises(SpecError, match="colors"):
        load_suite(None, {**given, "colors": {"bytes": "red"}})


def test_labels_and_colors_name_what_is_shown_however_its_spec_is_spelled() -> None:
    sizes = {"family": "bpe", "vocab_size": [1000, 2000], "pattern": "gpt2"}
    text = "bundled:parallel,languages=eng_Latn,lines=odd"
    given = {
        "tokenizers": [sizes],
        "datasets": [text],
        "labels": {
            "bpe:vocab_size=2k,pattern=gpt2": "ours",
            "bundled:parallel,lines=odd,languages=eng_Latn": "odd",
        },
        "colors": {"bpe:vocab_size=1_000,pattern=gpt2": "#123456"},
    }
    plan = planned(given)
    assert [(entry.label, entry.color) for entry in plan.entries] == [("", "#123456"), ("ours", "")]
    assert [corpus.label for corpus in plan.corpora] == ["odd"]
    for wrong in ("bpe:vocab_size=3k,pattern=gpt2", "bpe:vocab=2k"):
        with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels"):
            planned({**given, "labels": {wrong: "x"}})


def test_a_suite_says_how_datasets_are_shown(run: Callable[..., Run], corpus: Path) -> None:
    from tokbench.plots.labels import dataset_label
    from tokbench.reports.markdown import document

    texts = [f"{corpus}/eng_Latn.txt", f"text:{corpus}/deu_Latn.txt"]
    done = run(["bytes"], texts, labels={texts[0]: "the mat", texts[1]: "the fault"}, report=False)
    assert [dataset_label(done, name) for name in done.datasets] == ["the mat", "the fault"]
    assert dataset_label(done, "bundled:code") == "bundled code"
    assert "## the mat" in document(done)


def test_a_run_keeps_the_name_typed_and_how_tokenizers_are_shown(run: Callable[..., Run], corpus: Path) -> None:
    from tokbench.plots.labels import run_labels
    from tokbench.plots.losses import colors

    shown = {"labels": {"bytes": "UTF-8"}, "colors": {"bytes": "#123456"}, "baseline": "chars"}
    done = run(["bytes", "chars"], [f"text:{corpus}"], jobs=1, metrics=["compression_ratio"], **shown)
    assert [entry["typed"] for entry in done.manifest["tokenizers"]] == ["bytes", "chars"]
    assert run_labels(done) == {"bytes": "UTF-8", "chars": "chars"}
    assert done.manifest["baseline"] == "chars"
    assert colors(done) == {"bytes": "#123456"}
