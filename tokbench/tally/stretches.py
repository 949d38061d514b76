"""Stretches of bytes that kernels copy, compare and ask for ahead of time.

With ``NUMBA_DISABLE_JIT=1`` each function has a plain form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

SHORT, LONG = 16, 64

if config.DISABLE_JIT:

    def copy_16(source: Any, index: Any, target: Any, place: Any) -> None:
        """Copy 16 bytes from one array of bytes to another."""
        target[place : place + SHORT] = source[index : index + SHORT]

    def differ_64(one: Any, index: Any, other: Any, place: Any) -> Any:
        """Bit i: whether byte i of one array from `index` on differs from that of another from `place` on."""
        different = np.zeros(LONG, np.bool_)  # padding, past the end
        here, there = one[index : index + LONG], other[place : place + LONG]
        size = min(len(here), len(there))
        different[:size] = here[:size] != there[:size]
        return np.packbits(different, bitorder="little").view(np.uint64)[0]

    def prefetch(array: Any, place: Any) -> None:
        """Nothing: plain Python has no cache lines to ask for."""

    prefetch_to_write = prefetch

else:

    def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any, size: int) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [index]), ir.VectorType(ir.IntType(8), size).as_pointer())

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_16(typingctx: Any, source: Any, index: Any, target: Any, place: Any) -> Any:
        """Copy 16 bytes from one array of bytes to another."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            piece = builder.load(_address(context, builder, signature.args[0], args[0], args[1], SHORT))
            piece.align = 1
            builder.store(
                piece, _address(context, builder, signature.args[2], args[2], args[3], SHORT), align=1
            )
            return context.get_dummy_value()

        return types.void(source, types.int64, target, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def differ_64(typingctx: Any, one: Any, index: Any, other: Any, place: Any) -> Any:
        """Bit i: whether byte i of one array from `index` on differs from that of another from `place` on."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pieces = []
            for at in (0, 2):
                place = _address(context, builder, signature.args[at], args[at], args[at + 1], LONG)
                piece = builder.load(place)
                piece.align = 1
                pieces.append(piece)
            return builder.bitcast(builder.icmp_unsigned("!=", *pieces), ir.IntType(LONG))

        return types.uint64(one, types.int64, other, types.int64), codegen

    def _asking(to_write: int) -> Any:
        """An intrinsic that asks for the memory so many bytes from the beginning of an array."""

        @intrinsic  # type: ignore[untyped-decorator]
        def ask(typingctx: Any, array: Any, place: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
                kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
                hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
                begin = context.make_array(signature.args[0])(context, builder, args[0]).data
                line = builder.gep(builder.bitcast(begin, byte), [args[1]])
                builder.call(hint, [line, number(to_write), number(3), number(1)])  # to keep close; data
                return context.get_dummy_value()

            return types.void(array, types.int64), codegen

        return ask

    prefetch, prefetch_to_write = _asking(0), _asking(1)
    """Ask for the memory so many bytes from the beginning of an array, to read or write; no place does harm."""
