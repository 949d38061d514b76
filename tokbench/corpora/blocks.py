"""Bytes of a file in blocks that end where a document ends, in memory that does not grow with the file.

A block is about a megabyte and ends after a line (or after a blank line); only one document longer than
that makes it longer. This is what both cutting a file into ranges and reading a range rest on.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

from tokbench.corpora.encodings import LOOKED_AT, UTF8, Encoded, likely_encoding, open_text, unmarked
from tokbench.corpora.signatures import other_kind
from tokbench.corpora.storage import StoredFile, chunks, compression, is_remote, open_bytes
from tokbench.errors import CorpusError

LINE_END = re.compile(rb"\n")
BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
TARGET = 8 << 20
"""Bytes of a range that a file is cut into; the last may be up to half as long again."""

BOM = b"\xef\xbb\xbf"
_OVERLAP = 256


def cut(file: StoredFile, end: re.Pattern[bytes], *, target: int = TARGET) -> list[tuple[int, int]]:
    """The ranges ``(start, stop)`` of a file, each ending after a match of `end`.

    The whole of a small file is (0, -1), as is one that cannot be cut: compressed, or of unknown size.
    """
    if compression(file.path) or file.size <= target + target // 2:
        return [(0, -1)]
    ranges, start = [], 0
    with open_bytes(file.path) as handle:
        while file.size - start > target + target // 2:
            stop = _next_end(handle, start + target, file.size, end)
            ranges.append((start, stop))
            start = stop
    return [*ranges, (start, file.size)] if start < file.size else ranges


def _next_end(handle: IO[bytes], position: int, size: int, end: re.Pattern[bytes]) -> int:
    """Where the first match of `end` after `position` ends, or `size`."""
    position -= 1  # a line that ends just before `position` ends there
    handle.seek(position)
    tail = b""
    for chunk in chunks(handle):
        window = tail + chunk
        if match := end.search(window):
            return position - len(tail) + match.end()
        position += len(chunk)
        tail = window[-_OVERLAP:]
    return size


def blocks(
    handle: IO[bytes], start: int, stop: int, end: re.Pattern[bytes] | None, *, limit: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Blocks of the range as (byte offset, bytes), a byte order mark at offset 0 left out.

    `handle` stands at `start`; ``stop=-1`` reads to the end. A block ends after a match of `end`;
    without one, all is a document. With `limit`, a document that exceeds it is handed out in parts of about
    that many bytes, cut where a character ends, so that no part is longer.
    """
    buffer = bytearray()
    offset, searched = start, 0
    for chunk in chunks(handle, stop - start if stop >= 0 else None):
        buffer += chunk
        if offset == 0 and searched == 0 and buffer.startswith(BOM):
            del buffer[: len(BOM)]
            offset = len(BOM)
        done = _last_end(buffer, max(0, searched - _OVERLAP), end)
        while not done and limit and len(buffer) > limit:
            size = character_end(buffer, limit)
            yield offset, bytes(memoryview(buffer)[:size])
            del buffer[:size]
            offset += size
        if done:
            yield offset, bytes(memoryview(buffer)[:done])
            del buffer[:done]
            offset += done
        searched = len(buffer)
    if buffer:
        yield offset, bytes(buffer)


def _last_end(buffer: bytearray, position: int, end: re.Pattern[bytes] | None) -> int:
    if end is None:
        return 0
    if end is LINE_END:  # the common case, ten times faster than by the pattern
        return buffer.rfind(b"\n", position) + 1
    last = 0
    for match in end.finditer(buffer, position):
        last = match.end()
    return last


def character_end(data: bytes | bytearray, limit: int) -> int:
    """The largest size up to `limit` that ends after a blank, or else after a whole UTF-8 character.

    Example:
        >>> character_end("one two".encode(), 5), character_end("αβγ".encode(), 3)
        (4, 2)
    """
    if len(data) <= limit:
        return len(data)
    blank = data.rfind(b" ", limit // 2, limit)
    if blank > 0:
        return blank + 1
    size = limit
    while size > max(1, limit - 3) and data[size] & 0xC0 == 0x80:
        size -= 1
    return size


def decode(data: bytes, *, path: str, offset: int, errors: str) -> str:
    """`data` as UTF-8; raises `CorpusError` with file, line and byte offset. `errors` is strict or replace."""
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise undecodable(data, error, path=path, offset=offset) from None


def check_beginning(path: str, how: Encoded) -> None:
    """Raise `CorpusError` where a file at hand does not begin as text in its encoding, before any work."""
    if is_remote(path):
        return
    with open_bytes(path) as handle:
        kind = other_kind(handle.read(1024))
    if kind:
        raise CorpusError(f"{path}: not text but {kind}")
    if how.errors != "strict":
        return
    with open_text(path, how) as handle:
        data = handle.read(LOOKED_AT)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # a character cut off at the end is none's fault
    except UnicodeDecodeError as error:
        raise undecodable(data, error, path=path, offset=0) from None
    if how.encoding == UTF8 and (name := unmarked(data)):
        raise CorpusError(
            f"{path}: bytes are zero where {name[:6].upper()} has zeros.{_advice(name, path)} "
            "The option errors=replace reads it as it is."
        )


def _advice(encoding: str, path: str) -> str:
    """What to do about a file that seems to be in another encoding than UTF-8."""
    plain = encoding.replace("16-", "16").replace("32-", "32")  # as iconv writes it, and Python too
    return f" It looks like {plain}: say encoding={plain}, or convert it (iconv -f {plain} -t UTF-8 {path})."


def undecodable(data: bytes, error: UnicodeDecodeError, *, path: str, offset: int) -> CorpusError:
    """The error for bytes at `offset` in `path` that are not UTF-8."""
    at = offset + error.start
    beginning = offset <= len(BOM)
    start = 0 if beginning else error.start
    name = likely_encoding(data[start : start + LOOKED_AT], beginning=beginning)
    hint = _advice(name, path) if name else ""
    return CorpusError(
        f"{path}, line {line_number(path, at)}, byte offset {at}: byte 0x{data[error.start]:02x} is not UTF-8 "
        f"({error.reason}).{hint} The option errors=replace reads on with U+FFFD in its place."
    )


def line_number(path: str, offset: int, encoding: str = UTF8) -> int:
    """The number, from 1, of the line that holds byte `offset` of the text in UTF-8; reads up to there."""
    with open_text(path, Encoded(errors="replace", encoding=encoding)) as handle:
        return 1 + sum(chunk.count(b"\n") for chunk in chunks(handle, offset))
