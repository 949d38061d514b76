"""Lines of UTF-8 as blocks of documents, without a Python object for each.

Without it, counting novels in six languages with in-house BPE takes 1.25 times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from tokbench.corpora.blocks import BOM
from tokbench.corpus import TextBlock
from tokbench.kernels.bits import ALL, ONE, in_range_64, trailing_zeros
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, Bytes, Ints, copy_bytes_64, frozen

READ = 1 << 18
"""Bytes read at a time: they are still in the processor's cache when their lines are laid out."""
BLOCK = 1 << 20
"""Bytes of a block, from which on it is handed out: a batch of the tally."""

TWO = np.uint64(2)
THREE = np.uint64(3)
LAST, LAST_TWO, LAST_THREE = (np.uint64((1 << 64) - (1 << 64 - size)) for size in (1, 2, 3))
FEED, RETURN, SPACE = 10, 13, 32


class NotUtf8(Exception):
    """There is something in the lines that is not UTF-8."""


def lines_of(data: bytes) -> TextBlock:
    r"""The lines of UTF-8 that are not blank, in the sense of `str.isspace`, without ``\n`` or ``\r\n``.

    The last line may lack its end. Raises `NotUtf8` where a line that is not blank is none.

    Example:
        >>> block = lines_of(b"one\r\n \t\n\ntwo")
        >>> block.data, block.ends.tolist()
        (b'one\ntwo\n', [3, 7])
    """
    lines = _Lines(len(data))
    lines.add(np.frombuffer(data + bytes(PADDING), np.uint8), len(data))
    lines.end()
    return lines.taken()


def line_blocks(handle: IO[bytes], start: int, stop: int) -> Iterator[TextBlock]:
    """The lines of a range as `lines_of` has them, in blocks of about a megabyte.

    `handle` stands at `start`; ``stop=-1`` reads to the end. A byte order mark at 0 is left out.
    """
    chunk = np.zeros(READ + PADDING, np.uint8)
    lines = _Lines(BLOCK + 2 * READ)  # room for the beginning of a line after the block
    remaining = stop - start if stop >= 0 else None
    held = handle.read(len(BOM)) if start == 0 and stop != 0 else b""
    if remaining is not None:
        held = held[:remaining]
        remaining -= len(held)
    if held and held != BOM:
        lines.add(np.frombuffer(held + bytes(PADDING), np.uint8), len(held))
    while remaining != 0:
        room = READ if remaining is None else min(READ, remaining)
        n = handle.readinto(chunk.data[:room])  # type: ignore[attr-defined]
        if not n:
            break
        if remaining is not None:
            remaining -= n
        lines.add(frozen(chunk), n)
        if lines.whole >= BLOCK:
            yield lines.taken()
    lines.end()
    if lines.whole:
        yield lines.taken()


class _Lines:
    """Lines laid out one after another; `whole` is how many bytes of them have their end."""

    __slots__ = ("_ends", "_kept", "_n_ends", "_size", "whole")

    def __init__(self, room: int) -> None:
        self._kept = np.empty(room + PADDING, np.uint8)
        self._ends = np.empty(room + 1, np.int64)
        self._size = self.whole = self._n_ends = 0

    def add(self, chunk: Bytes, n: int) -> None:
        """Append the first `n` bytes of `chunk`, which is read-only and has padding."""
        room = self._size + n
        if room + PADDING > len(self._kept):  # of a long line; twice as much, for it may go on
            self._kept = np.append(self._kept[: self._size], np.empty(room + n + PADDING, np.uint8))
            self._ends = np.append(self._ends[: self._n_ends], np.empty(len(self._kept), np.int64))
        self._size, self.whole, self._n_ends = lay_lines(
            chunk, n, self._kept, self._size, self.whole, self._ends, self._n_ends
        )

    def end(self) -> None:
        """Give the last line its end where it lacks one."""
        if self._size > self.whole:
            if is_blank(self._kept, self.whole, self._size):
                self._size = self.whole
                return
            self._kept[self._size] = ord("\n")
            self._ends[self._n_ends] = self._size
            self._n_ends += 1
            self._size += 1
            self.whole = self._size

    def taken(self) -> TextBlock:
        """The whole lines, which are then no longer here."""
        if not is_utf8(self._kept, self.whole):
            raise NotUtf8
        block = TextBlock(self._kept[: self.whole].tobytes(), self._ends[: self._n_ends].copy())
        rest = self._kept[self.whole : self._size].copy()
        self._kept[: len(rest)] = rest
        self._size, self.whole, self._n_ends = len(rest), 0, 0
        return block


# --- kernels -----------------------------------------------------------------------------------------------


@kernel
def lay_lines(
    chunk: Bytes, n: int, kept: Bytes, size: int, begin: int, ends: Ints, n_ends: int
) -> tuple[int, int, int]:
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
def is_blank(data: Bytes, begin: int, end: int) -> bool:
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
def is_utf8(data: Bytes, size: int) -> bool:
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
def has_wrong_second(data: Bytes, position: int, follow: np.uint64, three: np.uint64, four: np.uint64) -> Any:
    """Whether a character of three or four bytes is longer than need be, a surrogate, or beyond U+10FFFF."""
    low = in_range_64(data, position, 0, 0x80, 0x20)
    wrong = (three & in_range_64(data, position, 0, 0xE0, 1)) << ONE & low
    wrong |= (three & in_range_64(data, position, 0, 0xED, 1)) << ONE & follow & ~low
    lowest = in_range_64(data, position, 0, 0x80, 0x10)
    wrong |= (four & in_range_64(data, position, 0, 0xF0, 1)) << ONE & lowest
    wrong |= (four & in_range_64(data, position, 0, 0xF4, 1)) << ONE & follow & ~lowest
    return wrong != 0
