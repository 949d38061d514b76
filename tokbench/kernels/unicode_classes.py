r"""The character classes of patterns (``\p{L}``, ``\p{N}``, ``\s``), of a fixed Unicode version.

Libraries disagree here. `tiktoken` and `tokenizers` carry the tables of Unicode 16.0 (tiktoken 0.14 in Rust's
regex-syntax, tokenizers 0.23 in Oniguruma: equal on every code point), while `regex` follows the newest
version and Python's `unicodedata` an older one. Ids that should equal a library's must follow its table, so the
kernels use 16.0, shipped with us (`unicode_16`), whatever is installed.

For patterns that `regex` executes, `moved` says which characters it classifies otherwise;
`pipeline.patterns.regexes` spells their classes out where a text holds one of them.
"""

from __future__ import annotations

import re
import zlib
from base64 import b85decode
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from tokbench.kernels import unicode_16

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CATEGORIES = tuple(unicode_16.NAMES.split())
UNICODE_VERSION = unicode_16.VERSION
"""The Unicode version whose classes every in-house pattern follows."""

N_CODE_POINTS = 0x110000


@lru_cache(maxsize=1)
def general_categories() -> NDArray[np.uint8]:
    """The index into `CATEGORIES` of every code point: uint8 of shape ``(0x110000,)``, read-only.

    Example:
        >>> CATEGORIES[general_categories()[ord("A")]]
        'Lu'
    """
    table = unpacked(unicode_16.PACKED)
    table.flags.writeable = False
    return table


def unpacked(packed: str) -> NDArray[np.uint8]:
    """A number for every code point, uint8 of shape ``(0x110000,)``; packed as tools/unicode_table.py says."""
    import numpy as np

    data = zlib.decompress(b85decode(packed))
    values, lengths, position = [], [], 0
    while position < len(data):
        values.append(data[position])
        position, shift, length = position + 1, 0, 0
        while True:
            byte = data[position]
            position += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        lengths.append(length)
    return np.repeat(np.array(values, np.uint8), lengths)


@lru_cache(maxsize=1)
def white_space() -> NDArray[np.bool_]:
    r"""Which code points ``\s`` stands for (White_Space): bool of shape ``(0x110000,)``, read-only.

    Example:
        >>> [bool(white_space()[ord(one)]) for one in "a\t "]
        [False, True, True]
    """
    import numpy as np

    table = np.array([name[0] == "Z" for name in CATEGORIES])[general_categories()]
    table[[0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85]] = True  # beyond the Z categories
    table.flags.writeable = False
    return table


@lru_cache(maxsize=1)
def moved() -> dict[int, str]:
    """Code points that `regex` puts into another category than 16.0, with their category in 16.0."""
    import numpy as np
    import regex

    table = general_categories()
    in_order, sizes = np.argsort(table, kind="stable"), np.bincount(table, minlength=len(CATEGORIES))
    found: dict[int, str] = {}
    for name, points in zip(CATEGORIES, np.split(in_order, np.cumsum(sizes)[:-1]), strict=True):
        spelled = points[points // 0x800 != 0x1B].astype("<u4")  # surrogates are never in text
        members = spelled.tobytes().decode("utf-32-le")
        for run in regex.findall(rf"\P{{{name}}}+", members):
            found.update(dict.fromkeys(map(ord, run), name))
    return found


@lru_cache(maxsize=1)
def has_moved() -> re.Pattern[str]:
    """Finds, in a text, a character of `moved`."""
    return re.compile(f"[{ranges(moved())}]" if moved() else r"(?!)")


def ranges(points: Iterable[int]) -> str:
    r"""Code points as the inside of a bracket expression.

    Example:
        >>> ranges([0x61, 0x62, 0x63, 0x65])
        '\\U00000061-\\U00000063\\U00000065-\\U00000065'
    """
    runs: list[list[int]] = []
    for point in sorted(points):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in runs)


def exact_class(text: str) -> str:
    r"""``\p{X}`` as a set in which characters that have moved since 16.0 are where they were."""
    name = text[3:-1].lstrip("^").replace("gc=", "")
    inverted = (text[1] == "P") != text[3:-1].startswith("^")
    members = {point for point, category in moved().items() if category.startswith(name)}
    strangers = {point for point, category in moved().items() if not category.startswith(name)}
    if len(name) > 2:  # a script or the like: what was unassigned in 16.0 had none
        strangers = {point for point, category in moved().items() if category == "Cn"}
        members = set()
    inside = f"\\p{{{name}}}"
    if strangers:
        inside = f"[{inside}--[{ranges(strangers)}]]"
    inside += ranges(members)
    return f"[^{inside}]" if inverted else f"[{inside}]"
