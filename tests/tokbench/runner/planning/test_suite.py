"""Suites read from files and options: what they say, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokbench.errors import SpecError, UnknownNameError
from tokbench.runner.planning.suite import load_suite
from tokbench.runner.planning.suite_keys import expand


def test_lists_in_a_table_stand_for_every_combination() -> None:
    specs = expand({"family": "bpe", "vocab_size": [1, 2], "pattern": ["gpt2", "none"]})
    assert len(specs) == 4
    assert specs[1] == "bpe:pattern=none,vocab_size=1"
    assert expand({"spec": "bpe:pattern=gpt2", "vocab_size": [1]}) == ["bpe:pattern=gpt2,vocab_size=1"]
    nothing = {"tokenizers": ["bytes", {"family": "bpe", "vocab_size": []}], "datasets": ["bundled:prose"]}
    with pytest.raises(SpecError, match="vocab_size of bpe is an empty list"):
        load_suite(None, nothing)


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
        (
            "memory_limit = '1K'",
            "memory_limit: a worker holds about 200 MB before it counts.* so '1K' lets none live",
        ),
        ("memory_limit = 0", "memory_limit: a worker holds .* so 0 lets none live; say 2G"),
        ("cache = 'yes'", "toml: cache should be true or false, not 'yes'"),
        ("audit = 0", "audit should be true or false, not 0"),
        ("exclude_lossy = 'no'", "exclude_lossy should be true or false"),
        ("injection = 1", "injection should be true or false"),
        ("speed = 'no'", "toml: speed should be true or false, not 'no'$"),
        ("speed = 1", "toml: speed should be true or false, not 1$"),
        ("model = { preset = 'gpt2', tied = 'no' }", "model.tied should be true or false, not 'no'"),
        ("model = 3", "model should be a table, not 3"),
        ("weights = { price = '3' }", "weights: price takes a number, not '3'"),
        ("name = '../mine'", "name: a run's folder is called by it, so .* without slashes, not '../mine'"),
        ("name = ''", "name: a run's folder is called by it"),
        ("[speed]\nthreads = [0]", "speed.threads"),
        ("[speed]\nrounds = true", "speed.rounds"),
        ("[speed]\nthreads = []", "toml: speed.threads: names none; leave it out, or .* speed = false"),
        ("[speed]\nforms = []", "toml: speed.forms: names none; leave it out, or .* speed = false"),
        ("tokenizers = 'bytes'", "a list of specs"),
        ("tokenizers = [{ vocab_size = 3 }]", "must name its 'family'"),
        ("[speed]\nforms = ['fast']", "toml: speed.forms should be 'batch'.*, not 'fast'"),
        ("colors = { bytes = 'red' }", "toml: colors: a colour is written as in #0a5c8f, not 'red'"),
        ("labels = { bytes = '' }", "toml: labels: a label is a name to show; leave out what has none"),
        ("labels = { bytes = ' ' }", "toml: labels: a label is a name to show; leave out what has none"),
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


def test_what_is_timed_is_timed_once() -> None:
    timed = {"threads": [2, 1, 2], "forms": ["single", "single"]}
    suite = load_suite(None, {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "speed": timed})
    assert suite.speed_settings is not None
    assert (suite.speed_settings.threads, suite.speed_settings.forms) == ([2, 1], ["single"])


def test_orders_of_renyi_efficiency_are_kept_once() -> None:
    given = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "renyi_alphas": [3, 2.0, 2]}
    assert load_suite(None, given).renyi_alphas == [3.0, 2.0]


def test_text_in_place_of_a_suite_is_answered_with_the_option_for_it(tmp_path: Path) -> None:
    path = tmp_path / "my_text.txt"
    path.write_text("some words", encoding="utf-8")
    with pytest.raises(SpecError, match=r"my_text\.txt: not valid TOML: .*; text to count is named with -d"):
        load_suite(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("memory_limit", "4x", "'memory_limit' takes a number of bytes (500M, 2GB or 2GiB), not '4x'"),
        ("context_length", "4x", "option 'context_length' takes a whole number (8000 or 8k), not '4x'"),
        ("timeout", 0, "timeout should be greater than 0, not 0"),
    ],
)
def test_a_wrong_option_is_not_blamed_on_the_suite(
    name: str, value: object, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "suite.toml"
    for source in (None, "default", path):
        path.write_text('tokenizers = ["bytes"]\ndatasets = ["bundled:prose"]\n', encoding="utf-8")
        with pytest.raises(SpecError) as raised:
            load_suite(source, {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], name: value})
        assert str(raised.value) == f"options: {message}"
    path.write_text(f"{name} = {value!r}\n", encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_suite(path, {"tokenizers": ["bytes"], "datasets": ["bundled:prose"]})
    assert str(raised.value) == f"{path}: {message}"


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


def test_without_text_or_tokenizers_the_default_suite_supplies_them() -> None:
    suite = load_suite(None, {"tokenizers": ["bytes"]})
    assert "bundled:parallel,lines=odd" in suite.datasets


@pytest.mark.parametrize("source", [None, "default"])
def test_tokenizers_that_are_given_stand_in_place_of_all_of_the_suites(source: str | None) -> None:
    suite = load_suite(source, {"tokenizers": ["bytes"]})
    assert (suite.tokenizers, suite.optional) == (["bytes"], [])
    assert load_suite(source, {"tokenizers": ["bytes"], "optional": ["chars"]}).optional == ["chars"]


def test_a_suite_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text('title = "Ours"\ntokenizers = ["bytes"]\ndatasets = ["bundled:code"]\n', "utf-8-sig")
    assert load_suite(file).title == "Ours"


def test_the_title_of_the_default_suite_is_of_its_own_comparison() -> None:
    assert load_suite(None).title
    assert load_suite(None, {"tokenizers": ["bytes"]}).title == ""
    assert load_suite(None, {"title": "A"}).request == load_suite(None, {"title": "B"}).request


def test_the_default_suite_measures_nothing_it_trains_on() -> None:
    suite = load_suite(None)
    assert not set(suite.train_on) & set(suite.datasets)
    assert "bundled:parallel,lines=even" in suite.train_on
    assert "bundled:parallel" not in suite.datasets


@pytest.mark.parametrize("given", ["bundled:prose", ["bundled:prose"]])
def test_one_training_text_or_several(given: object) -> None:
    assert load_suite(None, {"train_on": given}).train_on == ["bundled:prose"]


def test_the_default_suite_asks_for_lossless_trainers() -> None:
    wanted = [spec for spec in load_suite(None).tokenizers if spec.startswith(("unigram", "sentencepiece"))]
    assert len(wanted) == 3
    assert all("byte_fallback" in spec and "identity" in spec for spec in wanted)
