"""The dataset that every family of files shares: files by language, a format that cuts and reads them.

A `Format` knows one way of laying documents into a file. Everything else is here once: which shards there
are, that a file did not change since it was planned, and what a shard's digest is made of.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A part of one file, all of it for ``stop=-1``.

    `start` and `stop` are in the format's unit; `line` numbers the first document; `n_bytes` are those of text.
    """

    path: str
    stamp: str
    start: int = 0
    stop: int = -1
    n_bytes: int = 0
    line: int = 0


class Format(Protocol):
    """How documents lie in a file. Formats are small, frozen and hold only options.

    One whose documents are text alone and many to a file may have `text_blocks(piece)` as well: what
    `documents` gives as `TextBlock`s, many at a time.
    """

    def identity(self) -> Mapping[str, Any]:
        """Everything that decides how bytes become documents, ready for JSON: a part of the digest."""
        ...

    def pieces(self, file: StoredFile) -> Sequence[FilePiece]:
        """The file in pieces of about 8 MB, in order."""
        ...

    def documents(self, piece: FilePiece, language: str) -> Iterator[Document]:
        """The documents of a piece in `language`, streamed."""
        ...

    def content(self, piece: FilePiece) -> Iterator[bytes]:
        """The bytes that decide the piece's documents: those of its range."""
        return byte_range(piece)


def text_bytes(file: StoredFile) -> int:
    """How many bytes of text a file may hold: exact for a plain file, guessed for a compressed one."""
    return max(0, file.size) * (_EXPANSION if compression(file.path) else 1)


def byte_range(piece: FilePiece) -> Iterator[bytes]:
    """The bytes of a piece whose `start` and `stop` are byte positions; all of a file for ``stop=-1``."""
    with open_bytes(piece.path, piece.start) as handle:
        yield from chunks(handle, piece.stop - piece.start if piece.stop >= 0 else None, room=_READ)


def whole_file(file: StoredFile) -> list[FilePiece]:
    """One piece for a file that cannot be cut."""
    return [FilePiece(file.path, file.stamp, n_bytes=text_bytes(file))]


def range_pieces(file: StoredFile, end: re.Pattern[bytes], how: Encoded) -> list[FilePiece]:
    """A file's byte ranges as pieces; the whole of it in any other encoding than UTF-8.

    Raises `CorpusError`, before any work, for a file that does not begin in its encoding.
    """
    blocks.check_beginning(file.path, how)
    if how.encoding != UTF8:
        return whole_file(file)
    ranges = blocks.cut(file, end)
    if len(ranges) == 1:
        return whole_file(file)
    return [FilePiece(file.path, file.stamp, start, stop, stop - start) for start, stop in ranges]


def text_of(
    piece: FilePiece, end: re.Pattern[bytes], how: Encoded, *, limit: int | None = None
) -> Iterator[str]:
    """The text of a piece, in blocks that end after a match of `end`; see `blocks.blocks`."""
    with open_text(piece.path, how, piece.start) as handle:
        for offset, data in blocks.blocks(handle, piece.start, piece.stop, end, limit=limit):
            yield blocks.decode(data, path=piece.path, offset=offset, errors=how.errors)


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
        pieces = [piece for file in stored if file.size for piece in self.format.pieces(file)]
        return shards_of(pieces, language)

    def read(self, shard: Shard) -> Iterator[Document]:
        """The documents of a shard, streamed; raises `CorpusError` if a file changed since the plan."""
        return _read(shard, lambda piece: self.format.documents(piece, shard.language))

    def read_blocks(self, shard: Shard) -> Iterator[TextBlock] | None:
        """The same in blocks, where the format has them."""
        many = getattr(self.format, "text_blocks", None)
        return None if many is None else _read(shard, many)

    def digest(self, shard: Shard) -> str:
        """SHA-256 over the format's options, the language and the content of every piece.

        It is the same for the same content, wherever the file lies and however compressed.
        """
        total = hashlib.sha256()
        total.update(json.dumps([self.format.identity(), shard.language], sort_keys=True).encode())
        for piece in pieces_of(shard):
            check_unchanged(piece.path, piece.stamp)
            own = hashlib.sha256()
            for chunk in self.format.content(piece):
                own.update(chunk)
            total.update(f"|{piece.line}|{piece.start == 0}|{own.hexdigest()}".encode())
            check_unchanged(piece.path, piece.stamp)
        return total.hexdigest()

    def code_language(self, language: str) -> str | None:
        """The programming language of a language tag, for code."""
        return language if self.kind == "code" else None

    def facts(self) -> Mapping[str, Any]:
        """What the manifest says: licence and origin where known, the files otherwise."""
        listed = {language: [str(path) for path in paths][:1000] for language, paths in self.files.items()}
        told = {"consecutive": True} if self.consecutive else {}
        return {"format": dict(self.format.identity()), "files": listed, **told, **self.about}


def shards_of(pieces: Sequence[FilePiece], language: str) -> list[Shard]:
    """One shard per large piece; pieces that are small whole files share one, up to about 8 MB together.

    A file of which the size is not known has a shard of its own: it may be of any.
    """
    groups: list[list[FilePiece]] = []
    room = 0
    for piece in pieces:
        whole = piece.start == 0 and piece.stop == -1 and piece.n_bytes > 0
        if whole and groups and piece.n_bytes <= room:
            groups[-1].append(piece)
            room -= piece.n_bytes
        else:
            groups.append([piece])
            room = TARGET - piece.n_bytes if whole else 0
    return [_shard(group, language, index) for index, group in enumerate(groups)]


def _shard(group: Sequence[FilePiece], language: str, index: int) -> Shard:
    first, size = group[0], sum(piece.n_bytes for piece in group)
    if len(group) == 1:
        extra = {"line": first.line} if first.line else {}
        return Shard(language, first.path, index, first.start, first.stop, size, first.stamp, extra)
    files = [[piece.path, piece.stamp, piece.n_bytes] for piece in group]
    stamp = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]
    return Shard(language, first.path, index, 0, -1, size, stamp, {"files": files})


def pieces_of(shard: Shard) -> list[FilePiece]:
    """The pieces a shard was made of."""
    if "files" in shard.extra:
        return [FilePiece(path, stamp, n_bytes=size) for path, stamp, size in shard.extra["files"]]
    line = int(shard.extra.get("line", 0))
    return [FilePiece(shard.source, shard.stamp, shard.start, shard.stop, shard.n_bytes, line)]


def _read(shard: Shard, read: Callable[[FilePiece], Iterator[Content]]) -> Iterator[Content]:
    """What `read` gives of a shard; each file is looked at before and after, so that no change goes unseen."""
    for piece in pieces_of(shard):
        check_unchanged(piece.path, piece.stamp)
        yield from read(piece)
        check_unchanged(piece.path, piece.stamp)
