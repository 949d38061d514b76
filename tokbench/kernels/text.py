r"""Turns Python strings into UTF-8 in kernels: many texts at once, without the GIL, into one array.

CPython keeps a string as one, two or four bytes a character, whichever its largest code point needs, and numba
hands that over as it is. So threads can turn text into UTF-8 at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import PADDING, pointer

MOST_BYTES = 4
"""Bytes of UTF-8 for a character, at the most."""
_RUN = 16
"""Characters of ASCII that are written at once."""

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

    def _copy_bytes(source: Any, target: Any, count: int) -> None:
        """The first bytes of one pointer to another."""
        target[:count] = source[:count]

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def _width(typingctx: Any, text: Any) -> Any:
        """How many bytes a character takes in memory: 1, 2 or 4."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
            return builder.sext(string.kind, ir.IntType(64))

        return types.int64(text), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def _characters(typingctx: Any, text: Any, example: Any) -> Any:
        """The pointer to a string's first character, typed as the number `example`."""
        signature = types.CPointer(example)(text, example)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
            return builder.bitcast(string.data, context.get_value_type(signature.return_type))

        return signature, codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def _is_ascii(typingctx: Any, text: Any) -> Any:
        """Whether all characters are ASCII, which a string knows of itself."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
            return builder.icmp_unsigned("!=", string.is_ascii, ir.Constant(string.is_ascii.type, 0))

        return types.boolean(text), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def _copy_bytes(typingctx: Any, source: Any, target: Any, count: Any) -> Any:
        """The first bytes of one pointer to another."""
        signature = types.void(source, target, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cgutils.raw_memcpy(builder, args[1], args[0], args[2], 1)
            return context.get_dummy_value()

        return signature, codegen


@inline
def _all_ascii(characters: Any, first: Any) -> Any:
    """Whether `_RUN` characters are ASCII."""
    every = np.uint32(0)
    for k in range(_RUN):
        every |= np.uint32(characters[first + k])
    return every < 0x80


@inline
def _write(characters: Any, first: Any, stop: Any, data: Any, at: Any) -> Any:
    """Write the text ``characters[first:stop]`` from ``data[at]`` on; return where it ends."""
    while first < stop:
        point = np.int64(characters[first])
        first += 1
        if point < 0x80:
            data[at] = np.uint8(point)
            at += 1
            while first + _RUN <= stop and _all_ascii(characters, first):
                for k in range(_RUN):
                    data[at + k] = np.uint8(characters[first + k])
                first += _RUN
                at += _RUN
            continue
        if point < 0x800:
            data[at] = np.uint8(0xC0 | (point >> 6))
            data[at + 1] = np.uint8(0x80 | (point & 0x3F))
            at += 2
            continue
        if point >> 11 == 0x1B:  # half of a pair, or alone
            follower = np.int64(characters[first]) if first < stop else np.int64(0)
            if point < 0xDC00 and follower >> 10 == 0x37:
                point = 0x10000 + ((point & 0x3FF) << 10) + (follower & 0x3FF)
                first += 1
            else:
                point = np.int64(0xFFFD)
        if point < 0x10000:
            data[at] = np.uint8(0xE0 | (point >> 12))
            data[at + 1] = np.uint8(0x80 | ((point >> 6) & 0x3F))
            data[at + 2] = np.uint8(0x80 | (point & 0x3F))
            at += 3
        else:
            data[at] = np.uint8(0xF0 | (point >> 18))
            data[at + 1] = np.uint8(0x80 | ((point >> 12) & 0x3F))
            data[at + 2] = np.uint8(0x80 | ((point >> 6) & 0x3F))
            data[at + 3] = np.uint8(0x80 | (point & 0x3F))
            at += 4
    return at


@subroutine
def _write_wide(text: Any, first: Any, stop: Any, data: Any, at: Any) -> Any:
    """`_write` the characters of a string from `first` to `stop`, however wide they are in memory."""
    width = _width(text)
    if width == 1:
        return _write(_characters(text, np.uint8(0)), first, stop, data, at)
    if width == 2:
        return _write(_characters(text, np.uint16(0)), first, stop, data, at)
    return _write(_characters(text, np.uint32(0)), first, stop, data, at)


@inline
def write_text(text: Any, data: Any) -> Any:
    """Write the UTF-8 of a text to `data`, a uint8 pointer, as `encode_texts` does; return how long it is."""
    if not _is_ascii(text):
        return _write_wide(text, np.int64(0), np.int64(len(text)), data, np.int64(0))
    _copy_bytes(_characters(text, np.uint8(0)), data, len(text))
    return len(text)


@kernel
def encode_texts(joined: Any, is_ascii: Any, lengths: Any, data_: Any, ends: Any) -> Any:
    """Write the UTF-8 of texts to `data_` (uint8), and to `ends` (int64) where each ends.

    `joined` are the texts one after another, `lengths` (int64) how many characters each has. Surrogates become
    what `utf8.encodable` makes of them. There must be room for `MOST_BYTES` a character.
    """
    data = pointer(data_)
    if is_ascii:
        _copy_bytes(_characters(joined, np.uint8(0)), data, len(joined))
    first = end = np.int64(0)
    for document in range(len(lengths)):
        stop = first + lengths[document]
        end = stop if is_ascii else _write_wide(joined, first, stop, data, end)
        first, ends[document] = stop, end


def utf8_of(
    texts: Sequence[str], lengths: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    r"""Texts in UTF-8 end to end, `PADDING` bytes behind them; and where each begins, and the last ends.

    uint8, which can be written to, and int64 ``(len(texts) + 1,)``; surrogates as in `encode_texts`. `lengths`
    are those of `lengths_of`, where they are at hand.

    Example:
        >>> data, offsets = utf8_of(["ab", "", "\u00e9"])
        >>> data[:4].tobytes(), offsets.tolist()
        (b'ab\xc3\xa9', [0, 2, 2, 4])
    """
    joined, offsets = "".join(texts), np.zeros(len(texts) + 1, np.int64)
    is_ascii = joined.isascii()
    data = np.empty((1 if is_ascii else MOST_BYTES) * len(joined) + PADDING, np.uint8)
    lengths = lengths_of(texts) if lengths is None else lengths
    encode_texts(joined, is_ascii, lengths, data, offsets[1:])
    size = int(offsets[-1]) + PADDING
    data[size - PADDING : size] = 0
    return data[:size], offsets


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
    return np.frombuffer(b"".join([*parts, bytes(spare)]), np.uint8), offsets


def lengths_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """How many characters each text has."""
    return np.fromiter(map(len, texts), np.int64, len(texts))
