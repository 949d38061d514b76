"""The kernels that take a file's bytes apart into lines: see `tokbench.corpora.lines`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.bits import in_range_64, trailing_zeros
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import copy_bytes_64

ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST, LAST_TWO, LAST_THREE = (np.uint64((1 << 64) - (1 << 64 - size)) for size in (1, 2, 3))
FEED, RETURN, SPACE = 10, 13, 32


@kernel
def lay_lines(chunk: Any, n: int, kept: Any, size: int, begin: int, ends: Any, n_ends: int) -> Any:
    r"""Append the first `n` bytes of `chunk` to `kept`, blank lines and the ``\r`` of ``\r\n`` left out.

    `kept` holds `size` bytes, the last line from `begin` on, and `ends` the `n_ends` places of its line feeds;
    their new numbers are given. Both arrays of bytes have room for 64 more.
    """
    position = 0
    while position < n:
        copy_bytes_64(chunk, position, kept, size)
        took: Any = n - position
        feeds = in_range_64(chunk, position, 0, FEED, 1)
        if took < 64:
            feeds &= ~(ALL << np.uint64(took))
        else:
            took = 64
        while feeds != 0:
            at = size + trailing_zeros(feeds)
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
        >>> from tokbench.kernels.pointers import padded
        >>> [is_utf8(padded(some), len(some)) for some in ("né".encode(), b"n\xff", b"n\xc3")]
        [True, False, False]
    """
    position = 0
    while position < size:
        high = in_range_64(data, position, 0, 0x80, 0x80)
        if high == 0:
            position += 64
            continue
        if size - position < 64:
            high &= ~(ALL << np.uint64(size - position))
        follow = in_range_64(data, position, 0, 0x80, 0x40) & high
        two = in_range_64(data, position, 0, 0xC2, 0x1E) & high
        three = in_range_64(data, position, 0, 0xE0, 0x10) & high
        four = in_range_64(data, position, 0, 0xF0, 5) & high
        if high != follow | two | three | four:
            return False
        # a character that goes on past the 64 bytes is left to the next round
        took = 64
        whole = ALL
        cut = two & LAST | three & LAST_TWO | four & LAST_THREE
        if cut != 0:
            took = trailing_zeros(cut)
            whole = ~(ALL << np.uint64(took))
        two, three, four = two & whole, three & whole, four & whole
        if follow & whole != (two | three | four) << ONE | (three | four) << TWO | four << THREE:
            return False
        if three | four != 0 and has_wrong_second(data, position, follow, three, four):
            return False
        position += took
    return True


@kernel
def has_wrong_second(data: Any, position: Any, follow: Any, three: Any, four: Any) -> Any:
    """Whether a character of three or four bytes is longer than need be, a surrogate, or beyond U+10FFFF."""
    low = in_range_64(data, position, 0, 0x80, 0x20)
    wrong = (three & in_range_64(data, position, 0, 0xE0, 1)) << ONE & low
    wrong |= (three & in_range_64(data, position, 0, 0xED, 1)) << ONE & follow & ~low
    lowest = in_range_64(data, position, 0, 0x80, 0x10)
    wrong |= (four & in_range_64(data, position, 0, 0xF0, 1)) << ONE & lowest
    wrong |= (four & in_range_64(data, position, 0, 0xF4, 1)) << ONE & follow & ~lowest
    return wrong != 0
