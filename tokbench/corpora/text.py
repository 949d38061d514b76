"""The family `text`: files, globs and folders of plain text or source code, and how documents lie in them.

A document is a line, a paragraph or a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from string import whitespace
from typing import Any

from tokbench.corpora import blocks
from tokbench.corpora.dataset import FileDataset, Format, range_shards, text_of, whole_file
from tokbench.corpora.encodings import Encoded, encoded_by, open_text
from tokbench.corpora.finding import find_files, path_of
from tokbench.corpora.naming import UNKNOWN, by_language, code_language, note_on, text_language
from tokbench.corpora.storage import StoredFile
from tokbench.corpus import Dataset, Document, Shard, TextBlock
from tokbench.errors import SpecError
from tokbench.spec import LoadContext, Spec

TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class LineFormat(Encoded, Format):
    r"""A document per line, or per paragraph with ``unit="paragraph"``.

    Lines end with ``\n`` or ``\r\n``; the end is no part of the document, and the last line needs none. Blank
    lines are not documents. A paragraph is what stands between blank lines, with the line ends inside it.
    A document longer than `max_document_bytes` is handed out in parts, so that memory stays bounded.
    """

    unit: str = "line"
    max_document_bytes: int | None = None

    def identity(self) -> Mapping[str, Any]:
        """Unit, encoding, treatment of undecodable bytes, and limit."""
        return self.told(format=self.unit, max_document_bytes=self.max_document_bytes)

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """Byte ranges that end after a line, or after a blank one."""
        return range_shards(file, language, self._end, self)

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The lines or paragraphs of a shard."""
        for texts in self._blocks(shard):
            yield from map(Document, texts)

    def _blocks(self, shard: Shard) -> Iterator[list[str]]:
        """The texts, a block of the file at a time: most of the cost of a short line is handing it on."""
        limit = self.max_document_bytes
        for block in text_of(shard, self._end, self, limit=limit):
            block = block.replace("\r\n", "\n")
            parts = block.split("\n") if self.unit == "line" else _paragraphs(block)
            texts = [text for text in parts if text and not text.isspace()]
            if limit is not None:
                texts = [part for text in texts for part in parts_of(text, limit)]
            yield texts

    def text_blocks(self, shard: Shard) -> Iterator[TextBlock]:
        """The texts as bytes; lines are not taken apart for it."""
        if self.unit != "line" or self.errors != "strict" or self.max_document_bytes is not None:
            yield from map(TextBlock.of, self._blocks(shard))
            return
        from tokbench.corpora.lines import NotUtf8, line_blocks  # brings numba along

        try:
            with open_text(shard.source, self, shard.start) as handle:
                yield from line_blocks(handle, shard.start, shard.stop)
        except NotUtf8:
            for _ in self._blocks(shard):  # says where
                pass
            raise

    @property
    def _end(self) -> re.Pattern[bytes]:
        return blocks.LINE_END if self.unit == "line" else blocks.BLANK_LINE


def _paragraphs(block: str) -> list[str]:
    # The line ends around it make a blank line at either edge one like any other.
    return [text.strip("\n") for text in _BLANK_LINES.split(f"\n{block}\n")]


def parts_of(text: str, limit: int) -> Iterator[str]:
    """`text` in parts of at most `limit` bytes of UTF-8, cut at blanks where it can be.

    Example:
        >>> list(parts_of("one two three", 5))
        ['one ', 'two ', 'three']
    """
    data = text.encode("utf-8")
    while data:
        size = blocks.character_end(data, limit)
        yield data[:size].decode("utf-8")
        data = data[size:]


@dataclass(frozen=True, slots=True)
class WholeFileFormat(Encoded, Format):
    """A document per file, its text unchanged but for a byte order mark; the file is held in memory."""

    max_document_bytes: int | None = None

    def identity(self) -> Mapping[str, Any]:
        """Unit, encoding, treatment of undecodable bytes, and limit."""
        return self.told(format="file", max_document_bytes=self.max_document_bytes)

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """The file."""
        blocks.check_beginning(file.path, self)
        return whole_file(file, language)

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The file's text; in parts where it exceeds the limit. White space of ASCII alone is no document."""
        parts = text_of(shard, None, self, limit=self.max_document_bytes)
        first = list(islice(parts, 2))
        if len(first) > 1 or "".join(first).strip(whitespace):
            yield from map(Document, chain(first, parts))


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``text:PATH``."""
    code = spec.get("kind", "text") == "code"
    unit = spec.get("unit") or ("file" if code else "line")
    limit, how = spec.get("max_document_bytes"), encoded_by(spec)
    if limit is not None and limit < 16:  # it could not hold a character
        raise SpecError(f"max_document_bytes must be at least 16, not {limit}")
    if code:
        describe = "source code that tokbench knows by its ending"
        paths = find_files(path_of(spec), wanted=_is_code, describe=describe)
    else:
        paths = find_files(path_of(spec), TEXT_SUFFIXES)
    files = by_language(paths, spec.get("language"), code_language if code else text_language)
    return FileDataset(
        name=str(spec),
        files=files,
        format=WholeFileFormat(limit, **how) if unit == "file" else LineFormat(unit, limit, **how),
        kind="code" if code else "text",
        consecutive=unit != "file" and spec.get("cluster") != "document",
        note="" if code else note_on(files, spec),
    )


def _is_code(name: str) -> bool:
    return "." in name and code_language(name) != UNKNOWN
