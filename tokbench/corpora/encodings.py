"""What a file seems to be that is no UTF-8 text: another encoding, or another kind of file altogether.

An encoding is a guess, for the advice in an error and nothing else. The other kinds are told by the signatures
that they begin with, since some of them decode as UTF-8: a tar archive of text files does, headers and all.

Byte order marks and zero bytes tell UTF-16 and UTF-32. Encodings of two bytes a character are tried: strict,
and what comes out must look like the script they are for. What is left has one byte a character: accents stand
alone among Latin letters, Cyrillic letters stand together.
"""

from __future__ import annotations

import codecs
import re

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

_PACKED = "end its name in {}, or unpack it"
_ARCHIVE = "unpack it and name the files"
_SIGNATURES = (
    (rb"\x1f\x8b", "gzip data", _PACKED.format(".gz")),
    (rb"\x28\xb5\x2f\xfd", "Zstandard data", _PACKED.format(".zst")),
    (rb"\xfd7zXZ\0", "xz data", _PACKED.format(".xz")),
    (rb"BZh\d1AY&SY", "bzip2 data", _PACKED.format(".bz2")),
    (rb"(?s).{257}ustar[\0 ]", "a tar archive", _ARCHIVE),
    (rb"PK\x03\x04", "a ZIP archive or an office document", _ARCHIVE),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _ARCHIVE),
    (rb"Rar!\x1a\x07", "a RAR archive", _ARCHIVE),
    (rb"PAR1[^\n]*[\0-\x08]", "a Parquet file", "name it as parquet:PATH"),
    (rb"ARROW1\0\0", "an Arrow file", "write it as Parquet, and name that as parquet:PATH"),
    (rb"%PDF-\d\.\d\s+%[\x80-\xff]{4}", "a PDF document", "extract its text first (pdftotext)"),
)
"""What other kinds of file begin with (a pattern), the name of the kind, and what to do with such a file."""


def likely_encoding(data: bytes) -> str:
    """The name, for Python and iconv, of the encoding that a text seems to be in; empty where most is UTF-8.

    Example:
        >>> likely_encoding("crème brûlée".encode("cp1252")), likely_encoding("hi".encode("utf-16"))
        ('cp1252', 'utf-16')
    """
    for mark, name, _ in MARKS:
        if data.startswith(mark):
            return name
    read = data.decode("utf-8", "replace")
    wrong = read.count("\ufffd")
    if 3 * wrong < sum(character > "\x7f" for character in read):
        return ""
    zeros = (data[0::2].count(0), data[1::2].count(0))
    if max(zeros) * 4 > len(data) // 2:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    for name, script in _WIDE:
        if _share(data, name, script) > (0.3 if name in ("cp932", "euc-jp") else 0.7):
            return name
    runs = _HIGH.findall(data)
    if sum(map(len, runs)) < 2.5 * max(1, len(runs)):
        return "cp1252"
    return max(("cp1251", "koi8-r"), key=lambda name: _share(data, name, "[\u0430-\u044f]"))


def other_kind(data: bytes) -> str:
    r"""What kind of file begins with `data` that is no text, and what to do with it; else empty.

    Example:
        >>> other_kind(b"\x1f\x8b\x08\x00"), other_kind(b"PAR1 is what I like.")
        ('gzip data: end its name in .gz, or unpack it', '')
    """
    found = (f"{kind}: {remedy}" for pattern, kind, remedy in _SIGNATURES if re.match(pattern, data))
    return next(found, "")


def _share(data: bytes, codec: str, script: str) -> float:
    """The share of characters beyond ASCII that a pattern finds; 0 where the bytes are not so encoded."""
    try:
        text = codecs.getincrementaldecoder(codec)().decode(data)
    except UnicodeDecodeError:
        return 0.0
    beyond = sum(character > "\x7f" for character in text)
    return sum(len(found) for found in re.findall(script, text)) / max(1, beyond)
