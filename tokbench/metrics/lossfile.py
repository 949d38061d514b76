"""Reads files of losses by token: a document a row, its ids or its text, and a loss for each token, in nats.

JSON lines hold objects with the fields ``nats`` and ``ids`` or ``text`` (or both), Parquet columns of these
names. A loss is null where a token was not predicted; if that is the first, it may also be absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import CorpusError

ROWS_AT_ONCE = 256
LARGEST = 3.4e38
"""The largest loss in nats: models compute in single precision, which ends there. Sums of these are finite."""
FIELDS = ("nats", "ids", "text")


@dataclass(frozen=True, slots=True)
class Scored:
    """A document with its losses: `nats` is float64 of shape ``(losses,)``, NaN where there is none.

    `place` says where it stands in its file; `ids`, `text` are None where the file has none. Raises
    `CorpusError` for what is no loss.
    """

    place: str
    nats: NDArray[np.float64]
    ids: list[int] | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        wrong = np.flatnonzero((self.nats < 0) | (self.nats > LARGEST))
        if len(wrong):
            raise CorpusError(
                f"{self.place}: loss {wrong[0] + 1:,} of {len(self.nats):,} is {self.nats[wrong[0]]:g}: losses "
                f"are finite numbers of nats from 0 to {LARGEST:g}, null where there is none"
            )


def read_losses(path: Path) -> Iterator[Scored]:
    """The documents of a ``.jsonl`` or ``.parquet`` file, one by one; raises `CorpusError` with the place."""
    if not path.is_file():
        raise CorpusError(f"{path}: no such file of losses")
    rows = _parquet(path) if path.suffix == ".parquet" else _json_lines(path)
    if (first := next(rows, None)) is None:
        raise CorpusError(f"{path}: no document with losses in it")
    return (_scored(place, row) for place, row in chain([first], rows))


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file in UTF-8, with or without a byte order mark."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            yield from lines
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}: not UTF-8 (byte 0x{error.object[error.start]:02x}); save it as UTF-8"
        ) from error


def _json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise CorpusError(f"{place}: no JSON: {error}") from error
        if not isinstance(row, dict):
            raise CorpusError(f"{place}: an object with nats and ids or text, not {type(row).__name__}")
        yield place, row


def _parquet(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise CorpusError(f"{path}: no Parquet: {error}") from error
    with file:
        names = [name for name in FIELDS if name in file.schema_arrow.names]
        first = 1
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=names):
            for number, row in enumerate(batch.to_pylist(), start=first):
                yield f"{path}, row {number}", row
            first += len(batch)


def _scored(place: str, row: Mapping[str, Any]) -> Scored:
    nats, ids, text = (row.get(name) for name in FIELDS)
    if nats is None or (ids is None and text is None):
        found = ", ".join(str(name) for name, value in row.items() if value is not None) or "nothing"
        raise CorpusError(
            f"{place}: a row needs `nats`, a loss for each token, and `ids` or `text`; it has {found}"
        )
    if not isinstance(nats, list) or any(isinstance(value, bool | str | list) for value in nats):
        raise CorpusError(f"{place}: `nats` must be a list of numbers, a document a row")
    if any(isinstance(value, float) and value != value for value in nats):
        raise CorpusError(f"{place}: a loss is NaN: null says that there is none")
    try:
        losses = np.array([np.nan if value is None else value for value in nats], np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CorpusError(f"{place}: `nats` must be a list of numbers: {error}") from error
    if ids is not None and not (
        isinstance(ids, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in ids)
    ):
        raise CorpusError(f"{place}: `ids` must be a list of whole numbers")
    if text is not None and not isinstance(text, str):
        raise CorpusError(f"{place}: `text` must be a string")
    return Scored(place, losses, ids, text)
