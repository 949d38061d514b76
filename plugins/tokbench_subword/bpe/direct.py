"""Kernels called for arguments of known types, for calls that are to cost less than a microsecond.

Each call of a kernel asks anew which types its arguments have. For a string that takes 1.3 µs, more than it
takes to encode eighty characters. `entry` asks once, beforehand. What it returns must be given arguments of the
same types: nothing checks them any more.

An array costs some 40 ns a call, a number 5: so the block of arrays is passed as its `address`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, typeof, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def entry(kernel: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """The kernel itself."""
        return kernel

    def address(block: Any) -> Any:
        """The block itself: plain Python needs no address."""
        return block

    def block_at(place: Any) -> Any:
        """The block whose address this is."""
        return place

else:

    def entry(kernel: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """The compiled form of a kernel for arguments of the types that these have."""
        compiled: Callable[..., Any] = kernel.compile(tuple(map(typeof, arguments)))  # type: ignore[attr-defined]
        return compiled

    def address(block: Any) -> Any:
        """The address of a block (`pointers.block`), as a number; whoever uses it keeps the block."""
        return int(block.ctypes.data)

    @intrinsic  # type: ignore[untyped-decorator]
    def block_at(typingctx: Any, place: Any) -> Any:
        """The pointer of the block at an address, as kernels pass it on."""
        signature = types.CPointer(types.uint64)(place)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], ir.IntType(64).as_pointer())

        return signature, codegen
