"""The family `csv`: CSV and TSV, a row per record, the text in a column that the header names."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.corpora import DELIMITED, blocks
from tokbench.corpora.dataset import Format, text_of, whole_file
from tokbench.corpora.finding import bare_name
from tokbench.corpora.records import RecordFormat, load_rows
from tokbench.corpora.storage import StoredFile
from tokbench.corpus import Dataset, Shard
from tokbench.errors import CorpusError, SpecError
from tokbench.spec import LoadContext, Spec
from tokbench.wording import counted

_FIELD_LIMIT = min(sys.maxsize, 2**31 - 1)
_MARKS = {"tab": "\t", "semicolon": ";", "comma": ","}
"""Delimiters that a spec cannot hold, or that are easier to read by name."""


@dataclass(frozen=True, slots=True)
class Delimited(RecordFormat):
    """Rows by the rules of RFC 4180, with a header; a file is one shard, since quoted fields may hold lines."""

    delimiter: str | None = None

    def identity(self) -> Mapping[str, Any]:
        """The fields and the delimiter."""
        return {"format": "csv", "delimiter": self.delimiter, **self.fields.identity()}

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """The file."""
        blocks.check_beginning(file.path, self.fields)
        return self.begun(file, whole_file(file, language))

    def content(self, shard: Shard) -> Iterator[bytes]:
        """The bytes of the file, and the delimiter that its name decides."""
        yield self._delimiter(shard.source).encode() + b"\n"
        yield from Format.content(self, shard)

    def _delimiter(self, path: str) -> str:
        if self.delimiter:
            return {**_MARKS, "\\t": "\t"}.get(self.delimiter, self.delimiter)
        return "\t" if bare_name(path).lower().endswith((".tsv", ".tab")) else ","

    def records(self, shard: Shard) -> Iterator[tuple[object, Mapping[str, Any]]]:
        """Each row below the header."""
        rows = self._values(shard)
        _, header = next(rows, ("", None))
        if header is None:
            raise CorpusError(f"{shard.source}: no header")
        for option, name in self.fields.named.items():
            if name not in header:
                named = ", ".join(f"'{column}'" if "," in column else column for column in header)
                raise CorpusError(
                    f"{shard.source}: no column {name!r}; the header has: {named}. "
                    + (_other_delimiter(header) or f"Name one with {option}=NAME")
                )
            if header.count(name) > 1:
                raise CorpusError(f"{shard.source}: {header.count(name)} columns are named {name!r}")
        for where, values in rows:
            if any(values[len(header) :]):
                raise CorpusError(
                    f"{where}: {len(values)} values under {counted(len(header), 'column')}. "
                    + (_other_delimiter(header) or _QUOTE)
                )
            if values:  # of a blank line there are none
                yield where, dict(zip(header, values, strict=False))

    def _values(self, shard: Shard) -> Iterator[tuple[str, list[str]]]:
        """The values of each row, and where it stands; raises `CorpusError` for what is no CSV."""
        # The limit is the csv module's own, one for the process; its default refuses texts above 128 KiB.
        csv.field_size_limit(_FIELD_LIMIT)
        texts = text_of(shard, blocks.LINE_END, self.fields)
        lines = (line for text in texts for line in io.StringIO(text, newline=""))
        reader = csv.reader(lines, delimiter=self._delimiter(shard.source), strict=True)
        while True:
            where = f"{shard.source}, line {reader.line_num + 1}"
            try:
                values = next(reader, None)
            except csv.Error as error:
                unfinished = "unexpected end of data" in str(error)
                said = "a quotation mark is opened here and never closed" if unfinished else error
                raise CorpusError(f"{where}: {said}") from None
            if values is None:
                return
            yield where, values


_QUOTE = "Put a value that contains the delimiter in quotation marks, or name another with delimiter=CHARACTER"


def _other_delimiter(header: Sequence[str]) -> str:
    """The hint to name a delimiter that is in the only column's name; empty if there is none."""
    split = [word for word, mark in _MARKS.items() if len(header) == 1 and mark in header[0]]
    return f"Say delimiter={split[0]}" if split else ""


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``csv:PATH``."""
    delimiter = spec.get("delimiter")
    if delimiter and len(delimiter) > 1 and delimiter not in ("tab", "\\t", "semicolon", "comma"):
        raise SpecError(f"{spec}: delimiter is one character, or tab, semicolon, comma; not {delimiter!r}")
    return load_rows(spec, lambda fields: Delimited(fields, delimiter), DELIMITED)
