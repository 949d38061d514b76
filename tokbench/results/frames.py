"""Measurements as tables: the columns, their types, and files with the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError
from tokbench.metrics.measurement import Measurement
from tokbench.results.atomic import replacing
from tokbench.wording import printable, writable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

COLUMNS = (
    *("run", "tokenizer", "dataset", "language", "metric"),
    *("value", "ci_low", "ci_high", "unit", "n_documents", "status", "estimated"),
)
_NUMBERS = {"value", "ci_low", "ci_high"}
_REASON = 120
"""The most characters of a failure's reason in each row; run.json has all of it, once."""


def measurement_table(
    run: str, measurements: Sequence[Measurement], estimated: Collection[str] = ()
) -> pa.Table:
    """The measurements as a table with the columns `COLUMNS`; NaN becomes null.

    `estimated` are the tokenizers whose figures rest on estimated numbers of tokens.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {"run": [run] * len(measurements)}
    columns |= {name: [getattr(row, name) for row in measurements] for name in COLUMNS[1:-1]}
    columns["status"] = [_in_a_row(status) for status in columns["status"]]
    columns["estimated"] = [row.tokenizer in estimated and row.value is not None for row in measurements]
    types = {name: pa.float64() if name in _NUMBERS else pa.string() for name in COLUMNS}
    types |= {"n_documents": pa.int64(), "estimated": pa.bool_()}
    arrays = [
        pa.array(map(_number if name in _NUMBERS else _text, columns.pop(name)), type)
        for name, type in types.items()
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(list(types.items())))


def write_measurements(path: Path, table: pa.Table) -> None:
    """Write measurements as `path` (Parquet) and beside it as CSV; equal rows give equal bytes."""
    write_table(path, table)
    _write_csv(path.with_suffix(".csv"), table)


def table_of(rows: Sequence[Any]) -> pa.Table:
    """Rows of one dataclass as a table, with a column for each field."""
    import pyarrow as pa

    names = [each.name for each in fields(rows[0])] if rows else []
    return pa.table({name: [_text(getattr(row, name)) for row in rows] for name in names})


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of any one shape as Parquet, all or nothing."""
    import pyarrow as pa

    texts = [{name: _text(cell) for name, cell in row.items()} for row in rows]
    write_table(path, pa.Table.from_pylist(texts))


def write_table(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as Parquet, all or nothing."""
    import pyarrow.parquet as pq

    with replacing(path) as aside, aside.open("wb") as stream:  # pyarrow refuses names that are not UTF-8
        pq.write_table(table, stream)


def read_measurements(path: Path) -> pd.DataFrame:
    """The tidy frame of a run: `COLUMNS`, numbers as float64 (NaN where not measured), counts as int64."""
    frame = read_frame(path)
    if "estimated" not in frame:  # runs of earlier versions had no estimates
        frame["estimated"] = False
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise ResultsError(f"{path}: no column {', '.join(missing)}; run the suite again to complete it")
    return frame[list(COLUMNS)]


def read_frame(path: Path) -> pd.DataFrame:
    """A Parquet file as a frame; raises `ResultsError` if it cannot be read.

    A column without any value becomes numbers, all NaN, because its rows have no type. The file is read in this
    thread only: a process aborts if one of Arrow's threads still holds the Python file when it ends
    (apache/arrow#34314).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as stream:
            table = pq.ParquetFile(stream, pre_buffer=False).read(use_threads=False)
        fields = [f.with_type(pa.float64()) if pa.types.is_null(f.type) else f for f in table.schema]
        frame: pd.DataFrame = table.cast(pa.schema(fields)).to_pandas(use_threads=False)
    except FileNotFoundError as error:
        raise ResultsError(f"{path} is not there; run the suite again to complete it") from error
    except (OSError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: {error}; run the suite again to complete it") from error
    return frame


def _write_csv(path: Path, table: pa.Table) -> None:
    with replacing(path) as aside, aside.open("w", encoding="utf-8", newline="") as stream:
        table.slice(0, 0).to_pandas(use_threads=False).to_csv(stream, index=False, lineterminator="\n")
        for batch in table.to_batches(max_chunksize=10_000):  # rows as objects take ten times as much memory
            batch.to_pandas(use_threads=False).to_csv(stream, index=False, header=False, lineterminator="\n")


def _in_a_row(status: str) -> str:
    """A status as written in a row, of which there may be thousands; control characters are spelt out."""
    status = printable(status)
    long = status.startswith("failed:") and len(status) > _REASON
    return f"{status[: _REASON - 1]}…" if long else status


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)


def _text(cell: Any) -> Any:
    return writable(cell) if isinstance(cell, str) else cell


def why_unmeasured(frame: pd.DataFrame, metric: str, dataset: str | None = None) -> str:
    """Why a metric has no figure, or none on a dataset, as most of its rows say; empty if it has one.

    Failures are given as the reason only if all rows failed.
    """
    rows = frame[frame["metric"] == metric]
    if dataset is not None:
        rows = rows[rows["dataset"] == dataset]
    if rows["value"].notna().any():
        return ""
    failed = rows["status"].str.startswith("failed")
    rows = rows if failed.all() else rows[~failed]
    reasons = rows["status"].str.removeprefix("undefined: ").value_counts()
    applies_to = "no dataset of this run" if dataset is None else "another dataset"
    return str(reasons.index[0]) if len(reasons) else f"it applies to {applies_to}"
