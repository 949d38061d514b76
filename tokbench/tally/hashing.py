"""The hash of a stretch of bytes: 64 bits that place documents in groups and pick the words of a sample.

Sixteen bytes at a time, as two numbers, are combined with the state and multiplied to 128 bits, whose halves
are folded into the next state: every bit of the text reaches every bit of the hash. That is the construction of
Wang Yi's wyhash, here without a seed and with the digits of well-known numbers for constants. It is the same on
every machine, and no help against somebody who looks for texts of equal hash.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from tokbench.tally.compiling import kernel
from tokbench.tally.stretches import prefetch

FIRST = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio. No UTF-8 has these eight bytes, so that no factor is zero, which would hide the other."""
STATE = np.uint64(0x243F6A8885A308D3)
"""Pi."""
LAST = np.uint64(0xBB67AE8584CAA73B)
"""The square root of three."""
MASKS = np.array(
    [[(1 << 8 * min(size, 8)) - 1, (1 << 8 * max(size - 8, 0)) - 1] for size in range(16)], np.uint64
)
"""The bits of the first eight and of the next seven bytes that 0 … 15 bytes fill: uint64 ``(16, 2)``."""
EIGHT, SIXTEEN = np.uint64(8), np.uint64(16)
AHEAD = 1 << 14
"""How many bytes ahead memory is asked for: some pages, since it is the address of each that takes longest."""

if config.DISABLE_JIT:

    def folded(one: Any, other: Any) -> Any:
        """The product of two numbers of 64 bits, its upper half on its lower one by exclusive or."""
        product = int(one) * int(other)
        return np.uint64((product ^ product >> 64) & (1 << 64) - 1)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def folded(typingctx: Any, one: Any, other: Any) -> Any:
        """The product of two numbers of 64 bits, its upper half on its lower one by exclusive or."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            half, whole = ir.IntType(64), ir.IntType(128)
            product = builder.mul(*(builder.zext(each, whole) for each in args))
            upper = builder.lshr(product, whole(64))
            return builder.trunc(builder.xor(product, upper), half)

        return types.uint64(types.uint64, types.uint64), codegen


@kernel
def hash_of(windows: Any, position: Any, end: Any) -> Any:
    """The hash of the bytes from `position` to `end`, both uint64; `windows` go on for 16 bytes behind them."""
    size = end - position
    state = STATE
    while end - position >= SIXTEEN:
        state = folded(windows[position] ^ FIRST, windows[position + EIGHT] ^ state)
        position += SIXTEEN
    # what is left, none to fifteen bytes filled up with zeros, without a branch: nearly all words are so short
    left = end - position
    head, tail = windows[position] & MASKS[left, 0], windows[position + EIGHT] & MASKS[left, 1]
    return folded(folded(head ^ FIRST, tail ^ state) ^ size, LAST)


@kernel
def hash_spans(windows: Any, starts: Any, ends: Any, out: Any) -> None:
    """Write the hash of each span to `out`."""
    for span in range(len(starts)):
        out[span] = hash_of(windows, np.uint64(starts[span]), np.uint64(ends[span]))


@kernel
def low_spans(windows: Any, starts: Any, ends: Any, limit: Any, met: Any, found: Any, hashes: Any) -> int:
    """Write to `found` the spans whose hash is `limit` at most, and their `hashes`; gives how many there are.

    One is left out whose hash is the last in its place of `met`, a table of a power of two of places.
    """
    n = 0
    places = np.uint64(len(met) - 1)
    for span in range(len(starts)):
        if span % 8 == 0:  # about as many share a cache line
            prefetch(windows, starts[span] + AHEAD)
            prefetch(starts, span * starts.itemsize + AHEAD)
            prefetch(ends, span * ends.itemsize + AHEAD)
        own = hash_of(windows, np.uint64(starts[span]), np.uint64(ends[span]))
        if own <= limit and met[own & places] != own:
            met[own & places] = own
            found[n] = span
            hashes[n] = own
            n += 1
    return n
