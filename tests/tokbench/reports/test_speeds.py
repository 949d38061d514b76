"""The speed table ranks only what the intervals can tell apart, and compares only the same work."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tokbench.reports.tested import add_metric
from tokbench.plots import data
from tokbench.plots.losses import losses
from tokbench.plots.speed import speed_points
from tokbench.reports import tables
from tokbench.reports.findings import findings, speed
from tokbench.reports.markdown import document, render
from tokbench.reports.speeds import measurements, rank_ranges, speed_tables
from tokbench.reports.table import TableCell


def timing(tokenizer: str, low: float, high: float, **more: Any) -> Mapping[str, Any]:
    """A row of the summary: 12 MB in `low` to `high` seconds."""
    about = {"tokenizer": tokenizer, "dataset": "bundled:code", "form": "batch", "state": "warm", "threads": 1}
    seconds = {"mb_per_second": 12 / ((low + high) / 2), "low": low, "high": high}
    return {**about, "n_bytes": 12_000_000, **seconds, **more}


@pytest.fixture
def timed(made_up_run) -> Any:
    """A run whose first two tokenizers give the same ids, and whose second and third are about as fast."""
    run = made_up_run(2, 3)
    first, second, third = run.tokenizers
    run.manifest["speed"] = {
        "clock": "cpu",
        "same_ids": [[second, first]],
        "summary": [
            timing(first, 5.9, 6.1),
            timing(second, 1.0, 1.4),
            timing(third, 1.3, 1.7),
            timing(second, 3.0, 3.0, state="cold"),
            timing(second, 0.5, 0.7, threads=2),
        ],
    }
    return run


def test_ranks_are_ranges_where_intervals_meet(timed: Any) -> None:
    [table] = speed_tables(timed)
    first, second, third = timed.tokenizers
    assert [(row.key, row.cells[1]) for row in table.rows] == [(second, "1–2"), (third, "1–2"), (first, "3")]


def test_the_first_pass_ranks_where_all_were_timed_so(timed: Any) -> None:
    first, second, third = timed.tokenizers
    summary = timed.manifest["speed"]["summary"]
    summary[3:4] = [
        timing(name, at, at + 0.2, state="cold") for name, at in ((first, 1.0), (second, 3.0), (third, 9.0))
    ]
    timed.manifest["speed"]["notes"] = ["the machine was busy"]
    [table] = speed_tables(timed)
    assert [(row.key, row.cells[1]) for row in table.rows] == [(first, "1"), (second, "2"), (third, "3")]
    assert "one pass over 12 MB never seen" in table.note
    assert "the machine was busy" in table.note


def test_a_small_ratio_is_shown_in_two_figures(timed: Any) -> None:
    first, second, third = timed.tokenizers
    timed.manifest["speed"]["same_ids"] = [[first, second, third]]
    timed.manifest["speed"]["summary"][1] = timing(first, 0.15, 0.25)
    timed.manifest["speed"]["summary"][0] = timing(second, 7.9, 8.1)
    [table] = speed_tables(timed)
    shown = {row.key: (table.text(index, 3), table.ends(index, 3)) for index, row in enumerate(table.rows)}
    assert shown[second] == ("0.025", "0.019–0.032")


def test_ratios_are_of_the_same_ids_relative_to_the_first_of_the_suite(timed: Any) -> None:
    [table] = speed_tables(timed)
    first, second, third = timed.tokenizers
    ratios = {row.key: row.cells[3] for row in table.rows}
    assert ratios[first] == TableCell(value=1.0)
    ratio = ratios[second]
    assert isinstance(ratio, TableCell)
    assert ratio.value == pytest.approx(6.0 / 1.2)
    assert (ratio.low, ratio.high) == (pytest.approx(5.9 / 1.4), pytest.approx(6.1 / 1.0))
    assert ratios[third] == TableCell(why="no other gave its ids")


def test_a_single_timing_is_given_without_interval_and_ranks_nothing(timed: Any) -> None:
    first, second, _ = timed.tokenizers
    timed.manifest["speed"]["summary"][1] |= {"low": None, "high": None}
    [table] = speed_tables(timed)
    assert {row.key: row.cells[1] for row in table.rows}[second] == "1–3"
    cells = {row.key: row.cells for row in table.rows}
    assert (cells[second][3], cells[second][5]) == tuple(
        TableCell(value=pytest.approx(it)) for it in (5.0, 10.0)
    )
    assert cells[first][3] == TableCell(value=1.0)


def test_each_form_has_a_column_and_the_clock_is_said(timed: Any) -> None:
    [table] = speed_tables(timed)
    assert [column.label for column in table.columns[4:]] == ["first pass", "batch", "batch, 2 threads"]
    assert "CPU time on one thread" in table.note
    row = next(row for row in table.rows if row.key == timed.tokenizers[1])
    assert [cell.value for cell in row.cells[4:] if isinstance(cell, TableCell)] == pytest.approx([4, 10, 20])


def test_the_table_is_in_the_markdown_report(timed: Any) -> None:
    [table] = speed_tables(timed)
    assert render(table) in document(timed)


def test_a_run_that_was_not_timed_has_no_such_table(made_up_run) -> None:
    run = made_up_run(2, 2)
    run.manifest["speed"] = None
    assert speed_tables(run) == []


def test_alone_is_first_and_equals_share_all_ranks() -> None:
    assert rank_ranges({"a": (1.0, 2.0)}) == {"a": (1, 1)}
    assert set(rank_ranges({"a": (1.0, 2.0), "b": (2.0, 3.0), "c": (1.5, 2.5)}).values()) == {(1, 3)}


def test_the_fastest_is_not_alone_where_intervals_meet(made_up_run) -> None:
    run = made_up_run(4, 3)
    rows = run.frame
    speeds = rows["metric"] == "encode_speed"
    order = [name for name in run.tokenizers if (speeds & (rows["tokenizer"] == name)).any()]
    for place, name in enumerate(order):
        here = speeds & (rows["tokenizer"] == name)
        rows.loc[here, ["value", "ci_low", "ci_high"]] = [100.0 - place, 98.0 - place, 102.0 - place]
    [sentence] = [finding.sentence for finding in findings(run) if finding.plot == "speed"]
    assert "may be as fast" in sentence
    rows.loc[speeds, "value"] *= rows.loc[speeds, "value"]
    rows.loc[speeds, ["ci_low", "ci_high"]] = None
    [sentence] = [finding.sentence for finding in findings(run) if finding.plot == "speed"]
    assert "may be as fast" in sentence, "timed once, nothing is told apart"


def test_a_faster_one_that_loses_text_is_named_beside_the_fastest(made_up_run) -> None:
    run = made_up_run(4, 4)
    lossy = "wordpiece:vocab_size=8000"
    assert list(losses(run)) == [lossy]
    rows = run.frame["metric"].str.startswith("encode_speed") & (run.frame["tokenizer"] == lossy)
    for times, told in ((1e4, True), (1e-8, False)):
        run.frame = run.frame.copy()
        run.frame.loc[rows, ["value", "ci_low", "ci_high"]] *= times
        [sentence] = [finding.sentence for finding in findings(run) if finding.plot == "speed"]
        assert not sentence.startswith("wordpiece")
        assert ("wordpiece 8k † is faster, but not ranked with it: it does not give" in sentence) == told


def test_the_table_of_the_readme_is_of_several_runs(timed: Any) -> None:
    tool = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "speed_table.py"))
    faster = SimpleNamespace(tokenizers=timed.tokenizers, frame=timed.frame, manifest=deepcopy(timed.manifest))
    faster.manifest["speed"]["summary"][1] = timing(timed.tokenizers[1], 0.5, 0.7)
    lines = tool["table"]([timed, faster, timed]).splitlines()
    assert [line.split(" | ")[2:] for line in lines[2:]] == [["5.0 (5.0–10.0)", "– |"]]


def test_where_no_two_give_the_same_ids_there_is_no_column_for_it(timed: Any) -> None:
    timed.manifest["speed"]["same_ids"] = []
    [table] = speed_tables(timed)
    assert [column.key for column in table.columns[:3]] == ["tokenizer", "rank", "first pass"]
    assert all(len(row.cells) == len(table.columns) for row in table.rows)
    assert "same ids" not in table.note


def test_a_speed_is_shown_with_the_text_it_is_of(made_up_run) -> None:
    run = made_up_run(3, 3)
    timed = run.frame["metric"] == "encode_speed"
    run.frame.loc[timed, "dataset"] = "bundled:code"
    columns = [column.key for column in tables.headline(run, "bundled:parallel").columns]
    assert "encode_speed" not in columns
    assert "encode_speed" in [column.key for column in tables.headline(run, "bundled:code").columns]
    assert "Speeds and latencies are of bundled code." in measurements(run).note
    said = speed(run)
    assert "encodes bundled code fastest" in said.sentence
    assert {y for _, y in speed_points(run).values()} == set(
        data.overall(run, "compression_ratio", "bundled:code")["value"]
    )


def test_a_busy_machine_is_told_beside_every_speed(made_up_run) -> None:
    run = made_up_run(3, 3)
    assert "uncertain" not in tables.headline(run, "bundled:parallel").note
    run.manifest["speed"] = {"notes": ["the machine was busy: others used 2.0 of 2 cores when timing began"]}
    said = speed(run)
    for text in (tables.headline(run, "bundled:parallel").note, measurements(run).note, said.sentence):
        assert "Speeds are uncertain: the machine was busy: others used 2.0 of 2 cores" in text


def test_the_first_pass_over_a_text_stands_before_the_second(made_up_run) -> None:
    run = made_up_run(3, 3)
    add_metric(run, "encode_speed_cold", of="encode_speed")
    columns = [column.key for column in tables.headline(run, "bundled:parallel").columns]
    assert columns.index("encode_speed_cold") + 1 == columns.index("encode_speed")
