"""Before and after, as a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tokbench.reports.chosen import metric_facts
from tokbench.reports.comparison import figures_table, write_comparison
from tokbench.reports.gates import MOST, summary
from tokbench.results.comparison import compare_figures, compare_manifests


def later(made_up_run, factor: float) -> tuple[Any, Any]:
    before, after = made_up_run(3, 2), made_up_run(3, 3)
    row = (after.frame["metric"] == "compression_ratio") & (after.frame["language"] == "all")
    row &= after.frame["tokenizer"] == "bpe:vocab_size=8000"
    after.frame.loc[row, ["value", "ci_low", "ci_high"]] *= factor
    return before, after


def page_of(before: Any, after: Any, path: Path) -> str:
    better = {name: metric.better for name, metric in metric_facts(after).items()}
    figures = compare_figures(before, after, better=better)
    write_comparison(before, after, path, figures=figures, facts=compare_manifests(before, after))
    return path.read_text("utf-8")


def test_what_got_worse_comes_first(made_up_run) -> None:
    figures = compare_figures(*later(made_up_run, 0.5), better={"compression_ratio": "higher"})
    table = figures_table(figures, name="t", title="t")
    assert table.rows[0].cells[0] == "bpe 8k"
    assert table.rows[0].cells[3] == "compression_ratio"
    assert table.rows[0].cells[4] == "worse"
    assert table.text(0, 5) == "−50.00"


def test_programming_languages_are_not_named_as_tongues(made_up_run, tmp_path: Path) -> None:
    before, after = later(made_up_run, 0.5)
    for run in (before, after):
        run.manifest["datasets"][1]["kind"] = "code"
        run.frame["language"] = run.frame["language"].replace({"python": "lua"})
        run.frame.loc[run.frame["language"] == "lua", "value"] *= 1 + (run is after)
    page = page_of(before, after, tmp_path / "page.html")
    assert ">lua<" in page
    assert "Luba-Kasai" not in page


def test_a_summary_for_ci_lists_the_worst_and_its_table_ends(made_up_run) -> None:
    figures = compare_figures(*later(made_up_run, 0.5), better={"compression_ratio": "higher"})
    figures["verdict"], figures["change"] = "worse", -0.01
    figures.loc[figures.index[-1], "change"] = -0.75
    assert len(figures) > MOST
    *_, last, blank, more, end = summary(figures).split("\n")
    assert (last[0], blank, more, end) == ("|", "", f"… and {len(figures) - MOST:,} more.", "")
    assert "−75.00 %" in summary(figures).split("\n")[6], "the largest change is the first row"


def test_figures_have_places_of_their_own_and_the_p_that_decided(made_up_run) -> None:
    before, after = later(made_up_run, 0.5)
    figures = compare_figures(before, after, better={"compression_ratio": "higher"})
    figures["p"] = 0.0004
    figures.loc[figures.index[1], ["before", "after"]] = 12000.0, 3.0
    figures.loc[figures.index[1], ["before_low", "before_high", "after_low", "after_high"]] = float("nan")
    table = figures_table(figures, name="t", title="t", least=0.001)
    shown = [[table.text(row, column) for column in range(5, 9)] for row in range(len(table.rows))]
    assert ["12,000", "3"] in [cells[1:3] for cells in shown]
    assert {cells[3] for cells in shown} == {"< 0.001"}
    halved = shown[0]
    assert (halved[0], len(halved[1].partition(".")[2])) == ("−50.00", 4)


def test_a_change_from_zero_is_no_share_of_it(made_up_run, tmp_path: Path) -> None:
    before, after = made_up_run(3, 2), made_up_run(3, 2)
    before.frame.loc[before.frame["metric"] == "compression_ratio", ["value", "ci_low", "ci_high"]] = 0.0
    figures = compare_figures(before, after, better={"compression_ratio": "higher"})
    rows = figures[figures["metric"] == "compression_ratio"]
    assert (set(rows["verdict"]), rows["change"].isna().all()) == ({"better"}, True)
    assert "inf %" not in page_of(before, after, tmp_path / "compare.html")


def test_a_table_of_whole_datasets_spares_the_column_of_languages(made_up_run) -> None:
    figures = compare_figures(*later(made_up_run, 0.5), better={})
    overall = figures_table(figures[figures["language"] == "all"], name="t", title="t")
    assert "language" not in [column.key for column in overall.columns]
    assert {len(row.cells) for row in overall.rows} == {len(overall.columns)}


def test_the_page_counts_the_verdicts(made_up_run, tmp_path: Path) -> None:
    before, after = later(made_up_run, 0.5)
    text = page_of(before, after, tmp_path / "compare.html")
    assert "2 worse" in text
    assert "measured only after" in text
    assert re.search(r"; \d+ the same\.", text)
    figures = compare_figures(before, after, better={})
    moved = figures[figures["verdict"] != "same"]
    write_comparison(before, after, tmp_path / "moved.html", figures=moved, facts=[])
    assert not re.search(r"\d the same\.", (tmp_path / "moved.html").read_text("utf-8"))


def test_equal_runs_say_so(made_up_run, tmp_path: Path) -> None:
    run = made_up_run(3, 2)
    assert "Nothing changed" in page_of(run, run, tmp_path / "compare.html")


def test_a_language_that_got_worse_is_no_nothing(made_up_run, tmp_path: Path) -> None:
    before, after = made_up_run(3, 2), made_up_run(3, 2)
    row = (after.frame["metric"] == "compression_ratio") & (after.frame["language"] != "all")
    after.frame.loc[row, ["value", "ci_low", "ci_high"]] *= 0.5
    assert "Nothing changed" not in page_of(before, after, tmp_path / "compare.html")


def test_no_figures_are_not_the_same_figures(made_up_run, tmp_path: Path) -> None:
    run = made_up_run(3, 2)
    figures = compare_figures(run, run, better={}).iloc[:0]
    write_comparison(run, run, tmp_path / "compare.html", figures=figures, facts=[])
    assert "no figures in common" in (tmp_path / "compare.html").read_text("utf-8")
