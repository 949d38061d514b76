from __future__ import annotations

from pathlib import Path

import psutil
import pytest
import tokenizers

from tests.command import invoke
from tests.runs import planned
from tokbench.corpora.counted import Head, TextSize, table_of, write_table
from tokbench.counts import WordCounts
from tokbench.errors import PluginError, SpecError, TokbenchError, UnknownNameError
from tokbench.runner.figures import measure_context
from tokbench.runner.inspecting.stage import Inspections
from tokbench.runner.planning.suite import load_suite, shipped_suites
from tokbench.runner.planning.suite_keys import expand
from tokbench.runner.run import run_suite
from tokbench.runner.training.candidates import Candidate

pytestmark = pytest.mark.usefixtures("workers_stay")

GIVEN = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "train_on": "bundled:tricky"}
"""Text that is opened at once; what a run trains on by default is looked for in all of Python's library."""


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
    suite = load_suite(None, {**GIVEN, "speed": {"threads": [2, 1, 2], "forms": ["single", "single"]}})
    assert suite.speed_settings is not None
    assert (suite.speed_settings.threads, suite.speed_settings.forms) == ([2, 1], ["single"])


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


def test_losses_and_sizes_are_measured_whatever_is_asked_for() -> None:
    plan = planned({**GIVEN, "metrics": ["compression_ratio"]})
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
        planned({**GIVEN, **changes})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no function in it carries @tokbench.hookimpl"),
        ("import tokbench\n@tokbench.hookimpl\ndef tokbench_aliases(): 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_wrong_plugin_file_is_blamed_on_where_it_is_named(source: str, message: str, tmp_path: Path) -> None:
    path, plugin = tmp_path / "suite.toml", tmp_path / "mine.py"
    plugin.write_text(source)
    suite = "tokenizers = ['bytes']\ndatasets = ['bundled:prose']\n"
    path.write_text(f"plugins = ['{plugin}']\n{suite}")
    with pytest.raises(PluginError, match=rf"^{path}: plugins: {plugin}: .*{message}"):
        run_suite(path, ["nothing"], output=tmp_path / "out")
    path.write_text(suite)
    with pytest.raises(PluginError, match=rf"^plugins: {plugin}: .*{message}"):
        run_suite(path, ["nothing"], output=tmp_path / "out", plugins=[str(plugin)])
    with pytest.raises(PluginError, match=rf"^--plugin {plugin}: .*{message}"):
        invoke("run", path, "-t", "nothing", "-o", tmp_path / "out", "--plugin", plugin, catch=False)


def test_plugins_that_are_given_are_added_to_the_suites(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.py").write_text(
            f"import tokbench\n@tokbench.hookimpl\ndef tokbench_aliases():\n    return [('{name}', 'bytes')]\n"
        )
    path, [first, second, third] = (
        tmp_path / "suite.toml",
        [str(each) for each in sorted(tmp_path.glob("*.py"))],
    )
    path.write_text(
        f"tokenizers = ['first']\ndatasets = ['bundled:prose']\nplugins = ['{first}', '{second}']\n"
        "disable_plugins = ['second']\nspeed = false\n"
    )
    given = {"plugins": [third, first], "disable_plugins": "probe"}
    suite = load_suite(path, given)
    assert (suite.plugins, suite.disable_plugins) == ([first, second, third], ["second", "probe"])
    done = run_suite(path, ["first", "third"], output=tmp_path / "out", metrics=["chars_per_token"], **given)
    status = {each["name"]: each["status"] for each in done.manifest["plugins"]}
    assert [status[name] for name in ("first", "second", "third")] == ["loaded", "disabled", "loaded"]


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


def test_a_suite_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text('title = "Ours"\ntokenizers = ["bytes"]\ndatasets = ["bundled:code"]\n', "utf-8-sig")
    assert load_suite(file).title == "Ours"


def test_the_title_of_the_default_suite_is_of_its_own_comparison() -> None:
    assert load_suite(None).title
    assert load_suite(None, {"tokenizers": ["bytes"]}).title == ""
    assert load_suite(None, {"title": "A"}).request == load_suite(None, {"title": "B"}).request


def test_the_same_spec_twice_is_one_tokenizer() -> None:
    plan = planned({**GIVEN, "tokenizers": ["bytes", "bytes"]})
    assert [entry.key for entry in plan.entries] == ["bytes"]


def test_what_encodes_is_no_estimate_whose_losses_are_not_known() -> None:
    plan = planned(GIVEN)
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


def test_the_default_suite_asks_for_lossless_trainers() -> None:
    wanted = [spec for spec in load_suite(None).tokenizers if spec.startswith(("unigram", "sentencepiece"))]
    assert len(wanted) == 3
    assert all("byte_fallback" in spec and "identity" in spec for spec in wanted)
