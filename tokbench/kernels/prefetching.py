"""Asking for memory ahead of time, for loops over scattered places that are known some rounds before.

A place that is in no cache takes as long to come as a hundred instructions. A loop that asks for what it will
need in a dozen rounds, and meanwhile works on what it asked for before, does not wait for it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def prefetch(data: Any, index: Any) -> None:
        """Nothing: plain Python has no cache lines to ask for."""

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typingctx: Any, data: Any, index: Any) -> Any:
        """Ask for the cache line of ``data[index]``, of a pointer, to be written to; any index does no harm."""
        signature = types.void(data, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            place = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
            builder.call(hint, [place, number(1), number(3), number(1)])  # to write, to keep close, data
            return context.get_dummy_value()

        return signature, codegen
