"""Files in other encodings than UTF-8, read as streams of UTF-8: what reads them need not know.

As a compressed file is decompressed on the way, so a file of ``encoding=cp1252`` becomes UTF-8 on the way, a
chunk at a time. It has no positions to start from then, so that it is read from its beginning and not cut.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from tokbench.corpora.encodings import MARKS, UTF8, likely_encoding
from tokbench.corpora.storage import open_bytes
from tokbench.errors import CorpusError, SpecError, nearest
from tokbench.spec import Spec

READ = 1 << 18
"""Bytes of a file that are decoded at a time."""
_LONGEST_MARK = 4

_NO_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
"""What Python counts among the encodings of text, and no file is written in: domain names, escapes, mail."""
_EITHER = ("utf-16", "utf-32")
"""Encodings of which a file's byte order mark says which of two they are."""


def encoding_of(spec: Spec) -> str:
    """Python's name of the encoding that a spec's option `encoding` names; "utf-8" without it.

    Raises `SpecError` with near names for what is no encoding of text files.
    """
    name = str(spec.get("encoding", UTF8))
    found = _codec(name)
    if found is None:
        from encodings.aliases import aliases

        known = [one.replace("_", "-") for one in {*aliases, *aliases.values()} if not one.isdigit()]
        near = [one for one in nearest(name.replace("_", "-"), known) if _codec(one)]
        guess = f"; did you mean {' or '.join(near)}?" if near else "."
        raise SpecError(
            f"{spec}: {name!r} is no encoding of text files{guess} It takes the names that Python knows, "
            "as cp1252, latin-1, utf-16, shift_jis, gb18030, koi8-r"
        )
    return UTF8 if found.name == "utf-8-sig" else found.name  # a mark at the beginning is never text


def _codec(name: str) -> codecs.CodecInfo | None:
    try:
        " ".encode(name)  # asks whether it is one of text: rot13 and base64 are none
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return found if found.incrementaldecoder and found.name.replace("_", "-") not in _NO_FILES else None


@contextmanager
def open_text(path: str, encoding: str, errors: str = "strict", start: int = 0) -> Iterator[IO[bytes]]:
    """The content of a file from byte `start` as UTF-8; `start` must be 0 for any other `encoding`.

    UTF-8 is handed on as it is, unchecked. What is not in another encoding becomes a `CorpusError` with file,
    line and byte offset where it is read, or U+FFFD with ``errors="replace"``.
    """
    with open_bytes(path, start) as handle:
        if encoding == UTF8:
            yield handle
        else:
            yield io.BufferedReader(_Transcoded(handle, path, encoding, errors), READ)


class _Transcoded(io.RawIOBase):
    """A stream of UTF-8 made of a stream in another encoding."""

    def __init__(self, source: IO[bytes], path: str, encoding: str, errors: str) -> None:
        self._source, self._path, self._encoding, self._errors = source, path, encoding, errors
        self._decoder: codecs.IncrementalDecoder | None = None
        self._fed = 0  # bytes of the source that the decoder had before this chunk
        self._ready = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as what is decoded goes; 0 at the end."""
        while not self._ready and not self._ended:
            chunk = self._source.read(READ if self._decoder else max(READ, _LONGEST_MARK))
            self._ended = not chunk
            self._ready = memoryview(self._decoded(chunk).encode("utf-8"))
            self._fed += len(chunk)
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def _decoded(self, chunk: bytes) -> str:
        first = self._decoder is None
        if self._decoder is None:
            self._encoding = _as_marked(chunk, self._path, self._encoding)
            self._decoder = codecs.getincrementaldecoder(self._encoding)(self._errors)
        try:
            text = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            at = (
                self._fed - (len(error.object) - len(chunk)) + error.start
            )  # what it kept comes before the chunk
            raise CorpusError(
                f"{self._path}, line {self._line(at)}, byte offset {at}: "
                f"byte 0x{error.object[error.start]:02x} is not {self._encoding} ({error.reason}). "
                f"The option errors=replace reads on with U+FFFD in its place."
            ) from None
        if first and text.startswith("\ufffe"):
            raise CorpusError(f"{self._path}: its byte order mark is not that of {self._encoding}")
        return text

    def _line(self, offset: int) -> int:
        """The number, from 1, of the line that holds byte `offset` of the file."""
        decoder, lines = codecs.getincrementaldecoder(self._encoding)("replace"), 1
        with open_bytes(self._path) as source:
            while offset > 0 and (chunk := source.read(min(READ, offset))):
                lines += decoder.decode(chunk).count("\n")
                offset -= len(chunk)
        return lines


def _as_marked(beginning: bytes, path: str, encoding: str) -> str:
    """The encoding of a file with this beginning: which of two its mark says; it must not say another one."""
    if beginning.startswith(codecs.BOM_UTF8):
        raise CorpusError(f"{path}: it begins with the mark of UTF-8, not {encoding}; leave encoding= out")
    if encoding not in _EITHER or not beginning:
        return encoding
    for mark, of, order in MARKS:
        if beginning.startswith(mark) and of == encoding:
            return f"{of}-{order}"  # which leaves the mark where it is, for whoever reads UTF-8
    guess = likely_encoding(beginning)
    hint = guess if guess.startswith(f"{encoding}-") else f"{encoding}-le or {encoding}-be"
    raise CorpusError(f"{path}: there is no byte order mark at its beginning; say encoding={hint}")
