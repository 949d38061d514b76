"""Raw pointers for numba kernels, in one place, with the reason for them.

A numba array argument is a struct of seven fields (data, shape, strides, reference count …). Passed between
kernels it is spilled and reloaded at every call, and each index multiplies by a stride, so a byte-wise state
machine that is split into readable functions runs at 25 MB/s. The same functions over plain C pointers are
inlined into one loop and run at 190 MB/s. Hence the rule in this plugin: the *outer* kernel takes arrays,
turns each into a pointer once with `pointer`, and the inner functions take pointers and integers only.

What a pointer gives up is the length: nothing here checks a bound. The caller of a kernel owns that, which is
why pointers never leave compiled code, and the arrays they came from stay arguments of the outer kernel,
alive for as long as it runs.

`load_u64` reads eight bytes at any alignment, which turns comparing and hashing of short words into a few
integer operations. `ascii_letters_16` classifies sixteen bytes at once; LLVM turns it into a handful of
vector instructions on x86-64 and ARM64 alike.

A kernel with twenty arrays spends microseconds on taking them over from Python, more than it needs to encode a
sentence. `block` therefore packs arrays into one argument, and ``u8_in(block, k)`` and its kin give the pointer
of its k-th array. Whoever makes a block keeps the arrays themselves, for as long as the block.

With ``NUMBA_DISABLE_JIT=1`` each function has a plain Python form, so that kernels can be stepped through:
a pointer is then the array itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

PADDING = 16
"""Bytes that must be readable past the last byte given to a kernel that loads sixteen at a time."""

if config.DISABLE_JIT:

    def pointer(array: Any) -> Any:
        """The array itself: plain Python needs no pointer."""
        return array

    def block(arrays: Sequence[Any]) -> Any:
        """Arrays as one argument of a kernel."""
        return list(arrays)

    def u8_in(arrays: Any, index: int) -> Any:
        """The array at `index`, of uint8."""
        return arrays[index]

    u32_in = u64_in = i32_in = i64_in = f64_in = u8_in

    def typed_in(arrays: Any, index: int, example: Any) -> Any:
        """The array at `index`, of the dtype of `example`."""
        return arrays[index]

    def load_u64(data: Any, index: int) -> Any:
        """Eight bytes at `index` as a little-endian uint64."""
        return np.uint64(int.from_bytes(bytes(data[index : index + 8]), "little"))

    def ascii_letters_16(data: Any, index: int) -> int:
        """How many of the sixteen bytes from `index` on are ASCII letters before the first that is not."""
        for count in range(16):
            if not 97 <= (int(data[index + count]) | 32) <= 122:
                return count
        return 16

    def ascii_lowercase_16(data: Any, index: int) -> int:
        """How many of the sixteen bytes from `index` on are in a-z before the first that is not."""
        for count in range(16):
            if not 97 <= int(data[index + count]) <= 122:
                return count
        return 16

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def pointer(typingctx: Any, array: Any) -> Any:
        """The address of the first element of a contiguous `array`, typed by its dtype.

        Holds no reference: keep the array alive while the pointer is used.
        """
        signature = types.CPointer(array.dtype)(array)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return signature, codegen

    def block(arrays: Sequence[Any]) -> Any:
        """Addresses of contiguous arrays, as one uint64 array; the caller keeps the arrays."""
        return np.array([array.ctypes.data for array in arrays], np.uint64)

    def _pointer_in(dtype: Any) -> Any:
        """An intrinsic that gives the pointer at some index of a block."""

        @intrinsic  # type: ignore[untyped-decorator]
        def pointer_in(typingctx: Any, addresses: Any, index: Any) -> Any:
            signature = types.CPointer(dtype)(addresses, types.int64)

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                base = context.make_array(signature.args[0])(context, builder, args[0]).data
                address = builder.load(builder.gep(base, [args[1]]))
                return builder.inttoptr(address, context.get_value_type(signature.return_type))

            return signature, codegen

        return pointer_in

    u8_in = _pointer_in(types.uint8)
    u32_in = _pointer_in(types.uint32)
    u64_in = _pointer_in(types.uint64)
    i32_in = _pointer_in(types.int32)
    i64_in = _pointer_in(types.int64)
    f64_in = _pointer_in(types.float64)

    @intrinsic  # type: ignore[untyped-decorator]
    def typed_in(typingctx: Any, addresses: Any, index: Any, example: Any) -> Any:
        """The pointer at `index` of a block, typed as `example`: for kernels of several precisions."""
        signature = types.CPointer(example.dtype)(addresses, types.int64, example)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = context.make_array(signature.args[0])(context, builder, args[0]).data
            address = builder.load(builder.gep(base, [args[1]]))
            return builder.inttoptr(address, context.get_value_type(signature.return_type))

        return signature, codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def load_u64(typingctx: Any, data: Any, index: Any) -> Any:
        """Eight bytes at `index` of a uint8 pointer as a uint64, at any alignment (native byte order)."""
        signature = types.uint64(data, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = builder.load(_address(builder, args, ir.IntType(64)))
            word.align = 1
            return word

        return signature, codegen

    def _address(builder: Any, args: Any, target: Any) -> Any:
        base = builder.ptrtoint(args[0], ir.IntType(64))
        return builder.inttoptr(builder.add(base, args[1]), target.as_pointer())

    def _leading(builder: Any, args: Any, fold: int) -> Any:
        """The code that counts leading bytes in a-z, after `fold` has been or-ed into each byte."""
        byte, lanes = ir.IntType(8), ir.VectorType(ir.IntType(8), 16)
        chunk = builder.load(_address(builder, args, lanes))
        chunk.align = 1
        chunk = builder.or_(chunk, ir.Constant(lanes, [ir.Constant(byte, fold)] * 16))
        chunk = builder.sub(chunk, ir.Constant(lanes, [ir.Constant(byte, 97)] * 16))
        other = builder.icmp_unsigned(">=", chunk, ir.Constant(lanes, [ir.Constant(byte, 26)] * 16))
        mask = builder.zext(builder.bitcast(other, ir.IntType(16)), ir.IntType(32))
        mask = builder.or_(mask, ir.Constant(ir.IntType(32), 1 << 16))  # a stop, so that the count is <= 16
        return builder.zext(builder.cttz(mask, ir.Constant(ir.IntType(1), 1)), ir.IntType(64))

    @intrinsic  # type: ignore[untyped-decorator]
    def ascii_letters_16(typingctx: Any, data: Any, index: Any) -> Any:
        """How many of the sixteen bytes from `index` on are ASCII letters before the first that is not."""
        signature = types.int64(data, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _leading(builder, args, 32)

        return signature, codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def ascii_lowercase_16(typingctx: Any, data: Any, index: Any) -> Any:
        """How many of the sixteen bytes from `index` on are in a-z before the first that is not."""
        signature = types.int64(data, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _leading(builder, args, 0)

        return signature, codegen
