"""`tokbench encode` and `tokbench compare`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tokbench.cli import app
from tokbench.errors import SpecError


def run(*arguments: str, text: str | None = None) -> str:
    result = CliRunner().invoke(app, list(arguments), input=text, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_encode_shows_tokens_ids_and_bytes():
    shown = run("encode", "bytes", "né [b]")
    assert shown.splitlines()[0] == "n|é₂|·|[|b|]"
    assert "c3" in shown
    assert "7 tokens, 6 characters, 7 bytes" in shown


def test_ids_alone_and_from_standard_input():
    assert run("encode", "bytes", "-", "--ids", text="hi") == "104 105\n"


def test_json_is_the_pieces():
    content = json.loads(run("encode", "bytes", "é", "--json"))
    assert [piece["id"] for piece in content["pieces"]] == [195, 169]


def test_compare_shows_each():
    shown = run("compare", "bytes", "chars", "né")
    assert "bytes  (3 tokens" in shown
    assert "chars  (2 tokens" in shown
    assert [row["n_tokens"] for row in json.loads(run("compare", "bytes", "chars", "né", "--json"))] == [3, 2]


def test_compare_needs_a_tokenizer():
    with pytest.raises(SpecError, match="tokbench compare SPEC"):
        run("compare", "only text")
