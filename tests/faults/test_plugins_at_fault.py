"""A plugin at fault while a run goes on: a failure that names it, and nothing else is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import output
from tests.faults.sources import DATASET
from tokbench.corpus import read_text
from tokbench.errors import CorpusError, PluginError
from tokbench.registry import build_registry
from tokbench.results import Run
from tokbench.runner import progress
from tokbench.runner.counting.reading import checked_text
from tokbench.runner.recipe import DatasetRecipe

pytestmark = pytest.mark.usefixtures("workers_stay")

RunIt = Callable[..., Run]
Write = Callable[[str, str], str]


METRIC = """
def compute(t):
    {body}

@tokbench.hookimpl
def tokbench_metrics():
    return [tokbench.Metric(name="bad", unit="x", better="lower", summary="", compute=compute)]
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
    text = checked_text(read_text(dataset, dataset.shards("eng")[0]), recipe)
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
    assert f"plugin: poor: tokbench_cell_finished: {says}" in messages(done)
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


SIZED_BY_NUMPY = """
import numpy as np
from pathlib import Path

class Sized:
    name, vocab_size, special_ids, unk_id = "sized", np.int64(258), frozenset({np.int64(257)}), np.int32(256)
    encode = staticmethod(lambda text: list(text.encode()))
    decode = staticmethod(lambda ids: bytes(ids).decode("utf-8", "replace"))
    save = staticmethod(lambda path: Path(path).write_text("{}"))

def train(corpus, options, progress):
    return Sized()

@tokbench.hookimpl
def tokbench_tokenizers():
    load = lambda spec, context: Sized()
    return [tokbench.TokenizerFamily(name="sized", summary="", load=load, train=train)]
"""


def test_what_numpy_counted_is_as_good_as_an_int(text: Path, run: RunIt, plugin: Write) -> None:
    path = plugin("by_numpy", SIZED_BY_NUMPY)
    found = run(["sized", "bytes"], [f"text:{text}"], plugins=[path], train_on=[f"text:{text}"], audit=True)
    assert found.failures == []
    assert sorted(each["vocab_size"] for each in found.audits.values()) == [256, 258]


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
        done = run(["bytes"], ["mine", f"text:{text}"], plugins=[plugin("poor", source)], metrics=["tokens"])
        said = messages(done)
    except CorpusError as error:
        said = str(error)
    assert says in said


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


def test_a_plot_or_report_at_fault_is_no_fault_of_the_run(text: Path, run: RunIt, plugin: Write) -> None:
    done = run(["bytes"], [f"text:{text}"], metrics=["tokens"])
    plot = "plots", "Plot(name='x', title='', summary='', draw=lambda run: {})", ()
    writer = "report_writers", "ReportWriter(name='x', summary='', suffix='.x', write=print)", ("-f",)
    for command, (hook, made, option), gives, says in (
        ("plot", plot, "1 / 0", r"line 5\)"),
        ("plot", plot, "7", "the plot 'x' drew int; return a Figure of matplotlib"),
        ("report", writer, "", "the report format 'x' wrote no"),
    ):
        source = f"def tokbench_{hook}():\n    return [\n        tokbench.{made.format(gives)}\n    ]"
        path = plugin(f"poor_{gives[:1]}", f"@tokbench.hookimpl\n{source}")
        with pytest.raises(PluginError, match=says):
            output(command, done.path, *option, "x", "--plugin", path)
