"""The family `jsonl`: an object of JSON per line, the text in one of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.corpora import JSON_LINES, blocks
from tokbench.corpora.dataset import range_shards
from tokbench.corpora.encodings import UTF8, open_text
from tokbench.corpora.records import RecordFormat, load_rows
from tokbench.corpora.storage import StoredFile
from tokbench.corpus import Dataset, Shard
from tokbench.errors import CorpusError
from tokbench.spec import LoadContext, Spec


@dataclass(frozen=True, slots=True)
class JsonLines(RecordFormat):
    """An object per line; blank lines and empty texts are not documents."""

    def identity(self) -> Mapping[str, Any]:
        """The fields."""
        return {"format": "jsonl", **self.fields.identity()}

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """Byte ranges that end after a line."""
        return self.begun(file, range_shards(file, language, blocks.LINE_END, self.fields))

    def records(self, shard: Shard) -> Iterator[tuple[object, Mapping[str, Any]]]:
        """Each object."""
        field = self.fields.text
        with open_text(shard.source, self.fields, shard.start) as handle:
            for start, block in blocks.blocks(handle, shard.start, shard.stop, blocks.LINE_END):
                offset = start
                for line in block.split(b"\n"):
                    if line and not line.isspace():
                        where = _RecordPlace(shard.source, offset, self.fields.encoding)
                        row = self._object(line, where)
                        if b"\\u" in line and isinstance(row.get(field), str):
                            row[field] = self._without_surrogates(row[field], where)
                        yield where, row
                    offset += len(line) + 1

    def _object(self, line: bytes, where: _RecordPlace) -> dict[str, Any]:
        text = blocks.decode(line, path=where.path, offset=where.offset, errors=self.fields.errors)
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            said = str(error)
            if isinstance(error, json.JSONDecodeError):  # its line is always the first
                said = f"column {error.colno}: {error.msg}"
            raise CorpusError(f"{where}: not a JSON object: {said}") from None
        if not isinstance(row, dict):
            raise CorpusError(
                f'{where}: a JSON {type(row).__name__}, where each line must be an object, as in {{"text": …}}'
            )
        return row

    def _without_surrogates(self, text: str, where: _RecordPlace) -> str:
        r"""Escapes such as ``\ud800`` alone are no characters: an error, or U+FFFD with errors=replace."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            if self.fields.errors == "replace":
                return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            raise CorpusError(
                f"{where}: field {self.fields.text!r} holds the lone surrogate U+{ord(text[error.start]):04X}, "
                f"which is no character; errors=replace puts U+FFFD in its place"
            ) from None
        return text


@dataclass(frozen=True, slots=True)
class _RecordPlace:
    """File, line and byte offset, put into words only if an error needs them."""

    path: str
    offset: int
    encoding: str

    def __str__(self) -> str:
        line = f"{self.path}, line {blocks.line_number(self.path, self.offset, self.encoding)}"
        return f"{line}, byte offset {self.offset}" if self.encoding == UTF8 else line


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``jsonl:PATH``."""
    return load_rows(spec, JsonLines, JSON_LINES)
