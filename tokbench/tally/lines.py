"""The kernels that take a file's bytes apart into lines: see `tokbench.corpora.lines`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import copy_64, in_range_64, lowest_bit
from tokbench.tally.compiling import kernel

ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
FEED, RETURN, SPACE = 10, 13, 32


@kernel
def lay_lines(chunk: Any, n: int, kept: Any, size: int, begin: int, ends: Any, n_ends: int) -> Any:
    r"""Append the first `n` bytes of `chunk` to `kept`, blank lines and the ``\r`` of ``\r\n`` left out.

    `kept` holds `size` bytes, the last line from `begin` on, and `ends` the `n_ends` places of its line feeds;
    their new numbers are given. Both arrays of bytes have room for 64 more.
    """
    position = 0
    while position < n:
        copy_64(chunk, position, kept, size)
        took: Any = n - position
        feeds = in_range_64(chunk, position, 0, FEED, 1)
        if took < 64:
            feeds &= ~(ALL << np.uint64(took))
        else:
            took = 64
        while feeds != 0:
            at = size + lowest_bit(feeds)
            feeds &= feeds - ONE
            end = at
            if at > begin and kept[at - 1] == RETURN:
                end = at - 1
            blank = end == begin
            if not blank and (kept[begin] <= SPACE or kept[begin] >= 0x80):
                blank = is_blank(kept, begin, end)
            if end < at or blank:  # what follows moves down
                took = at + 1 - size
                size = begin - took
                if not blank:
                    kept[end] = FEED
                    ends[n_ends] = end
                    n_ends += 1
                    begin = end + 1
                    size = begin - took
                break
            ends[n_ends] = at
            n_ends += 1
            begin = at + 1
        position += took
        size += took
    return size, begin, n_ends


@kernel
def is_blank(data: Any, begin: int, end: int) -> bool:
    """Whether there is nothing but white space in a line, in the sense of `str.isspace`."""
    position = begin
    while position < end:
        byte = data[position]
        if byte == SPACE or (byte >= 9 and byte <= 13) or (byte >= 28 and byte <= 31):
            position += 1
        elif byte == 0xC2 and position + 1 < end and (data[position + 1] == 0x85 or data[position + 1] == 0xA0):
            position += 2
        elif byte >= 0xE1 and byte <= 0xE3 and position + 2 < end:
            second, third = data[position + 1], data[position + 2]
            if byte == 0xE1:
                space = second == 0x9A and third == 0x80
            elif byte == 0xE3:
                space = second == 0x80 and third == 0x80
            elif second == 0x80:
                space = third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF
            else:
                space = second == 0x81 and third == 0x9F
            if not space:
                return False
            position += 3
        else:
            return False
    return True


@kernel
def is_utf8(data: Any, size: int) -> bool:
    r"""Whether the first `size` bytes are valid UTF-8, without surrogates; 64 more can be read.

    Example:
        >>> from tokbench.tally.compiling import padded
        >>> [is_utf8(padded(some), len(some)) for some in ("né".encode(), b"n\xff", b"n\xc3")]
        [True, False, False]
    """
    position = 0
    while position < size:
        high = in_range_64(data, position, 0, 0x80, 0x80)
        if high == 0:
            position += 64
            continue
        position += lowest_bit(high)
        while position < size and data[position] >= 0x80:
            lead = data[position]
            second = data[position + 1]
            if lead < 0xE0:
                good = lead >= 0xC2
                width = 2
            elif lead < 0xF0:
                good = data[position + 2] & 0xC0 == 0x80
                good = good and (lead != 0xE0 or second >= 0xA0) and (lead != 0xED or second < 0xA0)
                width = 3
            else:
                good = lead <= 0xF4 and data[position + 2] & 0xC0 == 0x80 and data[position + 3] & 0xC0 == 0x80
                good = good and (lead != 0xF0 or second >= 0x90) and (lead != 0xF4 or second < 0x90)
                width = 4
            if not good or second & 0xC0 != 0x80 or position + width > size:
                return False
            position += width
    return True
