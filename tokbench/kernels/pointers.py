"""Pointers for kernels: to arrays, to blocks of arrays; loads and copies of several bytes; prefetching.

An array of numba's is a struct of seven fields, spilled and reloaded at every call, and each index multiplies
by a stride: a byte-wise state machine split into readable functions runs at 25 MB/s so, at 190 MB/s over plain
C pointers. Hence the *outer* kernel takes arrays and turns each into a `pointer` once; the inner functions take
pointers and integers only. Functions that read or write several elements at once take arrays as well.

A pointer does not know its length: nothing here checks a bound. It never leaves compiled code, and the array it
came from stays an argument of the outer kernel, which keeps it alive; one that a kernel itself makes is freed
after its last use, and using a pointer to it does not count: call `keep` after that.

A kernel with twenty arrays spends more on taking them over from Python than it needs to encode a sentence.
`block` therefore packs arrays into one argument, and ``u8_in(block, k)`` and its kin give the pointer of its
k-th array. Whoever makes a block keeps the arrays. A kernel passes a block on as its `pointer`, too: references
to an array are counted at every call that takes it, which can cost as much as encoding a short word.

With ``NUMBA_DISABLE_JIT=1`` each function has a plain Python form, so that kernels can be stepped through:
a pointer is then the array itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tokbench.kernels.compiling import instruction

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]
Keys = NDArray[np.uint32]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Block = NDArray[np.uint64]
"""The types of what kernels take: numbers one behind the other, which compiled code sees as an array or as a
pointer to the first, and plain Python as an array. A `Block` is what `block` makes."""
Int = int | np.int64
Word = int | np.uint64
"""The types of their numbers: a place, a size, a count; bits. A compiled kernel knows no `int` of Python."""

PADDING = 64
"""Bytes that must be readable past the last byte given to a kernel that loads so many at a time."""

if config.DISABLE_JIT:

    def pointer(array: Any) -> Any:
        """The array itself, flat: plain Python needs no pointer. A block of arrays is a list."""
        return array if isinstance(array, list) else array.reshape(-1)

    def keep(array: Any) -> None:
        """Nothing: in plain Python an array stays while anything refers to it."""

    def on_stack(count: int) -> Any:
        """So many bytes to write to, whatever they hold."""
        return np.zeros(count, np.uint8)

    def block(arrays: Sequence[Any]) -> Any:
        """Arrays as one argument of a kernel."""
        return list(arrays)

    def _pointer_in(dtype: Any) -> Any:
        """What gives the array at some index of a block."""
        return getitem

    def load_u64(data: Any, index: Int) -> np.uint64:
        """Eight bytes at `index` as a little-endian uint64; zeros behind an array's end."""
        return np.uint64(int.from_bytes(bytes(data[index : index + 8]), "little"))

    def store_u64(ids: Any, index: Any, word: Any) -> None:
        """The two halves of `word` as uint32 at `index` and ``index + 1``, the lower half first."""
        ids[index], ids[index + 1] = int(word) & 0xFFFFFFFF, int(word) >> 32

    def _copy(bits: int, lanes: int) -> Any:
        def copy(source: Any, begin: Any, target: Any, index: Any) -> None:
            """Some elements from ``source[begin]`` on to ``target[index]`` on, as far as there are some."""
            there = source[begin : begin + lanes]
            target[index : index + len(there)] = there

        return copy

    def prefetch(data: Any, index: Int) -> None:
        """Nothing: plain Python has no cache to fill."""

    prefetch_to_read = prefetch

else:

    def element(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
        """For instructions: the place of an element of an array or pointer, whose numba type is `kind`."""
        begin = (
            array
            if isinstance(kind, types.CPointer)
            else context.make_array(kind)(context, builder, array).data
        )
        return builder.gep(begin, [index])

    @intrinsic  # type: ignore[untyped-decorator]
    def pointer(typingctx: Any, array: Any) -> Any:
        """The address of the first element of a contiguous `array`, typed by its dtype.

        Holds no reference: `keep` an array that the kernel itself made, behind the last use of the pointer.
        """
        signature = types.CPointer(array.dtype)(array)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return signature, codegen

    @instruction(types.void, None)
    def keep(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Have an array live up to here: numba frees it behind its last use, and pointers to it are none."""
        return context.get_dummy_value()

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def on_stack(typingctx: Any, count: Any) -> Any:
        """So many bytes to write to, whatever they hold, for as long as the function runs that calls this.

        A few thousand at the most, and a number that is known when the kernel is compiled.
        """
        if not isinstance(count, types.IntegerLiteral):
            return None
        size = count.literal_value

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return cgutils.alloca_once(builder, ir.IntType(8), size=size)

        return types.CPointer(types.uint8)(count), codegen

    def block(arrays: Sequence[Any]) -> Any:
        """Addresses of contiguous arrays, as one uint64 array; the caller keeps the arrays."""
        return np.array([array.ctypes.data for array in arrays], np.uint64)

    def _address_in(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Code that reads the address at an index of a block, as a pointer of the type that is returned."""
        address = builder.load(element(context, builder, signature.args[0], *args[:2]))
        return builder.inttoptr(address, context.get_value_type(signature.return_type))

    def _pointer_in(dtype: Any) -> Any:
        """An instruction that gives the pointer at some index of a block."""
        return instruction(types.CPointer(dtype), None, types.int64)(_address_in)

    @instruction(types.uint64, None, types.int64)
    def load_u64(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Eight bytes at `index` of uint8 as a uint64, at any alignment (native byte order)."""
        place = element(context, builder, signature.args[0], *args)
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    @instruction(types.void, None, types.int64, types.uint64)
    def store_u64(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The two halves of `word` as uint32 at `index` and ``index + 1``, the lower half first."""
        place = element(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], builder.bitcast(place, ir.IntType(64).as_pointer())).align = 1
        return context.get_dummy_value()

    def _copy(bits: int, lanes: int) -> Any:
        """An instruction that copies so many numbers of so many bits in one move."""

        @instruction(types.void, None, types.int64, None, types.int64)
        def copy(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            numbers = ir.VectorType(ir.IntType(bits), lanes).as_pointer()
            place = element(context, builder, signature.args[0], *args[:2])
            moved = builder.load(builder.bitcast(place, numbers))
            moved.align = bits // 8
            place = element(context, builder, signature.args[2], *args[2:])
            builder.store(moved, builder.bitcast(place, numbers)).align = bits // 8
            return context.get_dummy_value()

        return copy

    def _asking(to_write: int) -> Any:
        """An instruction that asks for the cache line of an element."""

        @instruction(types.void, None, types.int64)
        def ask(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            place = builder.bitcast(element(context, builder, signature.args[0], *args), byte)
            builder.call(hint, [place, number(to_write), number(3), number(1)])  # to keep close; data
            return context.get_dummy_value()

        return ask

    prefetch = _asking(1)
    """Ask for the cache line of ``data[index]``, to be written to; any index does no harm."""
    prefetch_to_read = _asking(0)
    """The same for what will be read only."""

u8_in: Callable[[Block, Int], Bytes] = _pointer_in(types.uint8)
u16_in: Callable[[Block, Int], NDArray[np.uint16]] = _pointer_in(types.uint16)
u32_in: Callable[[Block, Int], Keys] = _pointer_in(types.uint32)
u64_in: Callable[[Block, Int], Words] = _pointer_in(types.uint64)
i32_in: Callable[[Block, Int], Ids] = _pointer_in(types.int32)
i64_in: Callable[[Block, Int], Ints] = _pointer_in(types.int64)
f32_in: Callable[[Block, Int], Singles] = _pointer_in(types.float32)
f64_in: Callable[[Block, Int], Floats] = _pointer_in(types.float64)

copy_ids_8 = _copy(32, 8)
"""Eight ids from ``source[begin]`` on to ``target[index]`` on."""
copy_bytes_16 = _copy(8, 16)
copy_bytes_64 = _copy(8, 64)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, contiguous and read-only: one kind of array, so that a kernel is compiled once."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def padded(data: bytes) -> NDArray[np.uint8]:
    """Text as bytes, uint8, that kernels may read `PADDING` bytes beyond the end of."""
    return np.frombuffer(data + bytes(PADDING), np.uint8)[: len(data)]


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
