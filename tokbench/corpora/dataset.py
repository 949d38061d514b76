"""The dataset that every family of files shares: files by language, a format that cuts and reads them.

A `Format` knows one way of laying documents into a file. Everything else is here once: which shards there
are, that a file did not change since it was planned, and what a shard's digest is made of.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from tokbench.corpora import blocks
from tokbench.corpora.blocks import TARGET
from tokbench.corpora.encodings import UTF8, Encoded, open_text
from tokbench.corpora.storage import StoredFile, check_unchanged, chunks, compression, open_bytes, stat
from tokbench.corpus import Document, Shard, TextBlock
from tokbench.errors import CorpusError

Content = TypeVar("Content")

_READ = 1 << 18
"""Bytes read at a time: still in the processor's cache when they are looked at."""
_EXPANSION = 3
"""Bytes of text per byte of a compressed file: a guess, for balance and progress only."""


class Format(Protocol):
    """How documents lie in a file. Formats are small, frozen and hold only options.

    One whose documents are text alone and many to a file may have `text_blocks(shard)` as well: what
    `documents` gives as `TextBlock`s, many at a time.
    """

    def identity(self) -> Mapping[str, Any]:
        """Everything that decides how bytes become documents, ready for JSON: a part of the digest."""

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """The file in shards of about 8 MB, in order; `start` and `stop` are in the format's unit."""

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The documents of a shard of one file, streamed."""

    def content(self, shard: Shard) -> Iterator[bytes]:
        """The bytes that decide the documents of a shard of one file: here those of its range."""
        with open_bytes(shard.source, shard.start) as handle:
            yield from chunks(handle, shard.stop - shard.start if shard.stop >= 0 else None, room=_READ)


def whole_file(file: StoredFile, language: str) -> list[Shard]:
    """One shard for a file that cannot be cut."""
    size = max(0, file.size) * (_EXPANSION if compression(file.path) else 1)
    return [Shard(language, file.path, n_bytes=size, stamp=file.stamp)]


def range_shards(file: StoredFile, language: str, end: re.Pattern[bytes], how: Encoded) -> list[Shard]:
    """A file's byte ranges as shards; the whole of it in any other encoding than UTF-8.

    Raises `CorpusError`, before any work, for a file that does not begin in its encoding.
    """
    blocks.check_beginning(file.path, how)
    if how.encoding != UTF8:
        return whole_file(file, language)
    ranges = blocks.cut(file, end)
    if len(ranges) == 1:
        return whole_file(file, language)
    return [Shard(language, file.path, 0, start, stop, stop - start, file.stamp) for start, stop in ranges]


def text_of(
    shard: Shard, end: re.Pattern[bytes] | None, how: Encoded, *, limit: int | None = None
) -> Iterator[str]:
    """The text of a shard, in blocks that end after a match of `end`; see `blocks.blocks`."""
    with open_text(shard.source, how, shard.start) as handle:
        for offset, data in blocks.blocks(handle, shard.start, shard.stop, end, limit=limit):
            yield blocks.decode(data, path=shard.source, offset=offset, errors=how.errors)


@dataclass(frozen=True, slots=True)
class FileDataset:
    """A dataset of files, each of one language.

    `files` maps a language to its files, in order. `kind` is "text" or "code"; `word_unit` is "gold" where
    documents carry words and "" where the tally chooses; `consecutive` says that documents follow one another
    in a text; `about` is what the manifest says of the dataset, and `note` what its user is
    told when it is opened.
    """

    name: str
    files: Mapping[str, Sequence[str]]
    format: Format
    parallel: bool = False
    kind: str = "text"
    word_unit: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    consecutive: bool = False
    note: str = ""

    @property
    def languages(self) -> Sequence[str]:
        """The languages, in order."""
        return list(self.files)

    def shards(self, language: str) -> Sequence[Shard]:
        """The shards of one language, in order: parts of large files, groups of small ones."""
        if language not in self.files:
            raise CorpusError(f"{self.name} has no language {language!r}; it has {', '.join(self.files)}")
        stored = [stat(path) for path in self.files[language]]
        if not any(file.size for file in stored):
            names = ", ".join(file.path for file in stored[:3]) + (" …" if len(stored) > 3 else "")
            of = f" of {language}" if len(self.files) > 1 else ""
            raise CorpusError(f"{names}: empty, so there is no text{of}")
        return grouped(shard for file in stored if file.size for shard in self.format.shards(file, language))

    def read(self, shard: Shard) -> Iterator[Document]:
        """The documents of a shard, streamed; raises `CorpusError` if a file changed since the plan."""
        return _read(shard, self.format.documents)

    def read_blocks(self, shard: Shard) -> Iterator[TextBlock] | None:
        """The same in blocks, where the format has them."""
        many = getattr(self.format, "text_blocks", None)
        return None if many is None else _read(shard, many)

    def digest(self, shard: Shard) -> str:
        """SHA-256 over the format's options, the language and the content of every file.

        It is the same for the same content, wherever the file lies and however compressed.
        """
        total = hashlib.sha256()
        total.update(json.dumps([self.format.identity(), shard.language], sort_keys=True).encode())
        for part in files_of(shard):
            check_unchanged(part.source, part.stamp)
            own = hashlib.sha256()
            for chunk in self.format.content(part):
                own.update(chunk)
            line = part.extra.get("line", 0)
            total.update(f"|{line}|{part.start == 0}|{own.hexdigest()}".encode())
            check_unchanged(part.source, part.stamp)
        return total.hexdigest()

    def code_language(self, language: str) -> str | None:
        """The programming language of a language tag, for code."""
        return language if self.kind == "code" else None

    def facts(self) -> Mapping[str, Any]:
        """What the manifest says: licence and origin where known, the files otherwise."""
        listed = {language: [str(path) for path in paths][:1000] for language, paths in self.files.items()}
        told = {"consecutive": True} if self.consecutive else {}
        return {"format": dict(self.format.identity()), "files": listed, **told, **self.about}


def grouped(shards: Iterable[Shard]) -> list[Shard]:
    """Shards of one file each, numbered; those that are small whole files share one, up to about 8 MB together.

    A file of which the size is not known has a shard of its own: it may be of any.
    """
    groups: list[list[Shard]] = []
    room = 0
    for shard in shards:
        whole = shard.start == 0 and shard.stop == -1 and shard.n_bytes > 0
        if whole and groups and shard.n_bytes <= room:
            groups[-1].append(shard)
            room -= shard.n_bytes
        else:
            groups.append([shard])
            room = TARGET - shard.n_bytes if whole else 0
    return [replace(_together(group), index=index) for index, group in enumerate(groups)]


def _together(group: Sequence[Shard]) -> Shard:
    """Whole files as one shard."""
    if len(group) == 1:
        return group[0]
    files = [[shard.source, shard.stamp, shard.n_bytes] for shard in group]
    size, stamp = sum(shard.n_bytes for shard in group), hashlib.sha256(json.dumps(files).encode())
    return replace(group[0], n_bytes=size, stamp=stamp.hexdigest()[:16], extra={"files": files})


def files_of(shard: Shard) -> list[Shard]:
    """The shards of one file each that a shard was made of."""
    if "files" not in shard.extra:
        return [shard]
    files = shard.extra["files"]
    return [replace(shard, source=path, stamp=stamp, n_bytes=size, extra={}) for path, stamp, size in files]


def _read(shard: Shard, read: Callable[[Shard], Iterator[Content]]) -> Iterator[Content]:
    """What `read` gives of a shard; each file is looked at before and after, so that no change goes unseen."""
    for part in files_of(shard):
        check_unchanged(part.source, part.stamp)
        yield from read(part)
        check_unchanged(part.source, part.stamp)
