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
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tokbench.arguments import plain_text
from tokbench.errors import TokenizerError
from tokbench.kernels.calls import ask_for, in_kernels, is_text, item, list_size, string_at
from tokbench.kernels.compiling import inline, instruction, object_kernel, subroutine
from tokbench.kernels.lanes import COMPRESSES
from tokbench.kernels.pointers import PADDING, Bytes, Int, Ints, pointer
from tokbench.kernels.utf8 import RUN, put_character, put_run

CHANGED = "the list of texts was changed while it was encoded"

MOST_BYTES = 4
"""Bytes of UTF-8 for a character, at the most."""
_AHEAD = 12
"""How many strings ahead one is asked for: they lie anywhere in memory, and no processor guesses where.

Without it, lines of 20 characters take 1.5 times as long, of 40 1.2, of 100 1.1 (GPT-2, English).
"""

if config.DISABLE_JIT:

    def _width(text: str) -> int:
        """Any width: plain Python asks for code points."""
        return 4

    def _characters(text: str, example: Any) -> Any:
        """The code points of a string."""
        return [ord(character) for character in text]

    def _is_ascii(text: str) -> bool:
        """Whether all characters are ASCII."""
        return text.isascii()

    def _copy_bytes(source: Any, target: Any, at: int, count: int) -> None:
        """The first bytes of one pointer to ``target[at]`` and those behind it."""
        target[at : at + count] = source[:count]

else:

    @instruction(types.int64, None)
    def _width(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """How many bytes a character takes in memory: 1, 2 or 4."""
        string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
        return builder.sext(string.kind, ir.IntType(64))

    @intrinsic  # type: ignore[untyped-decorator]
    def _characters(typingctx: Any, text: Any, example: Any) -> Any:
        """The pointer to a string's first character, typed as the number `example`."""
        signature = types.CPointer(example)(text, example)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
            return builder.bitcast(string.data, context.get_value_type(signature.return_type))

        return signature, codegen

    @instruction(types.boolean, None)
    def _is_ascii(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Whether all characters are ASCII, which a string knows of itself."""
        string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
        return builder.icmp_unsigned("!=", string.is_ascii, ir.Constant(string.is_ascii.type, 0))

    @instruction(types.void, None, None, types.int64, types.int64)
    def _copy_bytes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The first bytes of one pointer to ``target[at]`` and those behind it."""
        cgutils.raw_memcpy(builder, builder.gep(args[1], [args[2]]), args[0], args[3], 1)
        return context.get_dummy_value()


@inline
def _all_ascii(characters: Any, first: Any) -> Any:
    """Whether `RUN` characters are ASCII."""
    every = np.uint32(0)
    for k in range(RUN):
        every |= np.uint32(characters[first + k])
    return every < 0x80


@inline
def _are_whole(characters: Any, first: Any) -> Any:
    """Whether none of `RUN` characters is half of a pair."""
    whole = True
    for k in range(RUN):
        whole &= np.uint32(characters[first + k]) >> 11 != 0x1B
    return whole


@inline
def _write(characters: Any, first: Any, stop: Any, data: Any, at: Any) -> Any:
    """Write the text ``characters[first:stop]`` from ``data[at]`` on; return where it ends.

    Up to `PADDING` bytes more may be written.
    """
    begin = first
    while first < stop:
        if COMPRESSES:
            run = max(min(first, stop - RUN), begin)  # the last one goes over what is written already
            if run + RUN <= stop and _are_whole(characters, run):
                at += put_run(characters, run, first - run, data, at)
                first = run + RUN
                continue
        point = np.int64(characters[first])
        first += 1
        if point < 0x80:
            data[at] = np.uint8(point)
            at += 1
            while first + RUN <= stop and _all_ascii(characters, first):
                for k in range(RUN):
                    data[at + k] = np.uint8(characters[first + k])
                first += RUN
                at += RUN
            continue
        if point >> 11 == 0x1B:  # half of a pair, or alone
            follower = np.int64(characters[first]) if first < stop else np.int64(0)
            if point < 0xDC00 and follower >> 10 == 0x37:
                point = 0x10000 + ((point & 0x3FF) << 10) + (follower & 0x3FF)
                first += 1
            else:
                point = np.int64(0xFFFD)
        at = put_character(point, data, at)
    return at


@subroutine
def _write_wide(text: Any, data: Any, at: Any) -> Any:
    """`_write` a string, however wide its characters are in memory."""
    width, first, stop = _width(text), np.int64(0), np.int64(len(text))
    if width == 1:
        return _write(_characters(text, np.uint8(0)), first, stop, data, at)
    if width == 2:
        return _write(_characters(text, np.uint16(0)), first, stop, data, at)
    return _write(_characters(text, np.uint32(0)), first, stop, data, at)


@inline
def write_text(text: Any, data: Any, at: Any) -> Any:
    """Write the UTF-8 of a text from ``data[at]`` on, a uint8 pointer; return where it ends.

    Up to `PADDING` bytes more may be written. Surrogates become what `utf8.encodable` makes of them.
    """
    if not _is_ascii(text):
        return _write_wide(text, data, at)
    _copy_bytes(_characters(text, np.uint8(0)), data, at, len(text))
    return at + len(text)


@inline
def _most_bytes(text: Any) -> Any:
    """How many bytes of UTF-8 a text takes at the most."""
    width = np.int64(_width(text))
    return np.int64(len(text)) * (width if _is_ascii(text) or width == MOST_BYTES else width + 1)


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
