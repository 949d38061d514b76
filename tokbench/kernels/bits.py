"""Vector operations on 64 bytes at once, for kernels: each gives a uint64 whose bit k is about byte k.

One comparison classifies all 64 bytes, on x86-64 and ARM64 alike; where a run of letters ends is then the
number of zeros at the end of a uint64. `data` is a pointer or an array of uint8 whose next 64
bytes are all readable. With ``NUMBA_DISABLE_JIT=1`` each function has a plain form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types

from tokbench.kernels.compiling import instruction, lean_inline
from tokbench.kernels.lanes import COMPRESSES, compressed
from tokbench.kernels.pointers import Bytes, Int, Word

WINDOW = 64
"""Bytes that are looked at together."""
ZERO, ONE = np.uint64(0), np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

if config.DISABLE_JIT:

    def in_range_64(data: Bytes, index: Int, fold: Int, low: Int, count: Int) -> np.uint64:
        """Bit i: whether byte i from `index` on, or-ed with `fold`, is one of the `count` from `low` on."""
        block = np.zeros(WINDOW, np.int64)  # padding, past the end
        there = data[index : index + WINDOW]
        block[: len(there)] = there | np.uint8(fold)
        mask = np.packbits((block - low) & 0xFF < count, bitorder="little")
        return np.uint64(mask.view(np.uint64)[0])

    def spread_64(data: Bytes, index: Int, one: Word, two: Word, four: Word) -> None:
        """Write 64 bytes from `index` on: byte i is bit i of `one`, twice that of `two`, 4 times of `four`."""
        masks = np.array([one, two, four], "<u8").view(np.uint8).reshape(3, -1)
        bits = np.unpackbits(masks, axis=1, bitorder="little")
        data[index : index + WINDOW] = bits[0] + 2 * bits[1] + 4 * bits[2]

    def trailing_zeros(word: Word) -> int:
        """How many of the low bits of a uint64 are zero: 64 where all are."""
        return (int(word) & -int(word)).bit_length() - 1 if word else WINDOW

    def highest_bit(word: Word) -> int:
        """The index of the highest bit of a uint64 that is not 0."""
        return int(word).bit_length() - 1

    def count_bits(word: Word) -> int:
        """How many bits of a uint64 are set."""
        return int(word).bit_count()

else:
    from tokbench.kernels.pointers import element

    def _window(context: Any, builder: Any, kind: Any, data: Any, index: Any) -> Any:
        """The place of 64 bytes, as a vector's."""
        lanes = ir.VectorType(ir.IntType(8), WINDOW)
        return builder.bitcast(element(context, builder, kind, data, index), lanes.as_pointer())

    def _everywhere(builder: Any, value: Any) -> Any:
        """A vector of 64 times the lowest byte of a number."""
        lanes = ir.Constant(ir.VectorType(ir.IntType(8), WINDOW), ir.Undefined)
        one = builder.insert_element(lanes, builder.trunc(value, ir.IntType(8)), ir.IntType(32)(0))
        same = ir.Constant(ir.VectorType(ir.IntType(32), WINDOW), [0] * WINDOW)
        return builder.shuffle_vector(one, lanes, same)

    @instruction(types.uint64, None, types.int64, types.int64, types.int64, types.int64)
    def in_range_64(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Bit i: whether byte i from `index` on, or-ed with `fold`, is one of the `count` from `low` on."""
        block = builder.load(_window(context, builder, signature.args[0], *args[:2]))
        block.align = 1
        fold, low, count = (_everywhere(builder, each) for each in args[2:])
        within = builder.icmp_unsigned("<", builder.sub(builder.or_(block, fold), low), count)
        return builder.bitcast(within, ir.IntType(WINDOW))

    @instruction(types.void, None, types.int64, types.uint64, types.uint64, types.uint64)
    def spread_64(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write 64 bytes from `index` on: byte i is bit i of `one`, twice that of `two`, 4 times of `four`."""
        lanes = ir.VectorType(ir.IntType(8), WINDOW)
        none = ir.Constant(lanes, [0] * WINDOW)
        block = none
        for mask, value in zip(args[2:], (1, 2, 4), strict=True):
            bits = builder.bitcast(mask, ir.VectorType(ir.IntType(1), WINDOW))
            block = builder.or_(block, builder.select(bits, ir.Constant(lanes, [value] * WINDOW), none))
        builder.store(block, _window(context, builder, signature.args[0], *args[:2])).align = 1
        return context.get_dummy_value()

    @instruction(types.int64, types.uint64)
    def trailing_zeros(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """How many of the low bits of a uint64 are zero: 64 where all are."""
        return builder.cttz(args[0], ir.IntType(1)(0))

    @instruction(types.int64, types.uint64)
    def highest_bit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The index of the highest bit of a uint64 that is not 0."""
        return builder.sub(ir.IntType(64)(WINDOW - 1), builder.ctlz(args[0], ir.IntType(1)(1)))

    @instruction(types.int64, types.uint64)
    def count_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """How many bits of a uint64 are set."""
        return builder.ctpop(args[0])


if COMPRESSES:

    @instruction(types.int64, None, types.int64, types.int64, types.uint64)
    def write_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write to `target`, from `n` on, `base` and the index of each bit of a mask; gives the new `n`.

        `target`, of int32 or int64, has room for 64 from `n` on.
        """
        kind = signature.args[0]
        lanes, number = ir.VectorType(ir.IntType(8), WINDOW), context.get_value_type(kind.dtype)
        chosen = builder.bitcast(args[3], ir.VectorType(ir.IntType(1), WINDOW))
        places = compressed(builder, ir.Constant(lanes, [*range(WINDOW)]), chosen)
        some = ir.VectorType(number, 512 // number.width)  # a register of them
        first = builder.insert_element(
            ir.Constant(some, ir.Undefined), builder.trunc(args[2], number), ir.IntType(32)(0)
        )
        base = builder.shuffle_vector(
            first, first, ir.Constant(ir.VectorType(ir.IntType(32), some.count), None)
        )

        def write(begin: int, end: int) -> None:
            for k in range(begin, end, some.count):
                these = ir.Constant(ir.VectorType(ir.IntType(32), some.count), [*range(k, k + some.count)])
                numbers = builder.zext(builder.shuffle_vector(places, places, these), some)
                place = element(context, builder, kind, args[0], builder.add(args[1], ir.IntType(64)(k)))
                place = builder.bitcast(place, some.as_pointer())
                builder.store(builder.add(numbers, base), place).align = 1

        count, often = builder.ctpop(args[3]), 3 * WINDOW // 8
        often += -often % some.count
        write(0, often)
        with builder.if_then(builder.icmp_unsigned(">", count, ir.IntType(64)(often)), likely=False):
            write(often, WINDOW)
        return builder.add(args[1], count)

else:

    @lean_inline
    def write_bits(target: Any, n: Int, base: Int, mask: Word) -> Int:
        """Write to `target`, from `n` on, `base` and the index of each bit of a mask; gives the new `n`."""
        while mask != ZERO:
            target[n] = base + trailing_zeros(mask)
            mask &= mask - ONE
            n += 1
        return n


def _between(low: int, high: int, fold: int = 0) -> Callable[[Bytes, Int], np.uint64]:
    """A function that tells which bytes lie in ``low..high`` after `fold` has been or-ed into each."""
    count = high - low + 1

    @lean_inline
    def within(data: Bytes, index: Int) -> np.uint64:
        """The bytes of ``data[index:index + 64]`` that lie in a range, as a uint64."""
        return in_range_64(data, index, fold, low, count)

    return within


letters = _between(0x61, 0x7A, fold=0x20)
digits = _between(0x30, 0x39)
