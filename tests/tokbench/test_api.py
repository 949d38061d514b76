"""The Python API: what it takes for granted, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import tokbench
from tokbench.errors import CorpusError, SpecError, TokenizerError, UnknownNameError
from tokbench.presenting import presenters

pytestmark = pytest.mark.usefixtures("workers_stay")


def test_one_spec_may_stand_by_itself(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat\n" * 5)
    run = tokbench.run(
        "bytes", f"text:{text}", output=tmp_path / "out", speed=False, metrics=["compression_ratio"]
    )
    assert run.tokenizers == ["bytes"]
    assert run.datasets == [f"text:{text}"]


def test_a_list_of_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match="tokenizers: an empty list"):
        tokbench.run([], ["bundled:code"])
    with pytest.raises(SpecError, match="datasets: an empty list"):
        tokbench.run(["bytes"], [])


def test_a_path_may_stand_for_a_spec_and_anything_else_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat\n" * 50)
    trained = tokbench.load("bpe:vocab_size=260", train_on=text)
    saved = tmp_path / "t.json"
    trained.save(saved)
    assert list(tokbench.load(saved).encode("the cat")) == list(trained.encode("the cat"))
    assert tokbench.load_dataset(text).languages == ["und"]
    run = tokbench.run(saved, text, output=tmp_path / "out", speed=False, report=False, metrics="tokens")
    assert run.datasets == [f"text:{text}"]
    with pytest.raises(SpecError, match="None names no tokenizer"):
        tokbench.load(None)
    with pytest.raises(SpecError, match="3 names no dataset"):
        tokbench.load_dataset(3)


def test_options_may_be_paths_and_what_is_no_spec_is_said(tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out"
    text.write_text("the cat sat\n" * 50)
    given = {"output": out, "speed": False, "report": False, "metrics": "tokens"}
    run = tokbench.run("bpe:vocab_size=260", text, train_on=[text], **given)
    assert run.manifest["train_on"] == f"text:{text}"
    for wrong in ([tokbench.load("bytes")], [None], 3):
        with pytest.raises(SpecError, match=r"tokenizers: .* is no spec; name each as text.*plugins="):
            tokbench.run(wrong)
    with pytest.raises(UnknownNameError, match="Left out were the plugins baselines"):
        tokbench.load("bytes", disable="baselines")


@pytest.mark.parametrize(
    ("texts", "why"),
    [([], "the list is empty"), ([""], "every one is empty"), (["a", 1], "number 1 is of type int")],
)
def test_what_is_no_text_to_train_on_is_refused(texts: list[str], why: str) -> None:
    with pytest.raises(CorpusError, match=why):
        tokbench.load("bpe:vocab_size=300", train_on=texts)


def test_a_list_of_datasets_is_no_text_to_train_on_but_a_text_may_begin_as_one() -> None:
    assert tokbench.load("bpe:vocab_size=260", train_on=["text: and a sentence", "text"]).vocab_size == 260
    with pytest.raises(SpecError, match=r"join those by .*'bundled:code \+ bundled:prose'"):
        tokbench.load("bpe:vocab_size=300", train_on=["bundled:code", "bundled:prose"])


def test_what_is_trained_for_a_call_goes_by_its_spec_and_not_by_the_file_it_is_kept_in() -> None:
    tokenizer = tokbench.load("maxmatch:vocab_size=260", train_on=["a text", "another"])
    assert tokenizer.name == "maxmatch:vocab_size=260"
    with pytest.raises(TokenizerError, match=r"^maxmatch:vocab_size=260: .*999"):
        tokenizer.decode([999])


def test_the_name_of_a_format_is_no_file(made_up_run) -> None:
    with pytest.raises(SpecError, match=r"report\(format='card'\)"):
        presenters[0].report(made_up_run(1, 1), "card", None, ())


def test_what_is_no_name_of_a_plot_a_format_or_a_file_is_said(made_up_run) -> None:
    run = made_up_run(1, 1)
    for wrong in cast(Any, (3, ["card"])):
        with pytest.raises(SpecError, match=r"is no file: .* takes its path"):
            presenters[0].report(run, wrong, None, ())
        with pytest.raises(UnknownNameError, match=r"unknown report format .*There are: .*md"):
            presenters[0].report(run, None, wrong, ())
        with pytest.raises(UnknownNameError, match=r"unknown plot .*There are: .*compression"):
            presenters[0].plot(run, wrong, ())


@pytest.mark.parametrize(
    ("spec", "near"), [("gpt4o", "'gpt-4o'"), ("bert-base-uncasd", "'bert-base-uncased'"), ("byts", "'bytes'")]
)
def test_a_misspelt_model_is_answered_with_models_and_a_misspelt_family_with_families(
    spec: str, near: str
) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean {near}"):
        tokbench.load(spec)
