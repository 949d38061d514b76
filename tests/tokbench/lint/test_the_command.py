"""`tokbench lint` and `tokbench injection` as commands: their forms, their exit status, checks that crash."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tokbench
from tests.command import told
from tests.runs import tokenizer_plugin
from tests.tokbench.lint.broken import broken, sound, write
from tokbench.errors import TokbenchError


def _strict(tmp_path: Path, fault: str) -> list[str]:
    """The command that has only a plugin's check look at a tokenizer."""
    plugin = tmp_path / "strict.py"
    plugin.write_text(
        "import tokbench\n\n"
        "def look(subject, bounds):\n"
        f"    {fault}\n\n"
        "@tokbench.hookimpl\n"
        "def tokbench_checks():\n"
        "    return [tokbench.Check(code='XX101', name='strict', summary='s', harm='h', look=look)]\n"
    )
    return ["lint", "bytes", "--plugin", str(plugin), "--only", "XX101"]


def _settings(folder: Path) -> str:
    (folder / "lint.toml").write_text('[TB505]\nlevel = "fail"\n')
    return str(folder / "lint.toml")


@pytest.mark.parametrize("shape", ["text", "md", "sarif"])
@pytest.mark.parametrize("fault", ["raise KeyError('q')", "return 'fine'"])
def test_a_check_that_crashes_is_shown_in_every_form_and_fails_the_command(tmp_path, fault, shape):
    status, shown = told(*_strict(tmp_path, fault), "--format", shape)
    assert status == 1
    assert "XX101" in shown
    assert "'q'" in shown or "the check returned str, not a Finding" in shown
    assert ('"level": "error"' if shape == "sarif" else "1 crashed") in shown


def test_a_check_that_cannot_decide_fails_no_command(tmp_path):
    status, shown = told(*_strict(tmp_path, "raise tokbench.TokbenchError('no text')"))
    assert (status, "XX101" in shown, "1 not checked" in shown) == (0, False, True)


def test_a_plugins_check_that_raises_is_named_with_what_it_raised(tmp_path):
    _, shown = told(*_strict(tmp_path, "raise KeyError('q')"), "--format", "json")
    row = next(row for row in json.loads(shown) if row["code"] == "XX101")
    assert row["outcome"] == "crashed"
    assert row["message"] == f"the plugin 'strict' failed: KeyError: 'q' ({tmp_path / 'strict.py'}, line 4)"


def test_a_tokenizer_or_check_that_exits_is_a_finding_and_no_success(tmp_path):
    status, shown = told(*_strict(tmp_path, "raise SystemExit(0)"))
    assert (status, "XX101 crashed strict: the plugin 'strict' failed: SystemExit: 0" in shown) == (1, True)
    leaving = tokenizer_plugin(
        tmp_path / "leaving.py",
        "vocab_size = 256\nencode = lambda self, text: exit(0)\ndecode = lambda self, ids: ''",
    )
    status, shown = told("lint", "leaving", "bytes", "--only", "TB301", "--plugin", leaving, "--verbose")
    assert (status, "TB001 fail  loads: it loads, but fails on" in shown) == (1, True)
    assert "TB301 pass" in shown  # of bytes, after it


def test_the_command_prints_text_json_markdown_and_sarif(tmp_path):
    folder = write(tmp_path / "v", broken("too_few_rows"))
    status, shown = told("lint", f"bpe:{folder}", "--only", "TB209", "--only", "TB104", "--verbose")
    assert status == 1
    assert "TB209 fail  embedding-rows: ids go up to 265, but the model has 264 rows" in shown
    assert "TB104 pass" in shown
    _, found = told("lint", f"bpe:{folder}", "--only", "TB2", "--format", "json")
    assert {row["code"]: row["outcome"] for row in json.loads(found)}["TB209"] == "fail"
    _, table = told("lint", f"bpe:{folder}", "--only", "TB209", "--format", "md")
    assert "| TB209 embedding-rows | fail |" in table


def test_a_model_of_one_row_is_told_of_as_one(tmp_path):
    files = broken("too_few_rows")
    files["config.json"]["vocab_size"] = 1
    _, shown = told("lint", f"bpe:{write(tmp_path / 'v', files)}", "--only", "TB209", "--verbose")
    assert "ids go up to 265, but the model has 1 row\n" in shown


def test_sarif_has_what_code_hosts_need_of_it(tmp_path, monkeypatch):
    """The rules of SARIF 2.1.0 for what is written here, and what GitHub's code scanning needs beside."""
    write(tmp_path / "a folder", broken("too_few_rows"))
    (tmp_path / "damaged.json").write_text('{"model": {')
    monkeypatch.chdir(tmp_path)
    only = ["--only", "TB209", "--only", "TB505", "--format", "sarif"]
    specs = ["bpe:a folder", f"bpe:{tmp_path}/a folder/tokenizer.json", "bpe:vocab_size=9k", "bpe:damaged.json"]
    status, written = told("lint", *specs, *only, "--settings", _settings(tmp_path))
    log = json.loads(written)
    assert (status, log["version"], set(log)) == (1, "2.1.0", {"version", "$schema", "runs"})
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("tokbench", tokbench.__version__)
    rules = {rule["id"]: rule for rule in driver["rules"]}
    assert len(rules) == len(driver["rules"]) > 25  # each but once
    for rule in rules.values():
        for name in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(rule[name]["text"]) <= 1024, rule["id"]
        assert set(rule) <= {"id", "name", "shortDescription", "fullDescription", "help"}
    places = []
    for result in run["results"]:
        assert set(result) <= {"ruleId", "level", "message", "locations"}
        assert result["ruleId"] in rules
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(?:[\w.~!$&'()*+,;=@/-]|%[0-9A-F]{2})+", uri), uri  # a relative reference
        places.append((result["ruleId"], result["level"], uri))
    file = "a%20folder/tokenizer.json"
    assert sorted(places) == sorted(
        [*2 * [("TB209", "error", file), ("TB505", "error", file)],
         ("TB001", "error", "bpe%3Avocab_size%3D9k"), ("TB001", "error", "damaged.json")]
    )  # fmt: skip


def test_the_exit_status_says_whether_anything_failed(tmp_path):
    folder = write(tmp_path / "v", sound())
    assert "1 pass" in told("lint", f"bpe:{folder}", "--only", "TB001")[1]
    assert told("lint", f"bpe:{folder}", "--only", "TB505")[0] == 0
    assert told("lint", f"bpe:{folder}", "--only", "TB505", "--strict")[0] == 1
    with pytest.raises(TokbenchError, match="unknown check"):
        told("lint", f"bpe:{folder}", "--only", "XX")


def test_injection_is_a_table(tmp_path):
    folder = write(tmp_path / "v", sound())
    status, shown = told("injection", f"bpe:{folder}")
    assert status == 0
    assert "split by ZERO WIDTH SPACE" in shown
    status, found = told("injection", f"bpe:{folder}", "--json")
    assert {one["control"] for one in json.loads(found)} == {"<|end|>", "<|start|>", "<|stop|>"}
