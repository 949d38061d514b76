"""Sixty-four bytes at a time as bits, for kernels: LLVM makes a few vector instructions of each.

With ``NUMBA_DISABLE_JIT=1`` each function has a plain form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from tokbench.tally.compiling import inline

BLOCK = 64
AT_ONCE = 16
ONE = np.uint64(1)
_COMPRESS = "llvm.x86.avx512.mask.compress.v64i8"

if config.DISABLE_JIT:

    def in_range_64(data: Any, index: Any, fold: int, low: int, count: int) -> Any:
        """Bit i: whether byte i from `index` on, or-ed with `fold`, is one of the `count` from `low` on."""
        block = np.zeros(BLOCK, np.int64)  # padding, past the end
        there = data[index : index + BLOCK]
        block[: len(there)] = there | np.uint8(fold)
        return np.packbits((block >= low) & (block < low + count), bitorder="little").view(np.uint64)[0]

    def spread_64(data: Any, index: Any, one: Any, two: Any, four: Any) -> None:
        """Write 64 bytes from `index` on: byte i is bit i of `one`, twice that of `two`, 4 times of `four`."""
        masks = np.array([one, two, four], "<u8").view(np.uint8).reshape(3, -1)
        bits = np.unpackbits(masks, axis=1, bitorder="little")
        data[index : index + BLOCK] = bits[0] + 2 * bits[1] + 4 * bits[2]

    def copy_64(source: Any, index: Any, target: Any, place: Any) -> None:
        """Copy 64 bytes from one array of bytes to another."""
        target[place : place + BLOCK] = source[index : index + BLOCK]

    def write_bits(target: Any, n: Any, base: Any, mask: Any) -> Any:
        """Write to `target`, from `n` on, `base` and the index of each bit of a mask; gives the new `n`.

        What stands in the 64 places from `n` on, as far as they are not needed, may be written over.
        """
        bits = np.unpackbits(np.array([mask], "<u8").view(np.uint8), bitorder="little")
        found = np.flatnonzero(bits) + base
        target[n : n + len(found)] = found
        return n + len(found)

    def lowest_bit(mask: Any) -> int:
        """The index of the lowest bit of a mask; 64 where it is 0."""
        return (int(mask) & -int(mask)).bit_length() - 1 if mask else BLOCK

    def highest_bit(mask: Any) -> int:
        """The index of the highest bit of a mask that is not 0."""
        return int(mask).bit_length() - 1

    def count_bits(mask: Any) -> int:
        """How many bits of a mask are set."""
        return int(mask).bit_count()

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def in_range_64(typingctx: Any, data: Any, index: Any, fold: Any, low: Any, count: Any) -> Any:
        """Bit i: whether byte i from `index` on, or-ed with `fold`, is one of the `count` from `low` on."""
        signature = types.uint64(data, types.int64, types.int64, types.int64, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            lanes = ir.VectorType(ir.IntType(8), BLOCK)

            def everywhere(value: Any) -> Any:
                one = builder.insert_element(
                    ir.Constant(lanes, ir.Undefined), builder.trunc(value, ir.IntType(8)), ir.IntType(32)(0)
                )
                same = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
                return builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), same)

            block = builder.load(_address(context, builder, signature.args[0], args[0], args[1]))
            block.align = 1
            shifted = builder.sub(builder.or_(block, everywhere(args[2])), everywhere(args[3]))
            within = builder.icmp_unsigned("<", shifted, everywhere(args[4]))
            return builder.bitcast(within, ir.IntType(BLOCK))

        return signature, codegen

    def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [index]), ir.VectorType(ir.IntType(8), BLOCK).as_pointer())

    @intrinsic  # type: ignore[untyped-decorator]
    def spread_64(typingctx: Any, data: Any, index: Any, one: Any, two: Any, four: Any) -> Any:
        """Write 64 bytes from `index` on: byte i is bit i of `one`, twice that of `two`, 4 times of `four`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            lanes = ir.VectorType(ir.IntType(8), BLOCK)
            none = ir.Constant(lanes, [0] * BLOCK)
            block = none
            for mask, value in zip(args[2:], (1, 2, 4), strict=True):
                bits = builder.bitcast(mask, ir.VectorType(ir.IntType(1), BLOCK))
                block = builder.or_(block, builder.select(bits, ir.Constant(lanes, [value] * BLOCK), none))
            builder.store(block, _address(context, builder, signature.args[0], *args[:2]), align=1)
            return context.get_dummy_value()

        return types.void(data, types.int64, types.uint64, types.uint64, types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_64(typingctx: Any, source: Any, index: Any, target: Any, place: Any) -> Any:
        """Copy 64 bytes from one array of bytes to another."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            block = builder.load(_address(context, builder, signature.args[0], *args[:2]))
            block.align = 1
            builder.store(block, _address(context, builder, signature.args[2], *args[2:]), align=1)
            return context.get_dummy_value()

        return types.void(source, types.int64, target, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest_bit(typingctx: Any, mask: Any) -> Any:
        """The index of the lowest bit of a mask; 64 where it is 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.IntType(1)(0))

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def highest_bit(typingctx: Any, mask: Any) -> Any:
        """The index of the highest bit of a mask that is not 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.sub(ir.IntType(64)(BLOCK - 1), builder.ctlz(args[0], ir.IntType(1)(1)))

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def count_bits(typingctx: Any, mask: Any) -> Any:
        """How many bits of a mask are set."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def write_compressed(typingctx: Any, target: Any, n: Any, base: Any, mask: Any) -> Any:
        """What `write_bits` does, where the processor can press 64 bytes together by a mask."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array, n, base, mask = args
            data = context.make_array(signature.args[0])(context, builder, array).data
            index, place = ir.IntType(32), data.type.pointee
            lanes, flags = ir.VectorType(ir.IntType(8), BLOCK), ir.VectorType(ir.IntType(1), BLOCK)
            compress = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(lanes, [lanes, lanes, flags]), _COMPRESS
            )
            every = ir.Constant(lanes, list(range(BLOCK)))
            found = builder.call(compress, [every, ir.Constant(lanes, None), builder.bitcast(mask, flags)])
            some = ir.VectorType(place, AT_ONCE)
            first = builder.insert_element(
                ir.Constant(some, ir.Undefined), builder.trunc(base, place), index(0)
            )
            same = ir.Constant(ir.VectorType(index, AT_ONCE), None)
            bases = builder.shuffle_vector(first, ir.Constant(some, ir.Undefined), same)

            def write(begin: int) -> None:
                own = ir.Constant(ir.VectorType(index, AT_ONCE), list(range(begin, begin + AT_ONCE)))
                part = builder.shuffle_vector(found, ir.Constant(lanes, ir.Undefined), own)
                address = builder.gep(data, [builder.add(n, n.type(begin))])
                numbers = builder.add(builder.zext(part, some), bases)
                builder.store(numbers, builder.bitcast(address, some.as_pointer()), align=place.width // 8)

            count = builder.ctpop(mask)
            write(0)
            with builder.if_then(builder.icmp_unsigned(">", count, count.type(AT_ONCE)), likely=False):
                for begin in range(AT_ONCE, BLOCK, AT_ONCE):
                    write(begin)
            return builder.add(n, count)

        return types.int64(target, types.int64, types.int64, types.uint64), codegen

    @inline
    def write_by_eights(target: Any, n: Any, base: Any, mask: Any) -> Any:
        """What `write_bits` does, on any processor: no branch depends on a single bit."""
        total = n + count_bits(mask)
        while n < total:
            for index in range(n, n + 8):
                target[index] = base + lowest_bit(mask)
                mask &= mask - ONE
            n += 8
        return total

    CAN_COMPRESS = "+avx512vbmi2" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    write_bits = write_compressed if CAN_COMPRESS else write_by_eights
