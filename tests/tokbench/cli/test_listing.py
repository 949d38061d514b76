"""`tokbench list`, and what holds for tables in every width."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import output
from tests.tokbench.results.made_up import ROWS, make_run
from tokbench.cli import listing
from tokbench.cli.tables import show_table
from tokbench.errors import ResultsError, UnknownNameError
from tokbench.registry import OFFERS, build_registry


@pytest.mark.parametrize("columns", [None, 80, 40])
def test_no_name_is_ever_cut_off(columns: int | None) -> None:
    registry = build_registry()
    for what, names in (
        ("metrics", registry.metrics),
        ("tokenizers", registry.tokenizers),
        ("datasets", registry.datasets),
        ("plots", registry.plots),
        ("aliases", registry.aliases),
        ("formats", registry.report_writers),
        ("engines", registry.engines),
        ("checks", registry.checks),
        ("commands", registry.commands),
        ("suites", registry.suites),
    ):
        assert set(names) <= set(output("list", what, columns=columns).split()), what


def test_narrow_terminals_are_kept_to() -> None:
    assert max(map(len, output("list", "metrics", columns=40).splitlines())) <= 40
    assert max(map(len, output("plugins", "list", columns=40).splitlines())) <= 40


def test_figures_are_whole_in_narrow_terminals(tmp_path: Path) -> None:
    (tmp_path / "losses.jsonl").write_text('{"nats": [1, 2], "text": "ab"}\n')
    shown = output("bpb", "bytes", tmp_path / "losses.jsonl", columns=40)
    assert max(map(len, shown.splitlines())) <= 40
    lines = [line.rstrip() for line in shown.splitlines()]
    begins = lines.index("mean_of_documents")
    assert lines[begins + 1 : begins + 4] == [
        "  bits/byte 2.1640",
        "  off by    +0.00 %",
        "            mean of the documents' bits",
    ]
    assert "\n SPECIAL        0 " in output("audit", "bytes", columns=40), "a table where it has room"


def test_a_family_that_is_named_explains_its_options() -> None:
    shown = output("list", "tokenizers", "bpe", columns=200)
    for option in build_registry().tokenizers["bpe"].options:
        [line] = [line for line in shown.splitlines() if line.split()[:1] == [option.name]]
        assert option.help.split()[-1] in shown
        assert option.default is None or str(option.default) in line
    assert "hf | bytes | lexicographic | first_seen" in shown
    assert "wordpiece" not in output("list", "datasets", "csv")


def test_a_metric_that_is_named_is_defined() -> None:
    shown = output("list", "metrics", "gini", columns=600)
    metric = build_registry().metrics["gini"]
    for part in (metric.unit, metric.formula, metric.source, metric.caveat):
        assert part in shown
    [row] = json.loads(output("list", "metrics", "gini", "--json"))
    assert row["formula"] == metric.formula


BRINGS = """
from pathlib import Path
import tokbench
@tokbench.hookimpl
def tokbench_prices():
    return [("mine", Path(__file__))]
@tokbench.hookimpl
def tokbench_report_writers():
    return [tokbench.ReportWriter(name="rr", summary="Own.", suffix=".rr", write=print)]
"""


def test_what_a_plugin_brings_is_listed_with_the_plugin(tmp_path: Path) -> None:
    assert output("list", "prices") == "there is no price table; plugins bring them\n"
    assert output("list", "prices", "--json") == "[]\n"
    (tmp_path / "brings.py").write_text(BRINGS)
    plugin = ["--plugin", str(tmp_path / "brings.py"), "--json"]
    assert json.loads(output("list", "prices", *plugin)) == [
        {"name": "mine", "file": plugin[1], "plugin": "brings"}
    ]
    assert json.loads(output("list", "formats", "rr", *plugin)) == [
        {"name": "rr", "summary": "Own.", "suffix": ".rr", "plugin": "brings"}
    ]
    assert "default.toml" in output("list", "suites", "default")


def test_every_hook_that_offers_something_has_its_list() -> None:
    assert {command.name for command in listing.app.registered_commands} - {"runs"} == {
        {"report_writers": "formats"}.get(name, name) for name in OFFERS
    }


def test_a_name_that_is_not_there_is_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'gini'"):
        output("list", "metrics", "gni")
    with pytest.raises(UnknownNameError, match="unknown plugin 'subwrd'; did you mean 'subword'"):
        output("list", "plots", "--disable-plugin", "subwrd")


def test_a_folder_of_runs_that_is_not_there(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert output("list", "runs") == "no runs in reports\n"
    assert json.loads(output("list", "runs", "--json")) == []
    with pytest.raises(ResultsError, match="no such folder"):
        output("list", "runs", "reprots")


def test_a_run_that_was_cut_short_early_is_not_one_of_no_tokenizers(tmp_path) -> None:
    make_run(tmp_path / "cut", ROWS, status="unfinished", tokenizers=[])
    [run] = json.loads(output("list", "runs", tmp_path, "--json"))
    assert (run["status"], run["tokenizers"]) == ("unfinished", "?")


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("what", ["tokenizers", "datasets"])
def test_no_spec_is_broken_in_a_usual_terminal(what: str, columns: int) -> None:
    examples = [example for each in json.loads(output("list", what, "--json")) for example in each["examples"]]
    shown = output("list", what, columns=columns)
    assert [example for example in examples if example not in shown] == []
    assert max(map(len, shown.splitlines())) <= columns


def test_figures_stay_whole_where_names_are_long(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        ("a" * 40, "bytes", "1.2345", "1.1111–1.3333"),
        ("b" * 40, "chars", "2.2345", "2.1111–2.3333"),
    ]
    for columns in (60, 72, 80):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            show_table(("text", "tokenizer", "bits", "95 %"), rows, right=("bits", "95 %"))
        shown = capsys.readouterr().out
        assert all(cell in shown for row in rows for cell in row), columns
