"""Raw pointers for numba kernels, in one place, with the reason for them.

A numba array argument is a struct of seven fields (data, shape, strides, reference count …). Passed between
kernels it is spilled and reloaded at every call, and each index multiplies by a stride, so a byte-wise state
machine that is split into readable functions runs at 25 MB/s. The same functions over plain C pointers are
inlined into one loop and run at 190 MB/s. Hence the rule: the *outer* kernel takes arrays,
turns each into a pointer once with `pointer`, and the inner functions take pointers and integers only.

What a pointer gives up is the length: nothing here checks a bound. The caller of a kernel owns that, which is
why pointers never leave compiled code, and the arrays they came from stay arguments of the outer kernel,
alive for as long as it runs.

`load_u64` reads eight bytes at any alignment, which turns comparing and hashing of short words into a few
integer operations; `store_u64` writes two ids at once, `copy_ids_8` eight, `copy_bytes_16` sixteen bytes.

A kernel with twenty arrays spends microseconds on taking them over from Python, more than it needs to encode a
sentence. `block` therefore packs arrays into one argument, and ``u8_in(block, k)`` and its kin give the pointer
of its k-th array. Whoever makes a block keeps the arrays themselves, for as long as the block. A kernel passes
a block on as its `pointer`, too: numba counts the references to an array at every call that takes it, which can
cost as much as encoding a short word.

With ``NUMBA_DISABLE_JIT=1`` each function has a plain Python form, so that kernels can be stepped through:
a pointer is then the array itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

PADDING = 64
"""Bytes that must be readable past the last byte given to a kernel that loads so many at a time."""

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

    def store_u64(ids: Any, index: Any, word: Any) -> None:
        """The two halves of `word` as uint32 at `index` and ``index + 1``, the lower half first."""
        ids[index], ids[index + 1] = int(word) & 0xFFFFFFFF, int(word) >> 32

    def copy_ids_8(source: Any, begin: Any, target: Any, index: Any) -> None:
        """Eight ids from ``source[begin]`` on to ``target[index]`` on."""
        for k in range(8):
            target[index + k] = source[begin + k]

    def copy_bytes_16(source: Any, begin: Any, target: Any, index: Any) -> None:
        """Sixteen bytes from ``source[begin]`` on to ``target[index]`` on."""
        for k in range(16):
            target[index + k] = source[begin + k]

    def prefetch_u64(data: Any, index: Any) -> None:
        """Nothing: plain Python has no cache to fill."""

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

    def _addresses(context: Any, builder: Any, kind: Any, block: Any) -> Any:
        """The place of the addresses of a block, which is the array or its pointer."""
        if isinstance(kind, types.CPointer):
            return block
        return context.make_array(kind)(context, builder, block).data

    def _pointer_in(dtype: Any) -> Any:
        """An intrinsic that gives the pointer at some index of a block."""

        @intrinsic  # type: ignore[untyped-decorator]
        def pointer_in(typingctx: Any, addresses: Any, index: Any) -> Any:
            signature = types.CPointer(dtype)(addresses, types.int64)

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                base = _addresses(context, builder, signature.args[0], args[0])
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
            base = _addresses(context, builder, signature.args[0], args[0])
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

    @intrinsic  # type: ignore[untyped-decorator]
    def store_u64(typingctx: Any, ids: Any, index: Any, word: Any) -> Any:
        """The two halves of `word` as uint32 at `index` and ``index + 1``, the lower half first."""
        signature = types.void(ids, types.int64, types.uint64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.bitcast(builder.gep(args[0], [args[1]]), ir.IntType(64).as_pointer())
            builder.store(args[2], place).align = 1
            return context.get_dummy_value()

        return signature, codegen

    def _copy(bits: int, lanes: int) -> Any:
        """An intrinsic that copies so many numbers of so many bits in one move."""

        @intrinsic  # type: ignore[untyped-decorator]
        def copy(typingctx: Any, source: Any, begin: Any, target: Any, index: Any) -> Any:
            signature = types.void(source, types.int64, target, types.int64)

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                numbers = ir.VectorType(ir.IntType(bits), lanes).as_pointer()
                moved = builder.load(builder.bitcast(builder.gep(args[0], [args[1]]), numbers))
                moved.align = bits // 8
                target = builder.bitcast(builder.gep(args[2], [args[3]]), numbers)
                builder.store(moved, target).align = bits // 8
                return context.get_dummy_value()

            return signature, codegen

        return copy

    copy_ids_8 = _copy(32, 8)
    copy_bytes_16 = _copy(8, 16)

    def _address(builder: Any, args: Any, target: Any) -> Any:
        base = builder.ptrtoint(args[0], ir.IntType(64))
        return builder.inttoptr(builder.add(base, args[1]), target.as_pointer())

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch_u64(typingctx: Any, data: Any, index: Any) -> Any:
        """Tell the processor that the element at `index` of a uint64 pointer will be read soon."""
        signature = types.void(data, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [place, number, number, number]),
                "llvm.prefetch.p0i8",
            )
            address = builder.bitcast(builder.gep(args[0], [args[1]]), place)
            builder.call(function, [address, number(0), number(3), number(1)])  # a read, to be kept, of data
            return context.get_dummy_value()

        return signature, codegen


def side_by_side(arrays: Sequence[Any]) -> list[Any]:
    """Copies of arrays that lie in one allocation, each at the start of a cache line.

    numpy asks for huge pages where an allocation is of four megabytes or more. Tables that are read all over
    are a third faster there, since the processor finds the address of each page without going to memory.
    """
    sizes = [-(-array.nbytes // 64) * 64 for array in arrays]
    room = np.empty(sum(sizes) + 64, np.uint8)
    begin = -room.ctypes.data % 64
    copies = []
    for array, size in zip(arrays, sizes, strict=True):
        copy = room[begin : begin + array.nbytes].view(array.dtype)
        copy[:] = array
        copies.append(copy)
        begin += size
    return copies
