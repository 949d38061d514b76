"""Files of counted pre-tokens: how they are laid out, written, put together and read.

A file is Parquet: a row for each language, source and distinct pre-token, with its count (int64). What it is
of stands in its metadata (`Head`). Rows lie in `PARTS` row groups by a hash of the pre-token, so that files of
any size are added up a part at a time: equal pre-tokens are always in the same part.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.counts import WordCounts
from tokbench.errors import CorpusError
from tokbench.wording import nothing_at

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

PARTS = 16
FORMAT = 1
_KEY = b"tokbench_counts"
_MOST = 2.0**62
KEYS = ("language", "source", "pretoken")


@dataclass(frozen=True, slots=True)
class TextSize:
    """How much text of a language and a source was counted; `bytes` of UTF-8."""

    language: str
    source: str
    documents: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Head:
    """What a file holds: the name of the cut, the spec it was counted for, and the text it is of."""

    cut: str
    wanted: str
    texts: tuple[TextSize, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of text of each language, in the order in which they were counted."""
        sizes: Counter[str] = Counter()
        for text in self.texts:
            sizes[text.language] += text.bytes
        return sizes


def _schema() -> pa.Schema:
    """The columns of a file."""
    import pyarrow as pa

    types = (pa.string(), pa.string(), pa.large_binary(), pa.int64())
    return pa.schema(list(zip((*KEYS, "count"), types, strict=True)))


def read_head(path: str | Path) -> Head:
    """What a file is of; raises `CorpusError` for what is no file of counts."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        metadata = parquet.read_schema(path).metadata or {}
        found: dict[str, Any] = json.loads(metadata[_KEY])
        texts = tuple(TextSize(**each) for each in found["texts"])
        head = Head(found["cut"], found["wanted"], texts)
    except FileNotFoundError:
        raise CorpusError(f"{path}: {nothing_at(Path(path))}") from None
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise CorpusError(
            f"{path}: no file of counts, or a damaged one; `tokbench count -d DATASET -o FILE` writes one"
        ) from error
    if found.get("format") != FORMAT:
        raise CorpusError(
            f"{path}: counts of format {found.get('format')}; this tokbench reads {FORMAT}: count anew"
        )
    return head


def table_of(words: WordCounts, language: str, source: str) -> pa.Table:
    """Counted words as rows."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(words.starts)), pa.py_buffer(words.data.tobytes())]
    column = pa.Array.from_buffers(pa.large_binary(), len(words), buffers)
    names = [pa.repeat(pa.scalar(name, pa.string()), len(words)) for name in (language, source)]
    return pa.table([*names, column, pa.array(words.counts)], names=[*KEYS, "count"])


def added_up(tables: Sequence[pa.Table], keys: Sequence[str] = KEYS) -> pa.Table:
    """Rows of equal keys as one, their counts added."""
    import pyarrow as pa

    whole = pa.concat_tables([table.select([*keys, "count"]) for table in tables])
    grouped = whole.group_by(list(keys), use_threads=False).aggregate([("count", "sum")])
    return grouped.rename_columns([name.removesuffix("_sum") for name in grouped.column_names])


def words_of(table: pa.Table, unit: int = 1) -> WordCounts:
    """Rows as counted words, of which one sight counts `unit`."""
    column = table["pretoken"].combine_chunks()
    if not len(column):
        return replace(WordCounts.of_pairs([], []), unit=unit)
    _, starts, data = column.buffers()
    ends = np.frombuffer(starts, np.int64)[column.offset : column.offset + len(column) + 1]
    text = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    text = text[ends[0] : ends[-1]]
    return WordCounts(text, ends - ends[0], table["count"].to_numpy().astype(np.int64), unit)


def parts_of(table: pa.Table) -> NDArray[np.int64]:
    """The part that each row belongs to: by the length of the pre-token and its bytes at three places."""
    words = words_of(table)
    begins, ends = words.starts[:-1], words.starts[1:]
    places = np.stack([begins, (begins + ends) // 2, ends - 1]).clip(0, max(0, len(words.data) - 1))
    value = (ends - begins) * 31
    for factor, place in zip((17, 13, 7), places, strict=True):
        if len(words.data):
            value = value * factor + words.data[place]
    parts: NDArray[np.int64] = (value >> 2 ^ value) % PARTS
    return parts


def write_parts(path: Path, head: Head, parts: Iterable[pa.Table]) -> int:
    """Write the parts of a file, in order; how many rows it has."""
    import pyarrow.parquet as parquet

    said = json.dumps({"format": FORMAT, **asdict(head)}, ensure_ascii=True).encode()
    schema, rows = _schema().with_metadata({_KEY: said}), 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(part.cast(schema), row_group_size=max(1, len(part)))
            rows += len(part)
    return rows


def write_table(path: Path, head: Head, table: pa.Table) -> None:
    """Write rows, which are added up already, as a file."""
    which = parts_of(table)
    write_parts(path, head, (table.filter(which == part) for part in range(PARTS)))


def read_parts(path: str | Path) -> Iterator[pa.Table]:
    """The parts of a file, in order; raises `CorpusError` for what is not laid out so, or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path) as file:
            if not file.schema_arrow.equals(_schema()) or file.num_row_groups != PARTS:
                raise CorpusError(f"{path}: rewritten since `tokbench count` wrote it: count anew")
            for part in range(PARTS):
                table = file.read_row_group(part)
                _check_counts(path, table)
                yield table
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{path}: damaged ({error}): count anew") from error


def _check_counts(path: str | Path, table: pa.Table) -> None:
    """Raise `CorpusError` for rows without a pre-token, and for what no words are seen so often as."""
    counts = table["count"].to_numpy()
    if table["pretoken"].null_count or table["count"].null_count or (len(counts) and counts.min() < 1):
        raise CorpusError(
            f"{path}: a pre-token has no count, or a count below 1; count again with tokbench count"
        )
    if counts.sum(dtype=np.float64) >= _MOST:
        raise CorpusError(f"{path}: more than 2⁶² pre-tokens; count again with tokbench count")


def add_files(paths: Sequence[Path], head: Head, target: Path) -> int:
    """Add up files of counts, a part at a time; how many rows there are. `head` is what the result is of."""

    def parts() -> Iterator[pa.Table]:
        for part in zip(*map(read_parts, paths), strict=True):
            yield added_up(part).sort_by([(key, "ascending") for key in KEYS])

    return write_parts(target, head, parts())


def head_of(heads: Sequence[Head], paths: Sequence[str | Path]) -> Head:
    """What files are of together; raises `CorpusError` where they were cut in different ways."""
    for head, path in zip(heads, paths, strict=True):
        if head.cut != heads[0].cut:
            raise CorpusError(
                f"{paths[0]} was cut by [{heads[0].cut}], {path} by [{head.cut}]: they do not add up"
            )
    return Head(heads[0].cut, heads[0].wanted, summed(text for head in heads for text in head.texts))


def summed(texts: Iterable[TextSize]) -> tuple[TextSize, ...]:
    """Sizes of the same language and source as one, in the order in which they first come."""
    found: dict[tuple[str, str], TextSize] = {}
    for text in texts:
        known = found.get((text.language, text.source), replace(text, documents=0, bytes=0))
        found[text.language, text.source] = replace(
            known, documents=known.documents + text.documents, bytes=known.bytes + text.bytes
        )
    return tuple(found.values())
