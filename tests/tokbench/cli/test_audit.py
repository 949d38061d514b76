"""`tokbench audit`, `tokbench overlap` and `tokbench show`."""

from __future__ import annotations

import json
import re

import pytest

from tests.command import output
from tests.runs import tokenizer_plugin
from tokbench.errors import SpecError, TokenizerError


def test_audit_shows_status_scripts_and_the_proof(test_data):
    shown = output("audit", f"sentencepiece:{test_data}/vocabs/t5-base/spiece.model")
    assert re.search(r"UNREACHABLE +2 ", shown)
    assert "Latin" in shown
    assert "·It(" in shown


def test_audit_as_json_lists_everything():
    content = json.loads(output("audit", "bytes", "--json"))
    assert content["counts"]["UNDECODABLE"] == len(content["undecodable"]) == 128
    assert content["digits"][0] == {"id": 48, "text": "0", "bytes": "30"}


def test_audit_tells_what_a_text_does_not_use(tmp_path):
    (tmp_path / "few.txt").write_text("aab\nab\n")
    text = f"text:{tmp_path}/few.txt"
    content = json.loads(output("audit", "bytes", "-d", text, "--rare", "2", "--json"))["usage"]
    assert (content["documents"], content["tokens"], content["rare"]) == (2, 5, [ord("b")])
    assert content["never"] == [index for index in range(256) if index not in b"ab"]
    shown = output("audit", "bytes", "-d", text, "--rare", "2")
    assert re.search(r"never used +254 +99.22 %", shown)
    assert re.search(r"used 2 times or less +1 +0.39 % +b", shown)


def test_overlap_of_two(tmp_path):
    (tmp_path / "few.txt").write_text("cat\nthe cat\n")
    shown = output("overlap", "bytes", f"maxmatch:{tmp_path}/few.txt")
    assert "0.992" in shown
    assert "has 2 tokens that bytes lacks" in shown
    (tmp_path / "one.txt").write_text("cat\n")
    assert "has 1 token that bytes lacks" in output("overlap", "bytes", f"maxmatch:{tmp_path}/one.txt")
    (tmp_path / "long.txt").write_text("\x01" * 50 + "\n")
    longest = output("overlap", "bytes", f"maxmatch:{tmp_path}/long.txt").partition("longest: ")[2]
    assert longest.strip() == "\\x01" * 9 + "…(50 bytes)"
    content = json.loads(output("overlap", "bytes", f"maxmatch:{tmp_path}/few.txt", "--json"))
    assert content["surplus"][1]["tokens"] == ["the cat", "cat"]
    with pytest.raises(SpecError, match="at least two"):
        output("overlap", "bytes")


def test_overlap_weighted_by_use(tmp_path):
    (tmp_path / "few.txt").write_text("cat\nthe cat\n")
    (tmp_path / "text.txt").write_text("cat\nat\n")
    specs = ("bytes", f"maxmatch:{tmp_path}/few.txt")
    text = f"text:{tmp_path}/text.txt"
    weighted = json.loads(output("overlap", *specs, "-d", text, "--json"))["weighted_jaccard"]
    # c a t | a t against cat | a t, of five and of three tokens: min over max of c, a, t, cat
    expected = (0 + 1 / 3 + 1 / 3 + 0) / (1 / 5 + 2 / 5 + 2 / 5 + 1 / 3)
    assert weighted == [[1, pytest.approx(expected)], [pytest.approx(expected), 1]]
    assert f"{expected:.3f}" in output("overlap", *specs, "-d", text)


def test_overlap_of_more_counts_what_each_has(tmp_path):
    (tmp_path / "few.txt").write_text("cat\nthe cat\n")
    (tmp_path / "one.txt").write_text("cat\n")
    shown = output("overlap", "bytes", f"maxmatch:{tmp_path}/few.txt", f"maxmatch:{tmp_path}/one.txt")
    rows = [line.split() for line in shown.partition("has, and lacks")[2].splitlines()]
    assert [row[2:] for row in rows[1:4]] == [["0", "0"], ["2", "1"], ["1", "0"]]
    assert "longest" not in shown


def test_facts_that_are_not_ready_for_json_are_the_plugins_fault(tmp_path):
    body = "vocab_size = 1\nencode = decode = facts = lambda self, given=0: {1: 2, 'odd': {3}}"
    path = tokenizer_plugin(tmp_path / "odd.py", body)
    for form in ([], ["--json"]):
        with pytest.raises(TokenizerError, match=r"odd: what its facts\(\) gives is not ready for JSON"):
            output("show", "odd", "--plugin", path, *form)


def test_show_states_the_facts(test_data):
    shown = output("show", "gpt-2")
    assert shown.splitlines()[0] == "tiktoken:gpt2"
    assert "tiktoken" in shown
    assert "50257" in shown
    assert json.loads(output("show", "bytes", "--json"))["lossless"] is True
