"""A plan made of a suite: what it measures, and what is found before any work."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
import tokenizers

from tests.runs import planned
from tokbench.corpora.counted import Head, TextSize, table_of, write_table
from tokbench.counts import WordCounts
from tokbench.errors import SpecError, TokbenchError
from tokbench.runner.figures import measure_context
from tokbench.runner.inspecting.stage import Inspections
from tokbench.runner.planning.suite import shipped_suites
from tokbench.runner.training.candidates import Candidate

pytestmark = pytest.mark.usefixtures("workers_stay")

GIVEN = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "train_on": "bundled:tricky"}
"""Text that is opened at once; what a run trains on by default is looked for in all of Python's library."""


def test_losses_and_sizes_are_measured_whatever_is_asked_for() -> None:
    plan = planned({**GIVEN, "metrics": ["compression_ratio"]})
    names = [metric.name for metric in plan.metrics]
    assert names[0] == "compression_ratio"
    assert {"round_trip", "unk_rate", "lost_form", "lost_spaces", "lost_text", "text_bytes", "tokens"} < set(
        names
    )
    assert "fertility" not in names


@pytest.mark.parametrize("name", shipped_suites())
def test_shipped_suites_name_only_what_there_is(name: str) -> None:
    plan = planned({}, name)
    assert plan.entries
    assert plan.corpora
    assert plan.suite.name == name
    assert plan.suite.title


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizers": ["bites"]}, "did you mean 'bytes'"),
        ({"tokenizers": ["maxmatch:vocab_sise=3"]}, "did you mean 'vocab_size'"),
        ({"metrics": ["fertilty"]}, "did you mean 'fertility'"),
        ({"engine": "dusk"}, "did you mean 'dask'"),
        ({"datasets": ["text:nowhere.txt"]}, "nowhere.txt"),
        ({"baseline": "chars"}, "not among the tokenizers"),
        ({"baseline": "bites"}, "^baseline: .*did you mean 'bytes'"),
        ({"diff": [("bytes", "bites")]}, "^diff: .*did you mean 'bytes'"),
        ({"prices": "nowhere.toml"}, "nowhere.toml.*No such file"),
        ({"morphology": {"deu": {"path": "nowhere.csv"}}}, "nowhere.csv.*No such file"),
        (
            {"address": "tcp://host:8786"},
            r"the engine 'local' has no scheduler; choose another \(dask or ray\)",
        ),
        ({"reference": "eng_Latm"}, "unknown language in reference: 'eng_Latm'; did you mean 'eng_Latn'"),
        ({"tokenizers": ["maxmatch:vocab_size=9"], "train_on": "text:nowhere.txt"}, "nowhere.txt"),
        ({"train_on": "bundeld:tricky"}, "unknown dataset family 'bundeld'; did you mean 'bundled'"),
        ({"speed": {"datasets": ["bundled:code"]}}, "not among the datasets"),
        ({"speed": {"datasets": ["bundeld"]}}, r"^\[speed\] datasets: .*did you mean 'bundled'"),
    ],
)
def test_everything_is_checked_before_any_work(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TokbenchError, match=message):
        planned({**GIVEN, **changes})


def test_a_baseline_of_the_same_file_as_a_tokenizer_of_the_run_is_told_its_name(tmp_path: Path) -> None:
    """What `train` calls ``bpe:F.json`` is not what a bare ``F.json`` names, which `transformers` opens."""
    path = tmp_path / "F.json"
    tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, [])).save(str(path))
    here = {**GIVEN, "tokenizers": [f"bpe:{path}", "bytes"]}
    with pytest.raises(SpecError, match=rf"add it with -t {path}, or name 'bpe:{path}', of the same file$"):
        planned({**here, "baseline": str(path)})
    with pytest.raises(SpecError, match=r"add it with -t chars$"):
        planned({**here, "baseline": "chars"})


def test_the_cheapest_language_can_be_asked_for_where_a_suite_names_another() -> None:
    changes = {"datasets": ["bundled:parallel,languages=deu_Latn+tha_Thai"], "tokenizers": ["bytes"]}
    with pytest.raises(TokbenchError, match="--reference LANGUAGE, or --reference cheapest"):
        planned(changes, "multilingual")
    plan = planned({**changes, "reference": "cheapest"}, "multilingual")
    assert measure_context(plan, (), Inspections()).reference is None


def test_gold_words_are_read_before_any_work(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("word,parts\n")
    changes = {**GIVEN, "morphology": {"deu_Latn": {"path": str(gold)}}}
    with pytest.raises(TokbenchError, match="no column full_word, pt1, rest"):
        planned(changes)


def test_the_same_spec_twice_is_one_tokenizer() -> None:
    plan = planned({**GIVEN, "tokenizers": ["bytes", "bytes"]})
    assert [entry.key for entry in plan.entries] == ["bytes"]


def test_what_encodes_is_no_estimate_whose_losses_are_not_known() -> None:
    plan = planned(GIVEN)
    context = measure_context(plan, [Candidate(entry) for entry in plan.entries], Inspections())
    assert not context.estimates


def test_a_small_run_starts_one_worker_unless_more_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokbench.runner.planning.plan.usable_cores", lambda: 4)
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("a line\n" * 1_000)
    large.write_text("a line\n" * 100_000)

    def jobs(**changes: object) -> int:
        given = {**GIVEN, "tokenizers": ["bytes", "chars"], **changes}
        plan = planned(given)
        assert plan.memory_limit == int(0.8 * psutil.virtual_memory().total / plan.jobs), "of those that start"
        return plan.jobs

    assert jobs(datasets=[f"text:{small}"]) == 1
    assert jobs(datasets=[f"text:{small}"], jobs=2) == 2
    assert jobs(datasets=[f"text:{small}"], jobs=30) == 2
    assert jobs(datasets=[f"text:{large}"]) == 4
    sizes = [f"bpe:vocab_size={size}" for size in (300, 400, 500, 600, 700)]
    assert jobs(datasets=[f"text:{small}"], tokenizers=sizes) == 4
    # As if it were installed:
    monkeypatch.setattr("tokbench.runner.planning.plan.check_engine", lambda *given: None)
    assert jobs(datasets=[f"text:{small}"], jobs=30, engine="dask") == 30


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bpe:vocab_size=100", "ask for at least 256"),
        ("unigram:vocab_size=3", "ask for at least 4"),
        ("wordpiece:vocab_size=5", "ask for at least 6"),
        ("bpe:parity_alpha=3", "parity_alpha= is for parity=window alone"),
        ("bpe:parity=base,parity_window=7", "parity_window= is for parity=window alone"),
        ("bpe:development=folder", "development= is for parity=base or parity=window alone"),
    ],
)
def test_options_with_which_nothing_can_be_trained_are_found_before_any_work(spec: str, message: str) -> None:
    with pytest.raises(TokbenchError, match=message):
        planned({**GIVEN, "tokenizers": [spec]})


def test_counts_are_checked_before_any_work(tmp_path: Path) -> None:
    counts = tmp_path / "c.parquet"
    head = Head("pattern o200k", "bpe:pattern=o200k", (TextSize("und", "x", 1, 3),))
    write_table(counts, head, table_of(WordCounts.of({"abc": 1}), "und", "x"))

    def plan(**changes: object) -> None:
        planned({**GIVEN, **changes})

    with pytest.raises(SpecError, match="holds counts, not text: name it with --train-on"):
        plan(datasets=[f"counts:{counts}"])
    trained = {"tokenizers": ["bpe:vocab_size=300"], "train_on": [f"counts:{counts}"]}
    with pytest.raises(TokbenchError, match=r"counted for bpe:pattern=o200k.* cuts by \[pattern gpt2\]"):
        plan(**trained)
    plan(**{**trained, "tokenizers": ["bpe:vocab_size=300,pattern=o200k"]})
    with pytest.raises(SpecError, match=r"counts are for .*bpe"):
        plan(**{**trained, "tokenizers": ["maxmatch:vocab_size=300"]})
    with pytest.raises(TokbenchError, match="cannot be joined while training"):
        plan(**{**trained, "train_on": [f"counts:{counts}", "bundled:prose"]})
