r"""Turns Python strings into UTF-8: those of a list one after another, into one array.

CPython keeps a string as one, two or four bytes a character, whichever its largest code point needs. The
kernels read that where it lies, and each string once. To ask Python for the type and the length of each line of
a batch, and then to join them, took an eighth (later passes) to a sixth (first ones) of encoding English by
GPT-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import plain_text
from tokbench.errors import TokenizerError
from tokbench.kernels.calls import ask_for, in_kernels, is_text, item, list_size, string_at
from tokbench.kernels.characters import RUN, character_at, copy_ascii, is_ascii, put_ascii, put_run, width
from tokbench.kernels.compiling import inline, object_kernel, subroutine
from tokbench.kernels.lanes import COMPRESSES
from tokbench.kernels.pointers import PADDING, Bytes, Int, Ints, pointer
from tokbench.kernels.utf8 import put_character

CHANGED = "the list of texts was changed while it was encoded"

MOST_BYTES = 4
"""Bytes of UTF-8 for a character, at the most."""
_AHEAD = 12
"""How many strings ahead one is asked for: they lie anywhere in memory, and no processor guesses where.

Without it, lines of 20 characters take 1.5 times as long, of 40 1.2, of 100 1.1 (GPT-2, English).
"""


@subroutine
def _write(text: Any, data: Any, at: Any) -> Any:
    """Write the UTF-8 of a text from ``data[at]`` on; return where it ends.

    Up to `PADDING` bytes more may be written.
    """
    first, stop = np.int64(0), np.int64(len(text))
    while first < stop:
        if COMPRESSES:
            begin = min(first, stop - RUN)  # the last run goes over what is written already
            if begin >= 0:
                size = put_run(text, begin, first - begin, data, at)
                if size >= 0:
                    first, at = begin + RUN, at + size
                    continue
        point = character_at(text, first)
        first += 1
        if point < 0x80:
            data[at] = np.uint8(point)
            at += 1
            while first + RUN <= stop and put_ascii(text, first, data, at):
                first += RUN
                at += RUN
            continue
        if point >> 11 == 0x1B:  # half of a pair, or alone
            follower = character_at(text, first) if first < stop else np.int64(0)
            if point < 0xDC00 and follower >> 10 == 0x37:
                point = 0x10000 + ((point & 0x3FF) << 10) + (follower & 0x3FF)
                first += 1
            else:
                point = np.int64(0xFFFD)
        at = put_character(point, data, at)
    return at


@inline
def write_text(text: Any, data: Any, at: Any) -> Any:
    """Write the UTF-8 of a text from ``data[at]`` on, a uint8 pointer; return where it ends.

    Up to `PADDING` bytes more may be written. Surrogates become what `utf8.encodable` makes of them.
    """
    if not is_ascii(text):
        return _write(text, data, at)
    copy_ascii(text, data, at)
    return at + len(text)


@inline
def _most_bytes(text: Any) -> Any:
    """How many bytes of UTF-8 a text takes at the most."""
    bytes_ = np.int64(width(text))
    return np.int64(len(text)) * (bytes_ if is_ascii(text) or bytes_ == MOST_BYTES else bytes_ + 1)


@object_kernel
def _measure(texts: Any, lengths: Ints, rooms: Ints) -> np.int64:
    """`measured`; returns the place of the first text that is no str, or how many there are."""
    count = min(list_size(texts), len(lengths))
    for i in range(count):
        ask_for(item(texts, min(i + _AHEAD, count - 1)))
        if not is_text(item(texts, i)):
            return np.int64(i)
        text = string_at(item(texts, i))
        lengths[i], rooms[i] = len(text), _most_bytes(text)
    return np.int64(count)


@object_kernel
def write_list(texts: Any, first: Int, last: Int, data_: Bytes, ends: Ints) -> np.int64:
    """Write the texts of a list from `first` to `last` to `data_` (uint8), where each ends to `ends` (int64).
    `PADDING` bytes behind `data_` may be written too.

    `texts` is what `in_kernels` makes of the list. Returns how many bytes there are; -1 where the list, which
    other threads may change after it was measured, has texts now that `data_` is too small for.
    """
    data, at, room = pointer(data_), np.int64(0), np.int64(len(data_))
    if list_size(texts) < last:
        return np.int64(-1)
    for i in range(first, last):
        ask_for(item(texts, min(i + _AHEAD, last - 1)))
        if not is_text(item(texts, i)):
            return np.int64(-1)
        text = string_at(item(texts, i))
        if at + _most_bytes(text) > room:
            return np.int64(-1)
        at = np.int64(write_text(text, data, at))
        ends[i - first] = at
    return at


def measured(texts: list[str], *, name: str = "tokbench") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""How many characters each text has, and how many bytes of UTF-8 it may take: int64, both.

    Raises `TokenizerError` where one is no str, in the name of a tokenizer.

    Example:
        >>> [found.tolist() for found in measured(["ab", "", "\u00e9", "\u20ac"])]
        [[2, 0, 1, 1], [2, 0, 2, 3]]
    """
    lengths, rooms = np.zeros((2, len(texts)), np.int64)
    place = _measure(in_kernels(texts), lengths, rooms)
    if place < len(lengths):
        for text in texts[place:]:
            plain_text(text, name=name)
        raise TokenizerError(CHANGED)
    return lengths, rooms


def utf8_of(
    texts: Sequence[str], first: int = 0, last: int | None = None, room: int | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    r"""Texts from `first` to `last` in UTF-8 end to end, then `PADDING` bytes; and where each begins.

    uint8, which can be written to, and int64 ``(last - first + 1,)``, with the end of the last. Surrogates are
    dealt with as in `utf8.encodable`. `room` is how many bytes there may be, where `measured` has told it.

    Example:
        >>> data, offsets = utf8_of(["ab", "", "\u00e9"])
        >>> data[:4].tobytes(), offsets.tolist()
        (b'ab\xc3\xa9', [0, 2, 2, 4])
    """
    texts = texts if isinstance(texts, list) else [*texts]
    last = len(texts) if last is None else last
    room = int(measured(texts[first:last])[1].sum()) if room is None else room
    data, offsets = np.empty(room + PADDING, np.uint8), np.zeros(last - first + 1, np.int64)
    size = write_list(in_kernels(texts), first, last, data[:room], offsets[1:])
    if size < 0:
        raise TokenizerError(CHANGED)
    data[size : size + PADDING] = 0
    return data[: size + PADDING], offsets


def end_to_end(parts: Sequence[bytes], spare: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Bytes one after another, and where each begins and the last ends: uint8 and int64 ``(n + 1,)``.

    Behind the last there are as many zeros as are to `spare`.

    Example:
        >>> data, offsets = end_to_end([b"ab", b"", b"c"])
        >>> data.tobytes(), offsets.tolist()
        (b'abc', [0, 2, 2, 3])
    """
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    stream = BytesIO()
    stream.writelines(parts)  # `join` would take 80 bytes of memory for each part
    stream.write(bytes(spare))
    return np.frombuffer(stream.getvalue(), np.uint8), offsets
