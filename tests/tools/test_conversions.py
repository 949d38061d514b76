"""The page of conversions: what is written gives equal ids by the format's own library, or is refused."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import tokbench

TOOL = Path(__file__).parents[2] / "tools" / "conversions.py"
TEXT = ["the cat sat on the mat, hello world", "naïve café 東京 12 34"]


@pytest.fixture(scope="module")
def tool() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(TOOL)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "file", "expected"),
    [
        (
            "bpe:vocab_size=300,pattern=gpt2",
            "small/tokenizer.json",
            {"vocab.json + merges.txt": "equal", ".tiktoken": "equal", "Tekken": "refused", "GGUF": "written"},
        ),
        ("wordpiece:vocab_size=80", "small/vocab.txt", {"tokenizer.json": "equal", "GGUF": "refused"}),
        ("unigram:vocab_size=40", "small/spiece.model", {"tokenizer.json": "equal", ".tiktoken": ""}),
    ],
)
def test_each_conversion_is_equal_or_refused_with_a_reason(tool, tmp_path, spec, file, expected) -> None:
    pytest.importorskip("gguf")
    path = tmp_path / file
    path.parent.mkdir()
    tokbench.load(spec, train_on=TEXT * 20).save(path)
    (tmp_path / "out").mkdir()
    found = tool.conversions(file, f"{spec.split(':')[0]}:{path}", tmp_path / "out", rows=40)
    for target, said in expected.items():
        assert found[target].said.startswith(said) if said else found[target].said == "", (
            target,
            found[target],
        )
    for cell in found.values():
        assert tool.DIFFERENT not in cell.said
        assert cell.reason or cell.said != "refused"
        assert str(tmp_path) not in cell.reason
    assert "| small/" in tool.page({file: found}, ["none"])


def test_no_conversion_on_the_page_changes_ids(tool) -> None:
    rows = [line for line in tool.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) >= len(tool.SOURCES)
    assert not [row for row in rows if tool.DIFFERENT in row or "not tried" in row]
