"""Before and after: what counts as a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokbench.reports.comparison import changes, changes_table, only_in_one, write_comparison


def later(made_up_run: Callable[..., Any], factor: float) -> tuple[Any, Any]:
    before, after = made_up_run(3, 2), made_up_run(3, 3)
    row = (after.frame["metric"] == "compression_ratio") & (after.frame["language"] == "all")
    row &= after.frame["tokenizer"] == "bpe:vocab_size=8000"
    after.frame.loc[row, ["value", "ci_low", "ci_high"]] *= factor
    return before, after


def test_a_change_beyond_the_intervals_is_one(made_up_run: Callable[..., Any]) -> None:
    found = changes(*later(made_up_run, 1.5))
    changed = found[found["verdict"] == "changed"]
    assert set(changed["metric"]) == {"compression_ratio"}
    assert set(changed["tokenizer"]) == {"bpe:vocab_size=8000"}
    table = changes_table(found, name="t", title="t")
    assert table.rows[0].cells[-1] == "better"


def test_a_change_within_them_is_none(made_up_run: Callable[..., Any]) -> None:
    found = changes(*later(made_up_run, 1.002))
    assert not (found["verdict"] == "changed").any()


def test_what_one_run_lacks_is_named(made_up_run: Callable[..., Any]) -> None:
    rows = [row.cells for row in only_in_one(*later(made_up_run, 1)).rows]
    assert ("tokenizer", "unigram:vocab_size=8000", "after only") in rows


def test_the_page_is_written(made_up_run: Callable[..., Any], tmp_path: Path) -> None:
    write_comparison(*later(made_up_run, 0.5), tmp_path / "compare.html")
    text = (tmp_path / "compare.html").read_text("utf-8")
    assert "2 of" in text
    assert ">worse<" in text
