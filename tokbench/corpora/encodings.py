"""Text in other encodings than UTF-8: named by an option, read as UTF-8, guessed for the advice in an error.

As a compressed file is decompressed on the way, so a file of ``encoding=cp1252`` becomes UTF-8 on the way, a
chunk at a time; what reads it need not know. It has no positions to start from then, so that it is read from
its beginning and not cut.

A guess goes by byte order marks, by zeros and other controls, which tell UTF-16, and by whether UTF-32 does
decode the bytes. Encodings of two bytes a character are tried: strict, and what comes out must look like the
script they are for. What is left has one byte a character: accents stand alone among Latin letters, Cyrillic
letters stand together.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from tokbench.corpora.storage import chunks, open_bytes
from tokbench.errors import CorpusError, SpecError, nearest
from tokbench.spec import Spec

UTF8 = "utf-8"

LOOKED_AT = 65_536
"""Bytes of a file that are looked at, before any work."""

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", "le"),
    (codecs.BOM_UTF32_BE, "utf-32", "be"),
    (codecs.BOM_UTF16_LE, "utf-16", "le"),
    (codecs.BOM_UTF16_BE, "utf-16", "be"),
)
"""Byte order marks, of which encoding they are, and which order they say."""

_WIDE: tuple[tuple[str, str], ...] = (
    ("cp932", "[\u3040-\u30ff]"),
    ("euc-jp", "[\u3040-\u30ff]"),
    ("cp949", "[\uac00-\ud7a3]"),
    ("gb18030", "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]{3,}"),
    ("big5", "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]{3,}"),
)
"""Encodings of two bytes, by the name that both Python and iconv know, and what most of their text is made of.

An accented letter and the one after it are a Chinese character in the last two, so only such as stand together
are counted there.
"""

_HIGH = re.compile(rb"[\x80-\xff]+")

READ = 1 << 18
"""Bytes of a file that are decoded at a time."""
_LONGEST_MARK = 4

_NO_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
"""What Python counts among the encodings of text, and no file is written in: domain names, escapes, mail."""
_EITHER = ("utf-16", "utf-32")
"""Encodings of which a file's byte order mark says which of two they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """How bytes become text: what they are encoded in, and `errors`, strict or replace, for what is not."""

    errors: str = "strict"
    encoding: str = UTF8

    def told(self, **options: Any) -> dict[str, Any]:
        """A format's identity: its `options` and these. UTF-8 adds nothing: digests are older than this."""
        encoding = {} if self.encoding == UTF8 else {"encoding": self.encoding}
        return {**options, "errors": self.errors, **encoding}


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
def open_text(path: str, how: Encoded, start: int = 0) -> Iterator[IO[bytes]]:
    """The content of a file from byte `start` as UTF-8; `start` must be 0 for any other encoding.

    UTF-8 is handed on as it is, unchecked. What is not in another encoding becomes a `CorpusError` with file,
    line and byte offset where it is read, or U+FFFD with ``errors="replace"``.
    """
    with open_bytes(path, start) as handle:
        if how.encoding == UTF8:
            yield handle
        else:
            yield io.BufferedReader(_Transcoded(handle, path, how.encoding, how.errors), READ)


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
            kept = len(error.object) - len(chunk)  # by the decoder, from before the chunk
            at = self._fed - kept + error.start
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
        decoder = codecs.getincrementaldecoder(self._encoding)("replace")
        with open_bytes(self._path) as source:
            return 1 + sum(decoder.decode(chunk).count("\n") for chunk in chunks(source, offset))


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


def encoded_by(spec: Spec) -> dict[str, str]:
    """The fields of an `Encoded` as the options of a spec have them."""
    return {"errors": spec.get("errors", "strict"), "encoding": encoding_of(spec)}


def likely_encoding(data: bytes, *, beginning: bool = True) -> str:
    """The name, for Python and iconv, of the encoding that a text seems to be in; empty where most is UTF-8.

    Marks, and where control characters stand, tell at the `beginning` of a file alone.

    Example:
        >>> likely_encoding("crème brûlée".encode("cp1252")), likely_encoding("hi".encode("utf-16"))
        ('cp1252', 'utf-16')
    """
    if beginning:
        for mark, name, _ in MARKS:
            if data.startswith(mark):
                return name
    read = data.decode("utf-8", "replace")
    wrong = read.count("\ufffd")
    if 3 * wrong < sum(character > "\x7f" for character in read):
        return ""
    if beginning:
        name, share = _utf16(data)
        if found := _utf32(data) or (name if share > 0.25 else ""):
            return found
    for name, script in _WIDE:
        if _share(data, name, script) > (0.3 if name in ("cp932", "euc-jp") else 0.7):
            return name
    runs = _HIGH.findall(data)
    if sum(map(len, runs)) < 2.5 * max(1, len(runs)):
        return "cp1252"
    return max(("cp1251", "koi8-r"), key=lambda name: _share(data, name, "[\u0430-\u044f]"))


def unmarked(data: bytes) -> str:
    r"""Which UTF-16 or UTF-32 without a mark a text is in that can be read as UTF-8, as English can; or empty.

    So can Russian, Hindi and Thai: the first byte of their letters is a control character, that of spaces and
    line ends a zero.

    Example:
        >>> unmarked("plain".encode("utf-16-le")), unmarked("plain".encode("utf-32-be")), unmarked(b"plain")
        ('utf-16-le', 'utf-32-be', '')
    """
    if len(data) < _LEAST_UNMARKED or 0 not in data:
        return ""
    name, share = _utf16(data)
    return _utf32(data) or (name if share > 0.66 and not (data[0::2].count(0) and data[1::2].count(0)) else "")


_LEAST_UNMARKED = 8
"""Bytes from which on zeros at every other place are no chance: shorter texts may be a test of zeros."""


def _utf16(data: bytes) -> tuple[str, float]:
    """Which UTF-16 a text is in if it is, and the share of control characters where that has its first bytes.

    Nothing of text that has no zeros there: tabs alone are no UTF-16.
    """
    halves = data[0::2], data[1::2]
    controls = [len(half) - len(half.translate(None, bytes(range(32)))) for half in halves]
    big = controls[0] > controls[1]
    half = halves[0 if big else 1]
    return ("utf-16-be" if big else "utf-16-le", max(controls) / len(half)) if 0 in half else ("", 0.0)


def _utf32(data: bytes) -> str:
    """Which UTF-32 decodes the bytes to text without a zero; empty where neither does, as of other text."""
    for name in ("utf-32-le", "utf-32-be"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(data)
        except UnicodeDecodeError:
            continue
        if text and "\0" not in text:
            return name
    return ""


def _share(data: bytes, codec: str, script: str) -> float:
    """The share of characters beyond ASCII that a pattern finds; 0 where the bytes are not so encoded."""
    try:
        text = codecs.getincrementaldecoder(codec)().decode(data)
    except UnicodeDecodeError:
        return 0.0
    beyond = sum(character > "\x7f" for character in text)
    return sum(len(found) for found in re.findall(script, text)) / max(1, beyond)
