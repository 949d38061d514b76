"""The kit on what is no loaded tokenizer: trained families, datasets, metrics, plots …; without hypothesis."""

from __future__ import annotations

import builtins
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import invoke
from tokbench import LoadContext
from tokbench.errors import SpecError, UnknownNameError
from tokbench.registry import Registry, build_registry
from tokbench.results import Run
from tokbench.testing import failures_of, outputs
from tokbench.testing.kit import failures_of_other

SOURCE = """
import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import tokbench
from tokbench import Document, Metric, Shard

class Letters:
    name = "letters"
    def __init__(self, letters):
        self.letters = letters
        self.vocab_size = len(letters) + 1
        self.unk_id = len(letters)
    def encode(self, text):
        return [self.letters.find(c) if c in self.letters else self.unk_id for c in text]
    def decode(self, ids):
        if not all(0 <= i < self.vocab_size for i in ids):
            raise ValueError("no such id")
        return "".join((self.letters + "?")[i] for i in ids)
    def save(self, path):
        Path(path).write_text(self.letters[LOST:])

def train(corpus, options, progress):
    progress(0.5, "reading")
    letters = sorted({c for text in corpus.texts() for c in text})
    RANDOM and random.shuffle(letters)
    return Letters("".join(letters))

class Data:
    name, languages, parallel = "data", ("eng_Latn", "deu_Latn"), True
    def shards(self, language):
        return [Shard(language, "here")]
    def read(self, shard):
        if NOTHING:
            return None
        lines = (None if NO_LINE else n + LINES * (shard.language == "deu_Latn") for n in range(3 - 3 * EMPTY))
        return (Document(f"{shard.language} {n}", line=line, words=WORDS) for n, line in enumerate(lines))
    def digest(self, shard):
        return "same" if DIGEST else shard.language

def count(texts):
    return [len(text) + BATCHED * (len(texts) > 1) for text in texts]

def load(spec, context):
    EXITS and sys.exit(3)
    return Letters(Path(spec.variant).read_text())

@tokbench.hookimpl
def tokbench_tokenizers():
    yield tokbench.TokenizerFamily(name="letters", summary="s", load=load, train=train)

@tokbench.hookimpl
def tokbench_datasets():
    yield tokbench.DatasetFamily(name="data", summary="s", load=lambda spec, context: Data())

@tokbench.hookimpl
def tokbench_metrics():
    yield Metric(name="mine", unit="u", better="none", summary="s", counters={"mine": "m"}, count=count,
                 compute=lambda t: t.mine / ("x" if TEXT else 0 if ZERO else t.tokens or 1))

def draw(run):
    from matplotlib.figure import Figure
    rows = run.frame[run.frame["metric"] == "mine"]
    if rows.empty and not BARE:
        return None
    figure = Figure()
    figure.subplots().set_title(str(rows["value"].iloc[0]))
    return 7 if NUMBER else figure

@tokbench.hookimpl
def tokbench_plots():
    yield tokbench.Plot(name="drawn", title="t", summary="s", draw=draw, needs="" if UNSAID else "compression")

def write(run, path):
    rows = run.frame[run.frame["metric"] == "compression_ratio"]
    ELSEWHERE or path.write_text(str(rows["value"].iloc[0] if BARE else len(rows)))

@tokbench.hookimpl
def tokbench_report_writers():
    yield tokbench.ReportWriter(name="written", summary="s", suffix=".txt", write=write)

@tokbench.hookimpl
def tokbench_engines():
    yield tokbench.Engine(name="threads", summary="s", open=lambda jobs, address: ThreadPoolExecutor(jobs),
                          shared=bool(SHARED))
"""
FAULTS = (
    *("LOST", "RANDOM", "LINES", "DIGEST", "BATCHED", "TEXT", "SHARED", "EXITS", "NOTHING", "NO_LINE", "EMPTY"),
    *("ZERO", "BARE", "NUMBER", "UNSAID", "ELSEWHERE", "OUTSIDE", "OVER"),
)


def registry_with(folder: Path, *faults: str) -> Registry:
    path = (
        folder / f"kinds{'_'.join(faults)}.py"
    )  # one file rewritten within a second has the old one's bytecode
    words = "WORDS = ((0, 99),) if OUTSIDE else ((0, 4), (3, 6)) if OVER else ((0, 8), (9, 10))\n"
    path.write_text("\n".join([*(f"{name} = {int(name in faults)}" for name in FAULTS), words]) + SOURCE)
    return build_registry(plugin_files=[str(path)])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("runs")
    return outputs.sample_runs(folder, registry_with(folder).context)


@pytest.fixture
def same_runs(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots and reports are tried on copies of the same runs: the faults are in what is made of them."""

    def copies(folder: Path, context: LoadContext) -> list[Run]:
        return [Run.open(shutil.copytree(run.path, folder / run.path.name)) for run in runs]

    monkeypatch.setattr(outputs, "sample_runs", copies)


def found(folder: Path, kind: str, name: str, *faults: str) -> list[tuple[str, str]]:
    """The check and the problem of every failure of what a plugin with these faults brings."""
    registry = registry_with(folder, *faults)
    if kind == "tokenizer":
        text = folder / "text.txt"
        text.write_text("some letters to be learned\n" * 3)
        skip = ["recipe", "memory", "speed", "threads"]
        failures = failures_of(name, examples=5, skip=skip, registry=registry, train_on=f"text:{text}")
    else:
        failures = failures_of_other(kind, name, registry)
    return [(failure.check, failure.problem) for failure in failures]


@pytest.mark.parametrize(
    ("kind", "name", "fault", "check", "said"),
    [
        ("tokenizer", "letters", "LOST", "train", "ids, loaded with"),
        ("tokenizer", "letters", "RANDOM", "train", "trained once more"),
        ("tokenizer", "letters", "EXITS", "train", "SystemExit: 3"),
        ("dataset", "data", "LINES", "parallel", "the lines of deu_Latn"),
        ("dataset", "data", "DIGEST", "digest", "two shards with different text"),
        ("dataset", "data", "NOTHING", "documents", "'NoneType' object is not iterable"),
        ("dataset", "data", "EMPTY", "documents", "there is no document"),
        ("dataset", "data", "NO_LINE", "parallel", "a document of eng_Latn has no line"),
        ("dataset", "data", "OUTSIDE", "words", "(0, 99) after 0 in a text of 10 characters: 'eng_Latn 0'"),
        ("dataset", "data", "OVER", "words", "(3, 6) after 4 in a text"),
        ("metric", "mine", "ZERO", "computes", "undefined: nothing to divide by"),
        ("plot", "drawn", "BARE", "draws_bare", "IndexError"),
        ("plot", "drawn", "NUMBER", "draws", "the plot 'drawn' drew int"),
        ("plot", "drawn", "UNSAID", "draws_bare", "`needs` does not say what it lacks"),
        ("report", "written", "BARE", "writes_bare", "IndexError"),
        ("report", "written", "ELSEWHERE", "writes", "wrote no /"),
        ("metric", "mine", "BATCHED", "adds_up", "mine of all documents together"),
        ("metric", "mine", "TEXT", "computes", "TypeError"),
        ("engine", "threads", "SHARED", "shared", "tasks run in this process; shared is True"),
    ],
)
@pytest.mark.usefixtures("same_runs")
def test_each_fault_is_found(tmp_path: Path, kind: str, name: str, fault: str, check: str, said: str) -> None:
    [first, *_] = found(tmp_path, kind, name, fault)
    assert first[0] == check
    assert said in first[1]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("tokenizer", "letters"), ("dataset", "data"), ("metric", "mine"), ("engine", "threads")),
        *(("plot", "drawn"), ("report", "written")),
    ],
)
@pytest.mark.usefixtures("same_runs")
def test_nothing_is_found_where_there_is_no_fault(tmp_path: Path, kind: str, name: str) -> None:
    assert found(tmp_path, kind, name) == []


def test_an_engine_whose_package_is_not_installed_is_not_checked(tmp_path: Path) -> None:
    plugin = tmp_path / "far.py"
    plugin.write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_engines():\n    return [tokbench.Engine(\n"
        "        name='far', summary='', open=lambda jobs, address: None, package='no.such')]\n"
    )
    with pytest.raises(SpecError, match=r"'far' needs the package 'no\.such', which is not installed"):
        failures_of_other("engine", "far", build_registry(plugin_files=[str(plugin)]))


def test_a_spec_of_a_plugin_file_is_checked(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("abc")
    plugins = [registry_with(tmp_path).context.plugins[0]]
    given = {"plugins": plugins, "examples": 5, "skip": ["memory", "speed", "threads"]}
    assert failures_of(f"letters:{tmp_path}/letters.txt", **given) == []


def test_the_command_finds_out_what_kind_of_thing_it_is(tmp_path: Path) -> None:
    registry_with(tmp_path, "LINES")
    plugin = ["--plugin", str(tmp_path / "kindsLINES.py")]
    done = invoke("plugins", "check", "data", *plugin)
    assert (done.exit_code, "data: 1 check fails" in done.output) == (1, True)
    assert "threads: conforms" in invoke("plugins", "check", "threads", *plugin).output
    assert "written: conforms" in invoke("plugins", "check", "written", "--kind", "report", *plugin).output
    with pytest.raises(SpecError, match="'csv' is a dataset and a report; say which with --kind"):
        invoke("plugins", "check", "csv", catch=False)
    with pytest.raises(UnknownNameError, match="unknown name 'drown'; did you mean the plot 'drawn'"):
        invoke("plugins", "check", "drown", *plugin, catch=False)


def test_that_a_metric_never_had_a_value_is_said(tmp_path: Path) -> None:
    plugin = tmp_path / "declines.py"
    plugin.write_text(
        "import tokbench\n"
        "def compute(t):\n"
        "    raise tokbench.Undefined('no dates')\n\n"
        "@tokbench.hookimpl\n"
        "def tokbench_metrics():\n"
        "    yield tokbench.Metric(name='dates', unit='u', better='none', summary='s', compute=compute)\n"
    )
    done = invoke("plugins", "check", "dates", "--plugin", str(plugin))
    assert done.exit_code == 0
    assert "conforms, but it had no value on the text it was tried on (undefined: no dates)" in done.output
    assert invoke("plugins", "check", "compression_ratio").output.endswith("compression_ratio: conforms\n")


def test_a_fault_of_count_is_told_once_and_not_as_one_of_compute(tmp_path: Path) -> None:
    plugin = tmp_path / "miscounts.py"
    plugin.write_text(
        "import tokbench\n\n"
        "@tokbench.hookimpl\n"
        "def tokbench_metrics():\n"
        "    yield tokbench.Metric(name='dates', unit='u', better='none', summary='s',\n"
        "                          compute=lambda t: t.date, counters={'date': 's'},\n"
        "                          count=lambda texts: {'dates': [1] * len(texts)})\n"
    )
    done = invoke("plugins", "check", "dates", "--plugin", str(plugin))
    assert done.exit_code == 1
    assert "counts: failed: count: ValueError: returned dates; its counters are date" in done.output
    assert "remedy  count must give a whole number for each document" in done.output
    assert "compute must" not in done.output


def test_it_works_without_hypothesis_and_still_shows_a_small_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tokbench.testing.wrong_tokenizers import Lowercases

    for name in [name for name in sys.modules if name.partition(".")[0] == "hypothesis"]:
        monkeypatch.delitem(sys.modules, name)
    before = builtins.__import__

    def no_hypothesis(name: str, *more: Any) -> Any:
        if name.partition(".")[0] == "hypothesis":
            raise ImportError(name)
        return before(name, *more)

    monkeypatch.setattr(builtins, "__import__", no_hypothesis)
    skip = ["memory", "speed", "threads"]
    [failure] = [each for each in failures_of(Lowercases(), examples=5, skip=skip) if each.check == "lossless"]
    assert len(failure.text or "") == 1
