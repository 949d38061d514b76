"""Whatever a plugin does at whichever plug point, it is a failure that names it, and nothing else is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import output
from tokbench import manager
from tokbench.corpus import read_text
from tokbench.errors import CorpusError, PluginError, UnknownNameError
from tokbench.registry import build_registry
from tokbench.results import Run
from tokbench.runner import progress
from tokbench.runner.counting import own_fault
from tokbench.runner.recipe import DatasetRecipe

RunIt = Callable[..., Run]
Write = Callable[[str, str], str]

METRIC = """
def compute(t):
    {body}

@tokbench.hookimpl
def tokbench_metrics():
    return [tokbench.Metric(name="bad", unit="x", better="lower", summary="", compute=compute)]
"""
DATASET = """
from tokbench import DatasetFamily, Document, Shard

class Mine:
    name, languages, parallel = "mine", ("eng",), False
    def shards(self, language):
        {shards}
        return [Shard(language, "mine", n_bytes=10)]
    def read(self, shard):
        {read}
        yield Document("some words of a text")
    def digest(self, shard):
        return "constant"

@tokbench.hookimpl
def tokbench_datasets():
    return [DatasetFamily(name="mine", summary="", load=lambda spec, context: Mine())]
"""


def as_measured(run: Run) -> set[str]:
    """The metrics that have figures."""
    return set(run.frame[run.frame["value"].notna()]["metric"])


def messages(run: Run) -> str:
    return " ".join(f"{entry['kind']}: {entry['message']}" for entry in run.failures)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return '1.5'", "returned str, not a number"),
        ("return 10 ** 400", "OverflowError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os._exit(4)", "exit status 4"),
        ("import time; time.sleep(60)", "no result within 3 s"),
    ],
)
def test_a_metric_at_fault_is_failed_rows_that_name_the_plugin(
    body: str, says: str, text: Path, run: RunIt, plugin: Write
) -> None:
    path = plugin("poor", METRIC.format(body=body))
    done = run(["bytes"], [f"text:{text}"], plugins=[path], timeout=3)
    assert "metric: the metric 'bad' of the plugin 'poor'" in messages(done)
    assert says in messages(done)
    rows = done.frame[done.frame["metric"] == "bad"]
    assert len(rows) == 2
    assert all(status.startswith("failed: ") for status in rows["status"])
    assert {"compression_ratio", "round_trip"} <= as_measured(done)
    assert done.manifest["status"] == "finished"


@pytest.mark.long
@pytest.mark.parametrize(
    ("read", "says"),
    [
        ("raise OSError('gone')", "the dataset 'mine' of the plugin 'poor': OSError: gone"),
        ("yield 'text'; return", "the dataset 'mine' of the plugin 'poor' gives str ('text')"),
        ("yield None", "the dataset 'mine' of the plugin 'poor' gives NoneType (None)"),
        ("import os; os._exit(1)", "exit status 1"),
    ],
)
def test_a_dataset_at_fault_is_its_cells_failure(
    read: str, says: str, text: Path, run: RunIt, plugin: Write
) -> None:
    path = plugin("poor", DATASET.format(shards="pass", read=read))
    done = run(["bytes"], ["mine", f"text:{text}"], plugins=[path], samples=2, audit=True)
    assert {entry["dataset"] for entry in done.failures} == {"mine"}
    assert says in messages(done)
    assert done.frame.set_index("dataset").loc[f"text:{text}"]["value"].notna().any()
    assert [sample["dataset"] for sample in done.samples] == [f"text:{text}"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("yield Document(5); return", "gives Document"),
        ("yield sys.exit(1); return", "SystemExit: 1"),
        ("return None\n    def other(self):", r"read\(shard\) returned NoneType; yield each document"),
        ("yield Document('text'); return", ""),
    ],
)
def test_what_a_plugin_gives_as_text_is_looked_at(given: str, says: str, plugin: Write) -> None:
    path = plugin("poor", DATASET.format(shards="pass", read=f"import sys; {given}"))
    registry = build_registry(plugin_files=[path])
    recipe = DatasetRecipe.of(registry, registry.dataset_spec("mine"))
    dataset = registry.dataset("mine")
    text = own_fault(read_text(dataset, dataset.shards("eng")[0]), recipe)
    if says:
        with pytest.raises(CorpusError, match=f"the dataset 'mine' of the plugin 'poor'.*{says}"):
            list(text)
    else:
        assert [document.text for document in text] == ["text"]


@pytest.mark.parametrize(
    "shards", ["raise OSError('gone')", "import os; os._exit(1)", "import time; time.sleep(60)"]
)
def test_a_dataset_that_cannot_be_planned_is_said_before_any_work(
    shards: str, text: Path, run: RunIt, plugin: Write, tmp_path: Path
) -> None:
    path = plugin("poor", DATASET.format(shards=shards, read="pass"))
    with pytest.raises(CorpusError, match=r"mine: the plugin 'poor' could not open it"):
        run(["bytes"], ["mine", f"text:{text}"], plugins=[path], timeout=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import time; time.sleep(60)", "no answer within 1 s"),
    ],
)
def test_an_event_hook_at_fault_is_a_failure(
    body: str, says: str, text: Path, run: RunIt, plugin: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1)
    path = plugin("poor", f"@tokbench.hookimpl\ndef tokbench_cell_finished(cell):\n    {body}")
    done = run(["bytes"], [f"text:{text}"], plugins=[path])
    assert f"plugin: poor: tokbench_cell_finished: {says}" in messages(done) or says in messages(done)
    assert "compression_ratio" in as_measured(done)


@pytest.mark.long
def test_the_end_of_a_run_is_told_when_its_reports_are_there(text: Path, run: RunIt, plugin: Write) -> None:
    text.write_text(text.read_text() * 90)  # as much as is drawn
    path = plugin(
        "waits",
        "@tokbench.hookimpl\ndef tokbench_run_finished(run):\n"
        "    assert (run.path / 'report.html').is_file() and list((run.path / 'plots').iterdir())\n"
        "    (run.path / 'seen').write_text(run.manifest['status'])",
    )
    done = run(["bytes", "chars"], [f"text:{text}"], plugins=[path], report=True)
    assert (done.path / "seen").read_text() == "finished"
    assert done.failures == []


@pytest.mark.long
@pytest.mark.parametrize("body", ["raise ValueError('no')", "import os; os._exit(4)", "return 7"])
def test_a_plot_at_fault_is_a_failure_and_the_reports_are_written(
    body: str, text: Path, run: RunIt, plugin: Write
) -> None:
    text.write_text(text.read_text() * 90)  # as much as is drawn
    source = (
        f"def draw(run):\n    {body}\n@tokbench.hookimpl\ndef tokbench_plots():\n"
        "    return [tokbench.Plot(name='bad', title='', summary='', draw=draw)]"
    )
    done = run(["bytes"], [f"text:{text}"], plugins=[plugin("poor", source)], report=True)
    assert "plot: the plot 'bad' of the plugin 'poor'" in messages(done)
    assert (done.path / "report.html").is_file()
    assert list((done.path / "plots").iterdir())


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(3)",
        "@tokbench.hookimpl\ndef tokbench_metrics():\n    return None",
        "@tokbench.hookimpl\ndef tokbench_metrics():\n    return [1]",
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n    raise SystemExit(3)",
        "import time; time.sleep(60)",
    ],
)
def test_a_plugin_that_was_named_and_fails_ends_the_command(
    source: str, text: Path, run: RunIt, plugin: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "PATIENCE", 1)
    with pytest.raises(PluginError, match="--plugin"):
        run(["bytes"], [f"text:{text}"], plugins=[plugin("poor", source)])
    assert not (tmp_path / "out").exists()


def test_an_alias_hook_at_fault_disturbs_nobody(plugin: Write) -> None:
    path = plugin("poor", "@tokbench.hookimpl\ndef tokbench_resolve_alias(name):\n    raise SystemExit(3)")
    registry = build_registry(plugin_files=[path])
    assert str(registry.tokenizer_spec("gpt-4o")) == "tiktoken:o200k_base"  # ours are asked first
    with pytest.raises(PluginError, match="SystemExit: 3"):
        registry.tokenizer_spec("a-name-that-ours-do-not-know")
    registry.host.plugins["poor"].named = False  # as if it were installed
    assert str(registry.tokenizer_spec("gpt-4o")) == "tiktoken:o200k_base"
    assert "tokbench_resolve_alias: SystemExit: 3" in registry.host.plugins["poor"].error


def test_the_list_of_plugins_says_which_hook_is_broken(plugin: Write, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "outside.py").write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_metrics():\n    raise OSError('gone')\n"
    )
    info = broken / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tokbench]\noutside = outside\n")
    code = f"import sys; sys.path.insert(0, {str(broken)!r}); from tokbench.cli import main; main()"
    command = [sys.executable, "-c", code, "plugins", "list", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [row] = [row for row in json.loads(done.stdout) if row["name"] == "outside"]
    assert row["status"] == "failed"
    assert "OSError: gone" in row["error"]


OF_A_FILE = """
import pathlib
class Cut:
    name, vocab_size = "cut", 0x110000
    def __init__(self, length): self.length = length
    def encode(self, text): return [ord(c) for c in text[: self.length]]
    def decode(self, ids): return "".join(map(chr, ids))
@tokbench.hookimpl
def tokbench_tokenizers():
    load = lambda spec, context: Cut(int(pathlib.Path(spec.variant).read_text()))
    return [tokbench.TokenizerFamily(name="cut", summary="", load=load)]
"""


def test_a_file_that_no_family_names_is_part_of_the_fingerprint_all_the_same(
    text: Path, run: RunIt, plugin: Write, tmp_path: Path
) -> None:
    length, found = tmp_path / "length.txt", []
    for size in ("5", "3"):
        length.write_text(size)
        done = run([f"cut:{length}"], [f"text:{text}"], plugins=[plugin("cut", OF_A_FILE)])
        found.append(int(done.table("tokens").iloc[0, 0]))
    assert found == [5 * 80, 3 * 80]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("constant", ""), "digest returned str, not a hash"),
        (('"constant"', "None"), "digest returned NoneType, not a hash"),
        (('"constant"', "hash(shard)"), "the dataset 'mine' of the plugin 'poor': TypeError: unhashable"),
        (("def digest", "def no_digest"), "no dataset: it lacks digest"),
        (('("eng",)', '"eng"'), "languages is 'eng', not a list of tags"),
    ],
)
def test_a_dataset_that_is_none_is_said(
    change: tuple[str, str], says: str, run: RunIt, plugin: Write, text: Path
) -> None:
    source = DATASET.format(shards="pass", read="pass").replace(*change)
    assert source != DATASET.format(shards="pass", read="pass")
    try:
        done = run(["bytes"], ["mine", f"text:{text}"], plugins=[plugin("poor", source)])
        said = messages(done)
    except CorpusError as error:
        said = str(error)
    assert says in said


OFFERS = """
@tokbench.hookimpl
def tokbench_tokenizers():
    return [tokbench.TokenizerFamily(summary="", load=print, {}) for _ in range({})]
"""


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (OFFERS.format("name='3gram'", 1), "'3gram' is no name for a tokenizer family"),
        (OFFERS.format("name='my:tok'", 1), "begins with a letter"),
        (
            OFFERS.format("name='x'", 2),
            "it offers the tokenizer family 'x' already",
        ),
        (
            OFFERS.format("name='x', train=print, saved_as=('.model',)", 1),
            "x: what is trained cannot be written as 'FILE.json'; name FILE.model, of its saved_as",
        ),
        (
            OFFERS.format("name='x', options={'n': 3}", 1),
            "options must be tokbench.Option",
        ),
        ("tokbench.Option('n', 'integer', 3)", r"'integer' is no type of .*poor.py, line 2"),
        ("tokbench.Option('n', 'int', 'three')", "the default 'three' is not a whole number"),
    ],
)
def test_what_no_spec_can_name_is_refused(source: str, says: str, plugin: Write) -> None:
    with pytest.raises(PluginError, match=says):
        _ = build_registry(plugin_files=[plugin("poor", source)]).tokenizers


PLOT = "tokbench.Plot(name='pp', title='', summary='', draw={})"


@pytest.mark.parametrize(
    ("hook", "given", "says"),
    [
        ("plots", PLOT.format("print"), "tokbench_plots: returned Plot; return a list, of one or empty"),
        ("plots", "{'pp': 1}", "tokbench_plots: returned dict; return a list"),
        ("aliases", "'zed'", "tokbench_aliases: returned str; return a list"),
        ("plots", f"[{PLOT.format(None)}]", "the plot 'pp': draw is None; give what can be called"),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary='', load=print, endings='.wl')]",
            r"the tokenizer family 'wl': endings is '.wl'; give a tuple, as in \('.wl',\)",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary=None, load=print)]",
            "summary is None; give text",
        ),
        ("tokenizers", "[tokbench.TokenizerFamily(name='wl', summary='', load=None)]", "'wl': load is None"),
        (
            "report_writers",
            "[tokbench.ReportWriter(name='rr', summary='', suffix='rr', write=print)]",
            r"report format 'rr': suffix is 'rr'; it is how its files end.*as '.txt' \(.*poor.py, line 4\)",
        ),
        (
            "metrics",
            "[tokbench.Metric(name='mm', summary='', compute=len)]",
            "arguments: 'unit' and 'better' .*poor.py, line 4",
        ),
        (
            "metrics",
            "[tokbench.Metric(name='m', unit='', better='none', summary='', compute=len, needs='words')]",
            r"needs is 'words'; give a tuple, as in \('words',\)",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary='', load=lambda spec: None)]",
            r"'wl': load is called as load\(Spec, LoadContext\), which it cannot be: too many positional",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='bytes', summary='', load=print)]",
            "the plugin 'baselines' offers the tokenizer family 'bytes' already, which stays; rename one",
        ),
        ("suites", "[('s', __file__), ('s', __file__)]", "it offers the suite 's' already"),
        ("suites", "[('s', 'no.toml')]", "the suite 's': no file no.toml; name one beside the plugin by"),
        (
            "checks",
            "[tokbench.Check(code='TB101', name='mine', summary='', harm='', look=lambda of, bounds: None)]",
            "the check 'mine' has the code TB101 of 'pattern-never-matches'; give it another",
        ),
        ("prices", "['ab']", "tokbench_prices: 'ab' is no pair of name and file"),
    ],
)
def test_what_a_hook_gives_is_looked_at_when_it_is_asked(
    hook: str, given: str, says: str, plugin: Write
) -> None:
    source = f"@tokbench.hookimpl\ndef tokbench_{hook}():\n    return {given}"
    with pytest.raises(PluginError, match=says):
        build_registry(plugin_files=[plugin("poor", source)]).ask_outsiders()


def test_an_alias_that_is_listed_is_resolved_and_what_lies_beside_is_imported(
    plugin: Write, tmp_path: Path
) -> None:
    (tmp_path / "lies_beside.py").write_text("SPEC = 'bytes'\n")
    path = plugin(
        "names",
        "from lies_beside import SPEC\n@tokbench.hookimpl\ndef tokbench_aliases():\n    return [('zed', SPEC)]",
    )
    assert str(build_registry(plugin_files=[path]).tokenizer_spec("zed")) == "bytes"


def test_what_a_plugin_left_out_may_offer_is_said() -> None:
    with pytest.raises(UnknownNameError, match="Left out were the plugins baselines"):
        build_registry(disable=["baselines"]).tokenizer_spec("bytes")


@pytest.mark.parametrize(
    ("opens", "says"),
    [
        ("lambda: 3", r"the engine 'mine': open is called as open\(int, str \| None\), which it cannot be"),
        ("lambda jobs, address: 3", "'mine' opened int, not an Exec"),
    ],
)
def test_an_engine_at_fault_is_named(opens: str, says: str, text: Path, run: RunIt, plugin: Write) -> None:
    engine = f"tokbench.Engine(name='mine', summary='', open={opens})"
    path = plugin("poor", f"@tokbench.hookimpl\ndef tokbench_engines():\n    return [{engine}]")
    with pytest.raises(PluginError, match=says):
        run(["bytes"], [f"text:{text}"], plugins=[path], engine="mine")


@pytest.mark.parametrize(
    ("command", "source", "says"),
    [
        (["plot", "pp"], "tokbench.Plot(name='pp', title='', summary='', draw=lambda run: 1 / 0)", r"line 5\)"),
        (
            ["report", "--format", "rr"],
            "tokbench.ReportWriter(name='rr', summary='', suffix='.txt', write=lambda run, path: None)",
            "the report format 'rr' wrote no",
        ),
        (
            ["plot", "pp"],
            "tokbench.Plot(name='pp', title='', summary='', draw=lambda run: 7)",
            "the plot 'pp' drew int; return a Figure of matplotlib",
        ),
    ],
)
def test_a_plot_or_report_at_fault_is_no_fault_of_the_run(
    command: list[str], source: str, says: str, text: Path, run: RunIt, plugin: Write
) -> None:
    hook = "plots" if command[0] == "plot" else "report_writers"
    path = plugin("poor", f"@tokbench.hookimpl\ndef tokbench_{hook}():\n    return [\n        {source}\n    ]")
    done = run(["bytes"], [f"text:{text}"])
    with pytest.raises(PluginError, match=says):
        output(command[0], str(done.path), *command[1:], "--plugin", path)


def test_a_plugin_may_offer_a_class_of_its_own(plugin: Write) -> None:
    path = plugin(
        "own",
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        "class Own(tokbench.TokenizerFamily):\n    more: str = ''\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [Own(name='own', summary='', load=lambda spec, context: None)]",
    )
    registry = build_registry(plugin_files=[path])
    registry.ask_outsiders()
    assert registry.host.plugins["own"].status == "loaded"
    assert registry.owner("own") == "own"


@pytest.mark.long
def test_a_helper_beside_a_plugin_is_part_of_its_fingerprint(
    text: Path, run: RunIt, plugin: Write, tmp_path: Path
) -> None:
    path = plugin(
        "mine",
        "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
        "class Mine:\n    name, vocab_size = 'mine', 1000\n"
        "    def encode(self, text):\n        import mine_helper\n        return mine_helper.ids(text)\n"
        "    def decode(self, ids):\n        return ''.join(map(chr, ids))\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [tokbench.TokenizerFamily(name='mine', summary='', load=lambda spec, context: Mine())]",
    )
    helper = tmp_path / "mine_helper.py"
    found = []
    for body in ("[ord(c) for c in text]", "[ord(c) for c in text for _ in (1, 2)]"):
        helper.write_text(f"def ids(text):\n    return {body}\n")
        done = run(["mine"], [f"text:{text}"], plugins=[path])
        found.append(done.table("compression_ratio").iloc[0, 0])
    assert found[0] == pytest.approx(2 * found[1])


@pytest.mark.long
def test_the_reader_of_a_dataset_is_part_of_its_tallies_keys(text: Path, run: RunIt, plugin: Write) -> None:
    found = []
    for read in ("pass", "yield Document('more of it')"):
        path = plugin("reads", DATASET.format(shards="pass", read=read))
        done = run(["bytes"], ["mine"], plugins=[path])
        found.append(int(done.tally("bytes", "mine").documents))
    assert found == [1, 2]


@pytest.mark.long
def test_training_that_hangs_is_a_failure(text: Path, run: RunIt, plugin: Write) -> None:
    path = plugin(
        "hangs",
        "import time\ndef train(corpus, options, progress):\n    time.sleep(60)\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [tokbench.TokenizerFamily(name='hangs', summary='', load=print, train=train)]",
    )
    done = run(["bytes", "hangs"], [f"text:{text}"], plugins=[path], train_on=f"text:{text}", timeout=3)
    assert [(entry["tokenizer"], entry["kind"]) for entry in done.failures] == [("hangs", "timeout")]


@pytest.mark.long
def test_training_leaves_no_worker_behind(text: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench.runner import run as module
    from tokbench.workers import pool

    idle: list[int] = []
    make_ready = module.make_ready

    def counted(*arguments: object, **options: object) -> object:
        made = make_ready(*arguments, **options)  # type: ignore[arg-type]
        idle.append(len(pool._idle))
        return made

    monkeypatch.setattr(module, "make_ready", counted)
    specs = [f"words:vocab_size={size}" for size in (30, 31, 32)]
    run(specs, [f"text:{text}"], train_on=f"text:{text}", cache=False, jobs=1)
    assert idle[0] <= 1


@pytest.mark.long
def test_names_that_are_not_utf8_lose_nothing(
    run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "h\udc80re"
    here.mkdir()
    monkeypatch.chdir(here)
    odd = here / "t\udc80xt.txt"
    odd.write_text("the cat sat\n" * 30)
    done = run(["bytes", "chars"], [f"text:{odd}"], report=True, output=tmp_path / "o\udc80t")
    assert "compression_ratio" in as_measured(done)
    assert (done.path / "report.html").is_file()
    assert done.failures == []
    [dataset] = done.datasets
    assert int(done.tally("bytes", dataset).documents) == 30


def test_a_worker_that_is_killed_twice_while_it_reads_is_no_wrong_request(
    text: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokbench.results import TaskFailure
    from tokbench.runner import training_stage
    from tokbench.runner.run import RunError

    killed = TaskFailure("crashed", "ended by signal SIGKILL")
    monkeypatch.setattr(training_stage, "attempt", lambda *_, **__: killed)
    with pytest.raises(RunError, match=r"SIGKILL; the same command goes on"):
        run(["words:vocab_size=30"], [f"text:{text}"], train_on=f"text:{text}")
