"""Data formats give the measurements back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tokbench.reports import WRITERS
from tokbench.reports.files import write_csv, write_json, write_parquet, write_xlsx


@pytest.fixture
def run(made_up_run) -> Any:
    made = made_up_run(4, 3)
    made.frame.loc[0, "language"] = "nan"  # a language may be called so; it is no null
    made.frame.loc[1, "status"] = 'failed: "quoted", and\na line'
    return made


def test_csv_comes_back_with_the_same_types_and_values(run: Any, tmp_path: Path) -> None:
    write_csv(run, tmp_path / "out.csv")
    numbers = {name: [""] for name in ("value", "ci_low", "ci_high")}  # of these alone nothing is null
    back = pd.read_csv(tmp_path / "out.csv", keep_default_na=False, na_values=numbers, dtype={"language": str})
    pd.testing.assert_frame_equal(back, run.frame.astype(back.dtypes.to_dict()))
    for name in ("value", "ci_low", "ci_high"):
        assert back[name].dtype == "float64"
    assert back["n_documents"].dtype == "int64"
    assert back["value"].isna().sum() == run.frame["value"].isna().sum() > 0


def test_parquet_comes_back_equal(run: Any, tmp_path: Path) -> None:
    write_parquet(run, tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), run.frame)


def test_json_holds_null_where_nothing_was_measured(run: Any, tmp_path: Path) -> None:
    write_json(run, tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert len(document["measurements"]) == len(run.frame)
    assert [row["value"] for row in document["measurements"]].count(None) == run.frame["value"].isna().sum()
    assert document["manifest"]["run"] == "r1"


def test_excel_takes_text_for_text(run: Any, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install 'tokbench[excel]'")
    run.frame.loc[2, "status"] = "=1+1"
    run.frame.loc[3, "status"] = "a\x00b\ufffe"
    write_xlsx(run, tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["measurements"]
    rows = list(sheet.iter_rows())
    assert len(rows) == len(run.frame) + 1
    assert not any(cell.data_type == "f" for row in rows for cell in row)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_every_writer_writes_a_run_of_one_tokenizer_and_language(
    made_up_run, writer: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"deep/er/report{writer.suffix}"
    writer.write(made_up_run(1, 1), path)
    assert path.stat().st_size > 100
