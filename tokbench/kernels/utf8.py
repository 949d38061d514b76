"""UTF-8 in kernels: valid text only, which is what `str.encode` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types

from tokbench.kernels.compiling import inline, instruction
from tokbench.kernels.lanes import COMPRESSES, compressed
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


RUN = 16
"""Characters that `put_run` writes."""

if config.DISABLE_JIT:

    def put_run(characters: Any, first: int, skipped: int, data: Any, at: int) -> int:
        """Never called, see `COMPRESSES`."""
        raise AssertionError

else:

    @instruction(types.int64, None, types.int64, types.int64, None, types.int64)
    def put_run(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write `RUN` characters from `first` on, but the `skipped` first of them; how many bytes that is.

        None is half of a pair. Each gets four bytes of a register, from which those that count are moved
        together; 64 bytes are written. Without it, text beyond ASCII takes four to seven times as long to
        write, and later passes 1.13 to 1.29 times as long (21 languages, FLORES; T5, o200k, Qwen2).
        """
        if not COMPRESSES:  # so that kernels can be compiled; they ask before they come here
            return ir.IntType(64)(0)
        wide, bytes_ = ir.VectorType(ir.IntType(32), RUN), ir.VectorType(ir.IntType(8), 4 * RUN)

        def every(value: int) -> Any:
            return ir.Constant(wide, [value] * RUN)

        def part(bits: int, mark: int, place: int) -> Any:
            """The bits of each character from `bits` on, behind `mark`, as the byte at `place`."""
            some = builder.and_(builder.lshr(points, every(bits)), every(0x3F))
            return builder.shl(builder.or_(some, every(mark)), every(8 * place))

        width = signature.args[0].dtype.bitwidth
        place = builder.gep(args[0], [args[1]])
        read = builder.load(builder.bitcast(place, ir.VectorType(ir.IntType(width), RUN).as_pointer()))
        read.align = 1
        points = read if width == 32 else builder.zext(read, wide)
        # as if it took one byte, two, three and four, and how many it takes by its size
        spelled, counted = points, every(0xFF)
        for least, first, n_bytes in ((0x80, 0xC0, 2), (0x800, 0xE0, 3), (0x10000, 0xF0, 4)):
            other = part(6 * (n_bytes - 1), first, 0)
            for byte in range(1, n_bytes):
                other = builder.or_(other, part(6 * (n_bytes - 1 - byte), 0x80, byte))
            longer = builder.icmp_unsigned(">=", points, every(least))
            spelled = builder.select(longer, other, spelled)
            counted = builder.select(longer, every((1 << 8 * n_bytes) - 1), counted)
        skipped = builder.insert_element(every(0), builder.trunc(args[2], ir.IntType(32)), ir.IntType(32)(0))
        skipped = builder.shuffle_vector(skipped, skipped, every(0))
        written = builder.icmp_unsigned(">=", ir.Constant(wide, [*range(RUN)]), skipped)
        count = builder.bitcast(builder.select(written, counted, every(0)), bytes_)
        chosen = builder.icmp_unsigned("!=", count, ir.Constant(bytes_, None))
        together = compressed(builder, builder.bitcast(spelled, bytes_), chosen)
        builder.store(together, builder.bitcast(builder.gep(args[3], [args[4]]), bytes_.as_pointer())).align = 1
        return builder.ctpop(builder.bitcast(chosen, ir.IntType(4 * RUN)))


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
