"""What kind of file it is that holds no text as it is, told by the signature that it begins with.

Some of them decode as UTF-8: a tar archive of text files does, headers and all.
"""

from __future__ import annotations

import re

_PACKED = "end its name in {}, or unpack it"
_ARCHIVE = "unpack it and name the files"
_OTHERS = "name the files of text, with a pattern"
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
    (rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a[^\n]*[\0-\x08]", "an image", _OTHERS),
    (rb"\x7fELF|\xcf\xfa\xed\xfe|\0asm|MZ[^\n]{0,60}\0", "a compiled program", _OTHERS),
    (rb"%PDF-\d\.\d\s+%[\x80-\xff]{4}", "a PDF document", "extract its text first (pdftotext)"),
)
"""What other kinds of file begin with (a pattern), the name of the kind, and what to do with such a file."""


def other_kind(data: bytes) -> str:
    r"""What kind of file begins with `data` that is no text, and what to do with it; else empty.

    Example:
        >>> other_kind(b"\x1f\x8b\x08\x00"), other_kind(b"PAR1 is what I like.")
        ('gzip data: end its name in .gz, or unpack it', '')
    """
    found = (f"{kind}: {remedy}" for pattern, kind, remedy in _SIGNATURES if re.match(pattern, data))
    return next(found, "")
