"""A text that was trained on is noticed by its lines, whatever its file is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.reports.training import trained_on
from tokbench.results import Run
from tokbench.runner.inspecting import leakage
from tokbench.runner.inspecting.leakage import lines_of

RunIt = Callable[..., Run]


def lines(first: int, last: int) -> str:
    return "".join(f"line {number} says something that no other line says\n" for number in range(first, last))


@pytest.mark.long
def test_a_copied_file_is_noticed(run: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tokbench.cli.headline import print_headline

    for name, text in {
        "lesson": lines(0, 60),
        "copy": lines(0, 60).replace("\n", "  \r\n"),
        "half": lines(30, 90),
        "other": lines(100, 160),
    }.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
    datasets = [f"text:{tmp_path}/{name}.txt" for name in ("copy", "half", "other")]
    done = run(["bpe:vocab_size=300", "bytes"], datasets, train_on=f"text:{tmp_path}/lesson.txt")
    counts = [entry["in_training"]["und"] for entry in done.manifest["datasets"]]
    assert counts == [{"lines": 60, "found": found} for found in (60, 30, 0)]
    assert [trained_on(done, dataset) for dataset in done.datasets] == [[done.tokenizers[0]]] * 2 + [[]]
    print_headline(done)
    said = "".join(capsys.readouterr().out.split())  # a long path is wrapped anywhere
    assert "copy.txt(100%ofitslines),whichflatters" in said
    assert "other.txt(" not in said
    again = run(
        ["bpe:vocab_size=300"], datasets[:1], train_on=f"text:{tmp_path}/lesson.txt", output=tmp_path / "again"
    )
    assert again.manifest["datasets"][0]["in_training"]["und"] == counts[0]


def test_the_lines_kept_are_few_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leakage, "LEAST_LINES", 8)
    texts = lines(0, 500).split("\n")
    kept = lines_of(texts, 20)
    assert len(kept) == 20
    assert kept == lines_of(reversed(texts), 20) == lines_of(["\n".join(texts)], 20)
    assert kept == frozenset(sorted(lines_of(texts, 1000))[:20])
