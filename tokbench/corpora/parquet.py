"""The family `parquet`: a row per document, read by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tokbench.corpora import PARQUET
from tokbench.corpora.blocks import TARGET
from tokbench.corpora.records import RecordFormat, load_rows
from tokbench.corpora.storage import CHUNK, StoredFile, chunks, open_bytes
from tokbench.corpus import Dataset, Shard
from tokbench.errors import CorpusError
from tokbench.spec import LoadContext, Spec

_BATCH_ROWS = 1024
_BATCH_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Parquet(RecordFormat):
    """A text column; a shard is one or more row groups, `start` and `stop` their numbers."""

    def identity(self) -> Mapping[str, Any]:
        """The fields."""
        return {"format": "parquet", **self.fields.identity()}

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """Runs of row groups of about 8 MB of text."""
        with _open(file.path) as table:
            # All of them: one that is not there is told before any work.
            columns = {name: self._column(table, name, file.path) for name in self._names}
            column = columns[self.fields.text]
            groups = table.metadata.num_row_groups
            metas = [table.metadata.row_group(group).column(column) for group in range(groups)]
            sizes = [meta.total_uncompressed_size for meta in metas]
        shards, start = [], 0
        while start < groups:
            stop, size = start + 1, sizes[start]
            while stop < groups and size + sizes[stop] <= TARGET:
                size += sizes[stop]
                stop += 1
            # A whole file says so as every format does, so that small ones can share a shard.
            whole = (start, stop) == (0, groups)
            end = -1 if whole else stop
            shards.append(Shard(language, file.path, 0, start, end, size, file.stamp))
            start = stop
        return shards

    def content(self, shard: Shard) -> Iterator[bytes]:
        """The stored bytes of the columns that are read, with their types and encodings."""
        with _open(shard.source) as table:
            wanted = [self._column(table, name, shard.source) for name in self._names]
            parts = []
            for group in self._groups(table, shard):
                for column in wanted:
                    meta = table.metadata.row_group(group).column(column)
                    starts = [meta.data_page_offset, meta.dictionary_page_offset]
                    parts.append((min(at for at in starts if at), meta.total_compressed_size))
                    yield f"{meta.physical_type} {meta.compression} {meta.encodings}".encode()
        with open_bytes(shard.source) as handle:
            for start, size in parts:
                handle.seek(start)
                yield from chunks(handle, size)

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(self.fields.named.values()))

    def _groups(self, table: Any, shard: Shard) -> list[int]:
        return list(range(shard.start, table.metadata.num_row_groups if shard.stop < 0 else shard.stop))

    def records(self, shard: Shard) -> Iterator[tuple[object, Mapping[str, Any]]]:
        """Each row, of the columns that are read."""
        with _open(shard.source) as table:
            for name in self._names:
                self._column(table, name, shard.source)
            groups = self._groups(table, shard)
            first = sum(table.metadata.row_group(group).num_rows for group in range(shard.start))
            batches = table.iter_batches(
                _batch_rows(table, groups), row_groups=groups, columns=self._names, use_threads=False
            )
            decoded = _decoded(batches, shard.source, replace=self.fields.errors == "replace")
            for number, row in enumerate(chain.from_iterable(decoded), first):
                yield f"{shard.source}, row {number}", row

    def _column(self, table: Any, name: str, path: str) -> int:
        import pyarrow as pa

        names = [table.metadata.schema.column(index).path for index in range(table.metadata.num_columns)]
        if name not in names:
            option = next(option for option, field in self.fields.named.items() if field == name)
            raise CorpusError(
                f"{path}: no column {name!r}; it has: {', '.join(names)}. Name it with {option}=NAME"
            )
        kind = table.schema_arrow.field(name).type
        if name == self.fields.cluster and not pa.types.is_nested(kind):
            return names.index(name)  # a number will do
        value = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)):
            raise CorpusError(f"{path}: column {name!r} is {kind}, not a text")
        return names.index(name)


def _batch_rows(table: Any, groups: Sequence[int]) -> int:
    """Rows to decode at once: as many as make about 4 MB, since a row may be a book."""
    metas = [table.metadata.row_group(group) for group in groups]
    row_bytes = max((meta.total_byte_size // max(1, meta.num_rows) for meta in metas), default=1)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, row_bytes)))


@contextmanager
def _open(path: str) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_bytes(path) as handle:
        try:
            table = pq.ParquetFile(handle, pre_buffer=False, buffer_size=CHUNK)
        except (pa.ArrowException, OSError) as error:
            raise CorpusError(f"{path}: not a readable Parquet file: {error}") from error
        yield table


def _decoded(batches: Iterator[Any], path: str, *, replace: bool) -> Iterator[list[dict[str, Any]]]:
    """Rows of each batch; what is not UTF-8 is an error, or with `replace` U+FFFD in its place."""
    import pyarrow as pa

    try:
        for batch in batches:
            if not replace:
                batch.validate(full=True)
                yield batch.to_pylist()
                continue
            columns = [column.cast(pa.large_binary()).to_pylist() for column in batch.columns]
            texts = [
                [value if value is None else value.decode("utf-8", "replace") for value in column]
                for column in columns
            ]
            yield [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*texts, strict=True)]
    except (pa.ArrowException, OSError) as error:
        hint = "; errors=replace puts U+FFFD there" if "UTF8" in str(error) else ""
        raise CorpusError(f"{path}: damaged Parquet file: {error}{hint}") from error


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``parquet:PATH``."""
    return load_rows(spec, Parquet, PARQUET)
