from __future__ import annotations

import errno
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tokbench.results.made_up import KEY, ROWS, make_run, row
from tokbench.corpus import Document
from tokbench.errors import ResultsError, StorageError, UnknownNameError
from tokbench.metrics.measurement import CellKey
from tokbench.results import COLUMNS, CellResult, Run, TaskFailure
from tokbench.results.atomic import write_bytes
from tokbench.results.cell import cell_file_name, read_cell, write_cell
from tokbench.results.folder import choose_folder
from tokbench.results.frames import measurement_table, why_unmeasured, write_measurements


def test_a_row_has_the_beginning_of_a_long_reason(tmp_path: Path) -> None:
    """A failure with its remedy stood in a thousand rows of each tokenizer: megabytes."""
    reasons = ["failed: raised: " + "no such file, do this " * 20, "undefined: " + "as it is " * 20, "ok"]
    rows = [replace(ROWS[0], status=status) for status in reasons]
    failed, undefined, ok = make_run(tmp_path / "run", rows).frame["status"]
    assert failed.startswith("failed: raised: no such file")
    assert (len(failed), failed[-1]) == (120, "…")
    assert [undefined, ok] == reasons[1:]


def test_no_message_draws_on_a_terminal_that_shows_a_run(tmp_path: Path) -> None:
    status = "failed: ValueError: boom\x1b[31m"
    run = make_run(tmp_path / "run", [replace(row("bytes", "eng_Latn", None), status=status)])
    assert "boom\\x1b[31m" in (run.path / "measurements.csv").read_text(encoding="utf-8")
    assert TaskFailure("raised", "boom\x1b[31m").status == "failed: raised: boom\\x1b[31m"


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
            run.table(wrong)
        with pytest.raises(UnknownNameError, match="unknown dataset of this run"):
            run.table("compression_ratio", wrong or 0)


def test_a_table_without_figures_says_why(tmp_path: Path) -> None:
    why = "undefined: only on parallel text"
    nothing = [replace(each, value=None, ci_low=None, ci_high=None, status=why) for each in ROWS]
    run = make_run(tmp_path / "run", nothing)
    with pytest.raises(ResultsError, match="not measured on anything: only on parallel text"):
        run.table("compression_ratio")
    assert why_unmeasured(run.frame, "compression_ratio") == "only on parallel text"
    assert why_unmeasured(run.frame, "compression_ratio", "elsewhere") == "it applies to another dataset"
    assert why_unmeasured(run.frame, "gini") == "it applies to no dataset of this run"
    run.frame.loc[run.frame.index[1:], "status"] = "failed: raised: gone"
    assert why_unmeasured(run.frame, "compression_ratio") == "only on parallel text"  # not what most say


@pytest.mark.parametrize("status", ["unfinished", "interrupted"])
def test_a_finished_run_that_was_begun_again_and_cut_short_has_no_figures(status: str, tmp_path: Path) -> None:
    """Its figures lie there still, and nothing says which tokenizers lose text: a report would praise one."""
    run = make_run(tmp_path / "run", ROWS, status=status, tokenizers=[])
    with pytest.raises(ResultsError, match=f"run: the run is {status}; run the suite again to complete it"):
        _ = run.frame


def test_a_run_that_was_cut_short_early_is_not_said_to_be_of_no_tokenizers(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ROWS, status="unfinished", request="one", tokenizers=[])
    with pytest.raises(ResultsError, match="holds another run, 'run', of 1 dataset; choose another folder"):
        choose_folder(run.path, "run", "another")


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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_writing_and_reading_figures_leaves_no_thread_of_arrow(tmp_path):
    """One that holds a Python file while the interpreter ends aborts the process, now and then."""
    code = """
import os, pandas, pyarrow.parquet
from pathlib import Path
from tokbench.results.frames import measurement_table, read_measurements, write_measurements
before = len(os.listdir("/proc/self/task"))
write_measurements(Path("rows.parquet"), measurement_table("run", []))
read_measurements(Path("rows.parquet"))
print(before, len(os.listdir("/proc/self/task")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    before, after = done.stdout.split()
    assert before == after


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
