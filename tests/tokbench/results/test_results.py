from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokbench.corpus import Document
from tokbench.errors import ResultsError, SpecError, UnknownNameError
from tokbench.metrics.metric import CellKey, Measurement
from tokbench.results import COLUMNS, SCHEMA_VERSION, CellResult, Run, RunFolder, TaskFailure
from tokbench.results.atomic import StorageError, write_bytes, write_json
from tokbench.results.cell import cell_file_name, read_cell, write_cell
from tokbench.results.comparison import compare_figures, compare_manifests, paired, unpaired
from tokbench.results.frames import measurement_table, why_unmeasured, write_measurements

KEY = CellKey("bytes", "text:a", "eng_Latn")
TEXT = {"sha256": "1" * 64}


def make_run(folder: Path, rows: list[Measurement], **manifest: Any) -> Run:
    folder.mkdir()
    known = {
        "schema": SCHEMA_VERSION,
        "run": folder.name,
        "tokenizers": [{"spec": "bytes"}, {"spec": "chars"}],
        "datasets": [{"spec": "text:a", "languages": {"eng_Latn": TEXT, "deu_Latn": TEXT}}],
    }
    write_json(folder / "run.json", {**known, **manifest})
    write_measurements(folder / "measurements.parquet", measurement_table(folder.name, rows))
    return Run.open(folder)


def row(
    tokenizer: str, language: str, value: float | None, low: float | None = None, high: float | None = None
) -> Measurement:
    status = "ok" if value is not None else "failed: raised: no"
    return Measurement(
        tokenizer, "text:a", language, "compression_ratio", value, low, high, "bytes/token", 5, status
    )


ROWS = [
    row("bytes", "eng_Latn", 1.0),
    row("bytes", "deu_Latn", 1.0, 0.5, 1.5),
    row("chars", "eng_Latn", 1.25),
    row("chars", "deu_Latn", None),
]


def test_a_row_has_the_beginning_of_a_long_reason(tmp_path: Path) -> None:
    """A failure with its remedy stood in a thousand rows of each tokenizer: megabytes."""
    reasons = ["failed: raised: " + "no such file, do this " * 20, "undefined: " + "as it is " * 20, "ok"]
    rows = [replace(ROWS[0], status=status) for status in reasons]
    failed, undefined, ok = make_run(tmp_path / "run", rows).frame["status"]
    assert failed.startswith("failed: raised: no such file")
    assert (len(failed), failed[-1]) == (120, "…")
    assert [undefined, ok] == reasons[1:]


def test_a_cell_comes_back(tmp_path: Path) -> None:
    import tokbench
    from tokbench.tally.collect import collect

    tally = collect(tokbench.load("bytes"), [Document("some text"), Document("more")])
    path = write_cell(tmp_path, CellResult(KEY, "id", tally, seconds=1.5, digests=("aa", "bb")))
    again = read_cell(path)
    assert again.tally == tally
    assert (again.key, again.identity, again.status, again.seconds) == (KEY, "id", "ok", 1.5)
    assert again.digests == read_cell(path, with_tally=False).digests == ("aa", "bb")
    assert path.name == cell_file_name(KEY)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ResultsError, match="cut short"):
        read_cell(path, with_tally=False)


def test_a_failed_cell_comes_back(tmp_path: Path) -> None:
    failure = TaskFailure("raised", "ValueError: no\nsecond line", "do this", "Traceback", "noise")
    path = write_cell(tmp_path, CellResult(KEY, "id", failure=failure))
    assert read_cell(path).failure == failure
    assert read_cell(path).status == "failed: raised: ValueError: no"
    assert read_cell(path, with_tally=False).failure is not None
    assert read_cell(path, with_tally=False).key == KEY


@pytest.mark.parametrize("content", [b"", b"tokbench-cell 1\n", b"tokbench-cell 1\n{\n", b"other"])
def test_a_damaged_cell_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.cell"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match="delete the file and run again"):
        read_cell(path)


def test_names_of_cells_are_short_and_distinct() -> None:
    keys = [CellKey("a" * 300, "text:/" + "b" * 300, language) for language in ("x", "y", "../../etc")]
    names = {cell_file_name(key) for key in keys}
    assert len(names) == 3
    assert all(len(name) < 130 and "/" not in name for name in names)


def test_the_frame_is_tidy(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ROWS)
    assert tuple(run.frame.columns) == COLUMNS
    assert run.frame["value"].isna().sum() == 1
    assert run.frame["run"].unique().tolist() == ["run"]
    assert run.frame["n_documents"].dtype == "int64"


def test_equal_rows_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_measurements(tmp_path / name / "measurements.parquet", measurement_table("run", ROWS))
    for suffix in ("parquet", "csv"):
        one, two = (tmp_path / name / f"measurements.{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_the_csv_reads_back_as_the_same_figures(tmp_path: Path) -> None:
    import csv

    run = make_run(tmp_path / "run", [row("bytes", "eng_Latn", 1 / 3)])
    with (tmp_path / "run" / "measurements.csv").open(newline="", encoding="utf-8") as stream:
        [again] = csv.DictReader(stream)
    assert tuple(again) == COLUMNS
    assert float(again["value"]) == run.frame["value"].iloc[0] == 1 / 3
    assert again["ci_low"] == ""


def test_a_table_is_languages_by_tokenizers(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ROWS)
    table = run.table("compression_ratio")
    assert table.columns.tolist() == ["bytes", "chars"]
    assert table.index.tolist() == ["eng_Latn", "deu_Latn"]
    assert table.loc["eng_Latn", "chars"] == 1.25
    assert table["chars"].isna().tolist() == [False, True]
    with pytest.raises(UnknownNameError, match="did you mean 'compression_ratio'"):
        run.table("compression_ration")
    with pytest.raises(UnknownNameError, match="dataset of this run"):
        run.table("compression_ratio", "text:b")
    for wrong in (3, None, ["compression_ratio"]):
        with pytest.raises(UnknownNameError, match=r"unknown metric .*There are: compression_ratio"):
            run.table(wrong)  # type: ignore[arg-type]
        with pytest.raises(UnknownNameError, match="unknown dataset of this run"):
            run.table("compression_ratio", wrong or 0)  # type: ignore[arg-type]


def test_a_table_without_figures_says_why(tmp_path: Path) -> None:
    why = "undefined: only on parallel text"
    nothing = [replace(each, value=None, ci_low=None, ci_high=None, status=why) for each in ROWS]
    run = make_run(tmp_path / "run", nothing)
    with pytest.raises(ResultsError, match="not measured on anything: only on parallel text"):
        run.table("compression_ratio")
    assert why_unmeasured(run.frame, "compression_ratio") == "only on parallel text"
    assert why_unmeasured(run.frame, "compression_ratio", "elsewhere") == "it applies to another dataset"
    assert why_unmeasured(run.frame, "gini") == "it applies to no dataset of this run"


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no such folder"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match="is this the folder of a run"):
        Run.open(tmp_path)
    for damaged in ('{"schema": 1, "tokeni', "", "[]"):
        (tmp_path / "run.json").write_text(damaged)
        with pytest.raises(ResultsError, match=r"run\.json: .*JSON.*; copy the folder again .* another folder"):
            Run.open(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"schema": 99, "versions": {"tokbench": "9.9"}}))
    with pytest.raises(ResultsError, match=r"written by tokbench 9\.9: upgrade"):
        Run.open(tmp_path)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="the disk is full; free some space and run the same command again"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path], "nothing half-written is left beside it"


def verdicts(tmp_path: Path, after: list[Measurement], threshold: float = 0.0) -> dict[str, str]:
    before = make_run(tmp_path / "before", ROWS)
    later = make_run(tmp_path / "after", after)
    frame = compare_figures(before, later, better={"compression_ratio": "higher"}, threshold=threshold)
    return {f"{r.tokenizer} {r.language}": r.verdict for r in frame.itertuples()}


def test_what_changed_between_runs(tmp_path: Path) -> None:
    after = [
        row("bytes", "eng_Latn", 0.9),
        row("bytes", "deu_Latn", 1.2, 0.9, 1.6),
        row("chars", "eng_Latn", 1.5),
        row("chars", "deu_Latn", 2.0),
    ]
    assert verdicts(tmp_path, after) == {
        "bytes eng_Latn": "worse",
        "bytes deu_Latn": "unsure",
        "chars eng_Latn": "better",
        "chars deu_Latn": "appeared",
    }


def counted(folder: Path, tokenizer: str, texts: list[str], **manifest: Any) -> Run:
    """A run whose `text:a` was counted with a tokenizer, under the name of bytes."""
    import tokbench
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.tally.collect import collect

    tally = collect(tokbench.load(tokenizer), map(Document, texts))
    ratio = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]
    rows = measure({KEY: tally}, ratio, context=MeasureContext())
    digest = {"eng_Latn": {"sha256": "1" * 64}}
    run = make_run(folder, rows, datasets=[{"spec": "text:a", "languages": digest}], **manifest)
    write_cell(run.folder.cells, CellResult(KEY, "id", tally))
    return run


def test_runs_over_the_same_text_are_paired_document_by_document(tmp_path: Path) -> None:
    """A fifth of the documents gain a little: the intervals overlap nearly whole, and the gain is sure."""
    from tokbench.metrics.catalogue import CATALOGUE

    texts = [f"{'é' if i % 5 == 0 else 'e'}{'x' * (i * 37 % 400)} {i}" for i in range(300)]
    one, two = counted(tmp_path / "one", "bytes", texts), counted(tmp_path / "two", "chars", texts)
    ratio = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]

    def verdict(after: Run, **options: Any) -> str:
        frame = compare_figures(one, after, better={"compression_ratio": "higher"}, **options)
        return str(frame.loc[frame["language"] == "eng_Latn", "verdict"].item())

    assert verdict(two, metrics=ratio) == "better"
    assert verdict(two, metrics=ratio, budgets={"compression_ratio": 0.5}) == "same"
    assert verdict(one, metrics=ratio) == "same"
    other = make_run(
        tmp_path / "other", [], datasets=[{"spec": "text:a", "languages": {"eng_Latn": {"sha256": "2"}}}]
    )
    assert paired(one, other, ratio) == {}  # another text
    [(key, p)] = [(key, p) for key, p in paired(one, two, ratio).items() if key[2] == "eng_Latn"]
    assert key == ("bytes", "text:a", "eng_Latn", "compression_ratio")
    assert 1 / 1001 <= p < 0.05


def test_gates_for_machines(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    from tokbench.reports.gates import budgets_of, junit, summary

    one = make_run(tmp_path / "one", [row("bytes", "eng_Latn", 2.0), row("bytes", "deu_Latn", 1.0, 0.5, 1.5)])
    two = make_run(tmp_path / "two", [row("bytes", "eng_Latn", 1.0), row("bytes", "deu_Latn", 1.2, 0.7, 1.7)])
    figures = compare_figures(one, two, better={"compression_ratio": "higher"})
    suite = ElementTree.fromstring(junit(figures))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    [failure] = suite.iter("failure")
    assert failure.get("message") == "worse: 2 to 1, -50.00%"
    figures["tokenizer"] = "a\ufffe\x00"
    assert [case.get("classname") for case in ElementTree.fromstring(junit(figures)).iter("testcase")] == [
        "a\ufffd\ufffd on text:a"
    ] * 2
    figures["tokenizer"] = "bytes"
    text = summary(figures)
    assert "1 figure got worse or are gone" in text
    assert "| bytes | text:a | eng\\_Latn | compression\\_ratio | 2 | 1 | -50.00% | – |" in text
    assert budgets_of(["premium=2%"]) == {"premium": 0.02}
    for wrong, why in (
        (["premium"], "as in premium=1%"),
        (["premium=x"], "no share"),
        (["a=1", "a=2%"], "twice"),
    ):
        with pytest.raises(SpecError, match=why):
            budgets_of(wrong)


def test_a_budget_holds_what_has_no_better_and_units_are_not_mixed(tmp_path: Path) -> None:
    def run(name: str, value: float, unit: str) -> Run:
        rows = [Measurement("bytes", "text:a", "all", "cost", value, None, None, unit, 5)]
        return make_run(tmp_path / name, rows)

    euro, less, dollar = run("a", 2.0, "EUR"), run("b", 1.9, "EUR"), run("c", 4.0, "USD")

    def verdict(after: Run, **options: Any) -> dict[str, Any]:
        frame = compare_figures(euro, after, better={"cost": "none"}, **options)
        return frame[frame["metric"] == "cost"].to_dict("records")[0]

    assert verdict(less)["verdict"] == "changed"
    assert verdict(less, budgets={"cost": 0.01})["verdict"] == "worse"
    assert verdict(less, budgets={"cost": 0.1})["verdict"] == "same"
    other = verdict(dollar, budgets={"cost": 0.1})
    assert (other["verdict"], other["unit"]) == ("unsure", "EUR → USD")
    assert other["change"] != other["change"]


@pytest.mark.parametrize("strict", [False, True])
def test_what_is_unsure_fails_a_strict_gate(tmp_path: Path, strict: bool) -> None:
    from xml.etree import ElementTree

    from tokbench.reports.gates import fails, junit, summary

    one = make_run(tmp_path / "one", [row("bytes", "deu_Latn", 1.0, 0.5, 1.5)])
    two = make_run(tmp_path / "two", [row("bytes", "deu_Latn", 0.9, 0.4, 1.7)])
    figures = compare_figures(one, two, better={"compression_ratio": "higher"})
    assert fails(figures, strict=strict).tolist() == [strict]
    suite = ElementTree.fromstring(junit(figures, strict=strict))
    assert (suite.get("failures"), suite.get("skipped")) == (("1", "0") if strict else ("0", "1"))
    assert ("nothing got worse" in summary(figures, strict=strict)) is not strict


def test_another_text_is_not_paired_and_that_is_told(tmp_path: Path) -> None:
    texts = [[{"spec": "text:a", "languages": {"eng_Latn": {"sha256": digest}}}] for digest in ("1", "1", "2")]
    one, two, three = (
        make_run(tmp_path / name, ROWS, datasets=own) for name, own in zip("abc", texts, strict=True)
    )
    assert unpaired(one, two) == []
    assert unpaired(one, three) == ["text:a"]


def test_what_has_no_interval_has_no_verdict_over_another_text(tmp_path: Path) -> None:
    """A vocabulary is used by another share in any other text, and three documents have no interval."""

    def run(name: str, text: str, value: float, metric: str = "compression_ratio") -> Run:
        datasets = [{"spec": "text:a", "languages": {"eng_Latn": {"sha256": text}}}]
        return make_run(
            tmp_path / name, [replace(row("bytes", "eng_Latn", value), metric=metric)], datasets=datasets
        )

    def verdict(one: Run, other: Run, **options: Any) -> str:
        frame = compare_figures(one, other, better={"compression_ratio": "higher"}, **options)
        return str(frame["verdict"].item())

    before, same, other = run("a", "1", 2.0), run("b", "1", 1.9), run("c", "2", 1.9)
    assert verdict(before, same) == "worse"
    assert verdict(before, other) == "unsure"
    assert verdict(before, other, budgets={"compression_ratio": 0.01}) == "worse"
    assert verdict(run("d", "1", 9, "text_bytes"), run("e", "2", 8, "text_bytes")) == "changed"


def test_a_threshold_and_what_is_gone(tmp_path: Path) -> None:
    after = [row("bytes", "eng_Latn", 0.999), row("chars", "eng_Latn", None)]
    found = verdicts(tmp_path, after, threshold=0.01)
    assert found["bytes eng_Latn"] == "same"
    assert found["chars eng_Latn"] == "vanished"
    assert found["bytes deu_Latn"] == "vanished"


def test_what_was_timed_once_has_no_verdict(tmp_path: Path) -> None:
    def run(name: str, seconds: float, low: float | None = None, high: float | None = None) -> Run:
        rows = [Measurement("bytes", "", "all", "load_time", seconds, low, high, "s", 0)]
        return make_run(tmp_path / name, rows)

    def verdict(one: Run, other: Run) -> str:
        frame = compare_figures(one, other, better={"load_time": "lower"}, timed={"load_time"})
        return str(frame["verdict"].item())

    assert verdict(run("a", 1.0), run("b", 1.3)) == "unsure"
    assert verdict(run("c", 1.0, 0.9, 1.1), run("d", 1.3)) == "unsure"
    assert verdict(run("e", 1.0, 0.9, 1.1), run("f", 1.3, 1.2, 1.4)) == "worse"


def test_versions_and_files_that_differ(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", ROWS, versions={"numpy": "2.0"}, machine={"processor": "x"})
    two = make_run(tmp_path / "two", ROWS, versions={"numpy": "2.1"}, machine={"processor": "x"})
    [change] = compare_manifests(one, two)
    assert (change.name, change.before, change.after) == ("versions.numpy", "2.0", "2.1")


def test_folder_names(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).measurements.name == "measurements.parquet"


def test_a_column_in_which_nothing_is_known_reads_as_numbers(tmp_path):
    from tokbench.results.frames import read_frame, write_rows

    write_rows(
        tmp_path / "rows.parquet",
        [{"tokenizer": "a", "p_adjusted": None}, {"tokenizer": "b", "p_adjusted": None}],
    )
    column = read_frame(tmp_path / "rows.parquet")["p_adjusted"]
    assert column.dtype == "float64"
    assert column.isna().all()


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    import os
    import stat
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_bytes(pipe, b"one", b"two")
    reader.join(timeout=20)
    assert found == [b"onetwo"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]
