"""UTF-8 in kernels: valid text only, which is what `str.encode` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Bytes, Int


@inline
def code_point(data: Bytes, index: Int) -> tuple[Any, Any]:
    """The code point that begins at `index` of a uint8 pointer, and its length in bytes: (int64, int64)."""
    first = np.int64(data[index])
    if first < 0x80:
        return first, 1
    second = np.int64(data[index + 1]) & 0x3F
    if first < 0xE0:
        return ((first & 0x1F) << 6) | second, 2
    third = np.int64(data[index + 2]) & 0x3F
    if first < 0xF0:
        return ((first & 0x0F) << 12) | (second << 6) | third, 3
    return ((first & 0x07) << 18) | (second << 12) | (third << 6) | (np.int64(data[index + 3]) & 0x3F), 4


def plain_width_of(first: Int) -> Any:
    """The bytes of the character that begins with the byte `first`."""
    return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)


width_of = inline(plain_width_of)
"""The same within kernels."""


@inline
def character_before(text: Bytes, end: Int) -> np.int64:
    """Where the character begins that ends at byte `end`."""
    end -= 1
    while text[end] & 0xC0 == 0x80:
        end -= 1
    return np.int64(end)


@inline
def put_character(point: Int, out: Bytes, size: Int) -> np.int64:
    """Write a code point as UTF-8; the new size."""
    if point < 0x80:
        out[size] = point
        return np.int64(size + 1)
    if point < 0x800:
        out[size] = 0xC0 | point >> 6
        out[size + 1] = 0x80 | point & 0x3F
        return np.int64(size + 2)
    if point < 0x10000:
        out[size] = 0xE0 | point >> 12
        out[size + 1] = 0x80 | point >> 6 & 0x3F
        out[size + 2] = 0x80 | point & 0x3F
        return np.int64(size + 3)
    out[size] = 0xF0 | point >> 18
    out[size + 1] = 0x80 | point >> 12 & 0x3F
    out[size + 2] = 0x80 | point >> 6 & 0x3F
    out[size + 3] = 0x80 | point & 0x3F
    return np.int64(size + 4)


def encodable(text: str) -> bytes:
    r"""`text` in UTF-8; surrogate pairs become the character they stand for, lone surrogates U+FFFD.

    A Python string can hold surrogates, UTF-8 cannot. tiktoken repairs them in the same way.

    Example:
        >>> encodable("a\ud800") == "a\ufffd".encode()
        True
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return repaired(text).encode()


def repaired(text: str) -> str:
    """`text` without surrogates: pairs joined, lone ones replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def widths_by_first_byte(special: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """How many bytes the characters have that begin with each byte; 0 if one is `special`, or they have four.

    uint8 ``(256,)``, of bool ``(0x110000,)``: what kernels pass over most text by, without decoding it.
    """
    widths = np.zeros(256, np.uint8)
    for width, firsts, size in ((1, range(0x80), 1), (2, range(0xC2, 0xE0), 64), (3, range(0xE0, 0xF0), 4096)):
        for byte in firsts:
            begin = max((0, 0x80, 0x800)[width - 1], (byte - (0, 0xC0, 0xE0)[width - 1]) * size)
            end = (byte + 1 - (0, 0xC0, 0xE0)[width - 1]) * size
            widths[byte] = 0 if special[begin:end].any() else width
    return widths
