"""Sixty-four bytes of text as sets of bits: bit k tells whether byte k lies in a range.

A few vector instructions classify all of them at once, on x86-64 and ARM64 alike; finding where a run of
letters ends is then counting the zeros of one number. With ``NUMBA_DISABLE_JIT=1`` each function has a plain
Python form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

WINDOW = 64
"""Bytes that each function looks at, all of which must be readable."""

if config.DISABLE_JIT:

    def _between(low: int, high: int, fold: int = 0) -> Any:
        def mask(data: Any, index: int) -> Any:
            """The bytes of ``data[index:index + 64]`` that lie in a range, as a uint64."""
            window = [int(byte) | fold for byte in data[index : index + WINDOW]]
            return np.uint64(sum(1 << k for k, byte in enumerate(window) if low <= byte <= high))

        return mask

    def trailing_zeros(word: Any) -> int:
        """How many of the low bits of a uint64 are zero: 64 where all are."""
        bits = int(word)
        return (bits & -bits).bit_length() - 1 if bits else WINDOW

else:

    def _between(low: int, high: int, fold: int = 0) -> Any:
        """An intrinsic that tells which bytes lie in ``low..high`` after `fold` has been or-ed into each."""

        @intrinsic  # type: ignore[untyped-decorator]
        def mask(typingctx: Any, data: Any, index: Any) -> Any:
            """The bytes of ``data[index:index + 64]`` that lie in a range, as a uint64."""
            signature = types.uint64(data, types.int64)

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                byte, lanes = ir.IntType(8), ir.VectorType(ir.IntType(8), WINDOW)
                folds, lows, widths = (
                    ir.Constant(lanes, [ir.Constant(byte, value)] * WINDOW) for value in (fold, low, high - low)
                )
                window = builder.load(builder.bitcast(builder.gep(args[0], [args[1]]), lanes.as_pointer()))
                window.align = 1
                inside = builder.icmp_unsigned("<=", builder.sub(builder.or_(window, folds), lows), widths)
                return builder.bitcast(inside, ir.IntType(64))

            return signature, codegen

        return mask

    @intrinsic  # type: ignore[untyped-decorator]
    def trailing_zeros(typingctx: Any, word: Any) -> Any:
        """How many of the low bits of a uint64 are zero: 64 where all are."""
        signature = types.int64(types.uint64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return signature, codegen


letters = _between(0x61, 0x7A, fold=0x20)
lower_case = _between(0x61, 0x7A)
upper_case = _between(0x41, 0x5A)
digits = _between(0x30, 0x39)
blanks = _between(0x20, 0x20)
apostrophes = _between(0x27, 0x27)
white_controls = _between(0x09, 0x0D)
line_feeds = _between(0x0A, 0x0A)
carriage_returns = _between(0x0D, 0x0D)
slashes = _between(0x2F, 0x2F)
beyond_ascii = _between(0x80, 0xFF)
