from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tokbench.corpora.counted import Head, TextSize, table_of, write_table
from tokbench.counts import WordCounts
from tokbench.errors import SpecError, TokbenchError, UnknownNameError
from tokbench.registry import build_registry
from tokbench.results import Run
from tokbench.runner.candidates import Candidate
from tokbench.runner.figures import measure_context
from tokbench.runner.inspecting import Inspections
from tokbench.runner.plan import make_plan
from tokbench.runner.suite import Suite, expand, load_suite, shipped_suites

pytestmark = pytest.mark.usefixtures("workers_stay")

GIVEN = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "train_on": "bundled:tricky"}
"""Text that is opened at once; what a run trains on by default is looked for in all of Python's library."""


def test_lists_in_a_table_stand_for_every_combination() -> None:
    specs = expand({"family": "bpe", "vocab_size": [1, 2], "pattern": ["gpt2", "none"]})
    assert len(specs) == 4
    assert specs[1] == "bpe:pattern=none,vocab_size=1"
    assert expand({"spec": "bpe:pattern=gpt2", "vocab_size": [1]}) == ["bpe:pattern=gpt2,vocab_size=1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tokenisers = []", "did you mean 'tokenizers'"),
        ("[speed]\nround = 3", r"\[speed\].*did you mean 'rounds'"),
        ("timeout = 'soon'", "timeout"),
        ("timeout = nan", "timeout should be a finite number, not nan"),
        ("timeout = 1e300", "timeout"),
        ("jobs = 0", "jobs"),
        ("jobs = true", "jobs should be a valid integer, not True"),
        ("replicates = 100_000_000", "replicates should be less than or equal to 100000, not 100000000"),
        ("seed = -1", "seed should be greater than or equal to 0, not -1"),
        ("samples = '4'", "samples should be a valid integer, not '4'"),
        ("replicates = 2.5", "replicates"),
        ("confidence = true", "confidence"),
        ("renyi_alphas = [-1.0]", "renyi_alphas"),
        ("renyi_alphas = [nan]", "renyi_alphas"),
        ("memory_limit = '10000000000G'", "memory_limit should be less than"),
        ("memory_limit = '300 MBit'", r"'memory_limit' takes a number of bytes \(500M, 2GB or 2GiB\), not"),
        ("[speed]\nthreads = [0]", "speed.threads"),
        ("[speed]\nrounds = true", "speed.rounds"),
        ("tokenizers = 'bytes'", "a list of specs"),
        ("tokenizers = [{ vocab_size = 3 }]", "must name its 'family'"),
        ("[speed]\nforms = ['fast']", "toml: speed.forms should be 'batch'.*, not 'fast'"),
        ("colors = { bytes = 'red' }", "toml: colors: a colour is written as in #0a5c8f, not 'red'"),
        ("diff = [['bytes']]", r"toml: diff: takes pairs of specs, as in .*, not \['bytes'\]"),
        ("diff = ['bytes', 'chars']", "toml: diff: takes pairs of specs, as in .*, not 'bytes'"),
        ("x = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SpecError, match=message):
        load_suite(path)


def test_losses_and_sizes_are_measured_whatever_is_asked_for() -> None:
    plan = make_plan(load_suite(None, {**GIVEN, "metrics": ["compression_ratio"]}), build_registry())
    names = [metric.name for metric in plan.metrics]
    assert names[0] == "compression_ratio"
    assert {"round_trip", "unk_rate", "lost_form", "lost_spaces", "lost_text", "text_bytes", "tokens"} < set(
        names
    )
    assert "fertility" not in names


def test_a_suite_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="not a suite file: 'utf-8'"):
        load_suite(path)


def test_a_suite_that_is_not_there() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'speed'"):
        load_suite("sped")
    with pytest.raises(SpecError, match="no such suite file"):
        load_suite("nowhere/mine.toml")


def test_options_lie_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text('tokenizers = ["bytes"]\ndatasets = ["bundled:prose"]\nseed = 4\n', encoding="utf-8")
    suite = load_suite(path, {"seed": 5, "jobs": None, "memory_limit": "2 GB"})
    assert (suite.seed, suite.tokenizers, suite.memory_limit) == (5, ["bytes"], 2_000_000_000)


def planned(source: Any, given: dict[str, Any]) -> Suite:
    """A suite as a run takes it."""
    return make_plan(load_suite(source, given), build_registry()).suite


def test_the_speed_pass_of_a_suite_times_the_datasets_that_are_given_instead() -> None:
    for source in (None, "default"):
        suite = planned(source, {"datasets": ["bundled:prose"], "tokenizers": None})
        assert suite.speed_settings is not None
        assert (suite.speed_settings.datasets, suite.speed_settings.passage_bytes) == ([], 25_000)


def test_those_that_the_speed_pass_of_a_suite_names_are_timed_where_they_are_given_again() -> None:
    suite = planned("default", {"datasets": ["stdlib:docs", "bundled:code"]})
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
    found = planned(suite, given)
    assert found.labels == {"chars": "C", "bundled:code": "K"}
    assert found.speed_settings is not None
    assert (found.speed_settings.datasets, found.speed_settings.rounds) == ([], 3)
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'bytes'"):
        planned(suite, {**given, "labels": {"bytes": "B"}})
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
    found = planned(suite, {"tokenizers": ["bpe:vocab_size=2k", "bytes"]})
    assert found.labels == {"bpe:vocab_size=2000": "two"}
    assert found.colors == {"bpe:vocab_size=2_000": "#222222"}
    found = planned(suite, {"datasets": ["bundled:parallel,lines=odd,languages=deu_Latn"]})
    assert found.speed_settings is not None
    assert len(found.speed_settings.datasets) == 1
    assert planned(suite, {"datasets": ["bundled:prose"]}).speed_settings.datasets == []  # type: ignore[union-attr]
    suite.write_text(suite.read_text().replace("size=1k", "size=9k"))
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'bpe:vocab_size=9k'"):
        planned(suite, {"tokenizers": ["bytes"]})


def test_without_text_or_tokenizers_the_default_suite_supplies_them() -> None:
    suite = load_suite(None, {"tokenizers": ["bytes"]})
    assert "bundled:parallel,lines=odd" in suite.datasets


@pytest.mark.parametrize("source", [None, "default"])
def test_tokenizers_that_are_given_stand_in_place_of_all_of_the_suites(source: str | None) -> None:
    suite = load_suite(source, {"tokenizers": ["bytes"]})
    assert (suite.tokenizers, suite.optional) == (["bytes"], [])
    assert load_suite(source, {"tokenizers": ["bytes"], "optional": ["chars"]}).optional == ["chars"]


@pytest.mark.parametrize("name", shipped_suites())
def test_shipped_suites_name_only_what_there_is(name: str) -> None:
    plan = make_plan(load_suite(name), build_registry())
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
            r"the engine 'local' has no scheduler; name one that has \(dask or ray\)",
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
        make_plan(load_suite(None, {**GIVEN, **changes}), build_registry())


def test_the_cheapest_language_can_be_asked_for_where_a_suite_names_another() -> None:
    changes = {"datasets": ["bundled:parallel,languages=deu_Latn+tha_Thai"], "tokenizers": ["bytes"]}
    with pytest.raises(TokbenchError, match="--reference LANGUAGE, or --reference cheapest"):
        make_plan(load_suite("multilingual", changes), build_registry())
    plan = make_plan(load_suite("multilingual", {**changes, "reference": "cheapest"}), build_registry())
    assert measure_context(plan, (), Inspections()).reference is None


def test_gold_words_are_read_before_any_work(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("word,parts\n")
    changes = {**GIVEN, "morphology": {"deu_Latn": {"path": str(gold)}}}
    with pytest.raises(TokbenchError, match="no column full_word, pt1, rest"):
        make_plan(load_suite(None, changes), build_registry())


def test_a_suite_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text('title = "Ours"\ntokenizers = ["bytes"]\ndatasets = ["bundled:code"]\n', "utf-8-sig")
    assert load_suite(file).title == "Ours"


def test_the_title_of_the_default_suite_is_of_its_own_comparison() -> None:
    assert load_suite(None).title
    assert load_suite(None, {"tokenizers": ["bytes"]}).title == ""
    assert load_suite(None, {"title": "A"}).request == load_suite(None, {"title": "B"}).request


def test_a_suite_says_how_tokenizers_are_shown() -> None:
    given = {**GIVEN, "tokenizers": ["gpt-4o", "bytes"]}
    shown = {"labels": {"gpt-4o": "GPT-4o"}, "colors": {"tiktoken:o200k_base": "#123456"}}
    entry, other = make_plan(load_suite(None, {**given, **shown}), build_registry()).entries
    assert (entry.key, entry.typed) == ("tiktoken:o200k_base", "gpt-4o")
    assert (entry.label, entry.color) == ("GPT-4o", "#123456")
    assert make_plan(load_suite(None, {**given, "baseline": "gpt-4o"}), build_registry()).baseline == entry.key
    assert (other.typed, other.label, other.color) == ("bytes", "", "")
    with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels: 'gpt4'"):
        make_plan(load_suite(None, {**given, "labels": {"gpt4": "x"}}), build_registry())
    with pytest.raises(UnknownNameError, match="tokenizer in colors: 'stdlib:docs'"):
        make_plan(load_suite(None, {**given, "colors": {"stdlib:docs": "#123456"}}), build_registry())
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
    plan = make_plan(load_suite(None, given), build_registry())
    assert [(entry.label, entry.color) for entry in plan.entries] == [("", "#123456"), ("ours", "")]
    assert [corpus.label for corpus in plan.corpora] == ["odd"]
    for wrong in ("bpe:vocab_size=3k,pattern=gpt2", "bpe:vocab=2k"):
        with pytest.raises(UnknownNameError, match="tokenizer or dataset in labels"):
            make_plan(load_suite(None, {**given, "labels": {wrong: "x"}}), build_registry())


def test_the_same_spec_twice_is_one_tokenizer() -> None:
    plan = make_plan(load_suite(None, {**GIVEN, "tokenizers": ["bytes", "bytes"]}), build_registry())
    assert [entry.key for entry in plan.entries] == ["bytes"]


def test_what_encodes_is_no_estimate_whose_losses_are_not_known() -> None:
    plan = make_plan(load_suite(None, GIVEN), build_registry())
    context = measure_context(plan, [Candidate(entry) for entry in plan.entries], Inspections())
    assert not context.estimates


def test_the_default_suite_measures_nothing_it_trains_on() -> None:
    suite = load_suite(None)
    assert not set(suite.train_on) & set(suite.datasets)
    assert "bundled:parallel,lines=even" in suite.train_on
    assert "bundled:parallel" not in suite.datasets


@pytest.mark.parametrize("given", ["bundled:prose", ["bundled:prose"]])
def test_one_training_text_or_several(given: object) -> None:
    assert load_suite(None, {"train_on": given}).train_on == ["bundled:prose"]


def test_a_small_run_starts_one_worker_unless_more_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokbench.runner.plan.usable_cores", lambda: 4)
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("a line\n" * 1_000)
    large.write_text("a line\n" * 100_000)

    def jobs(**changes: object) -> int:
        given = {**GIVEN, "tokenizers": ["bytes", "chars"], **changes}
        plan = make_plan(load_suite(None, given), build_registry())
        assert plan.memory_limit == int(0.8 * psutil.virtual_memory().total / plan.jobs), "of those that start"
        return plan.jobs

    assert jobs(datasets=[f"text:{small}"]) == 1
    assert jobs(datasets=[f"text:{small}"], jobs=2) == 2
    assert jobs(datasets=[f"text:{small}"], jobs=30) == 2
    assert jobs(datasets=[f"text:{small}"], jobs=30, engine="dask") == 30
    assert jobs(datasets=[f"text:{large}"]) == 4
    sizes = [f"bpe:vocab_size={size}" for size in (300, 400, 500, 600, 700)]
    assert jobs(datasets=[f"text:{small}"], tokenizers=sizes) == 4


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
        make_plan(load_suite(None, {**GIVEN, "tokenizers": [spec]}), build_registry())


def test_counts_are_checked_before_any_work(tmp_path: Path) -> None:
    counts = tmp_path / "c.parquet"
    head = Head("pattern o200k", "bpe:pattern=o200k", (TextSize("und", "x", 1, 3),))
    write_table(counts, head, table_of(WordCounts.of({"abc": 1}), "und", "x"))

    def plan(**changes: object) -> None:
        make_plan(load_suite(None, {**GIVEN, **changes}), build_registry())

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


def test_the_default_suite_asks_for_lossless_trainers() -> None:
    wanted = [spec for spec in load_suite(None).tokenizers if spec.startswith(("unigram", "sentencepiece"))]
    assert len(wanted) == 3
    assert all("byte_fallback" in spec and "identity" in spec for spec in wanted)


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
