"""Hashing of byte strings in kernels, for tables and for samples alike.

Sixteen bytes at a time, as two numbers, are combined with the state and multiplied to 128 bits, whose halves
are folded into the next state: every bit of the text reaches every bit of the hash. That is the construction of
Wang Yi's wyhash, here without a seed and with the digits of well-known numbers for constants. It is the same on
every machine, and no help against somebody who looks for texts of equal hash: every table here compares whole
keys, so that a collision costs time and no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numpy.typing import NDArray

from tokbench.kernels.compiling import instruction, kernel, lean_inline
from tokbench.kernels.pointers import Bytes, Int, Word, Words, load_u64

_FIRST = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio. No UTF-8 has these eight bytes, so that no factor is zero, which would hide the other."""
_STATE = np.uint64(0x243F6A8885A308D3)
"""Pi."""
_LAST = np.uint64(0xBB67AE8584CAA73B)
"""The square root of three."""
_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
"""An odd number whose bits look random, for the second of two words."""
_ALL, _NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)
Places = NDArray[np.integer[Any]]
"""Numbers of bytes, of any size."""

if config.DISABLE_JIT:

    def folded(one: Any, other: Any) -> Any:
        """The product of two numbers of 64 bits, its upper half on its lower one by exclusive or."""
        product = int(one) * int(other)
        return np.uint64((product ^ product >> 64) & (1 << 64) - 1)

else:

    @instruction(types.uint64, types.uint64, types.uint64)
    def folded(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The product of two numbers of 64 bits, its upper half on its lower one by exclusive or."""
        half, whole = ir.IntType(64), ir.IntType(128)
        product = builder.mul(*(builder.zext(each, whole) for each in args))
        upper = builder.lshr(product, whole(64))
        return builder.trunc(builder.xor(product, upper), half)


@lean_inline
def mix(low: Word, high: Word) -> np.uint64:
    """A 64-bit hash of two 64-bit words."""
    return np.uint64(folded(low ^ _FIRST, high ^ _STATE))


@lean_inline
def spread(key: Word) -> np.uint64:
    """A 64-bit hash of one word whose *high* bits are good: take as many of them as the table needs."""
    return key * _FIRST


@lean_inline
def spread_two(low: Word, high: Word) -> np.uint64:
    """As `spread`, of two words, the second of which may differ in its high bits alone."""
    return (low ^ (high * _OTHER)) * _FIRST


@lean_inline
def first_bytes(word: Word, count: Int) -> np.uint64:
    """The first `count` (1 to 8) bytes of a little-endian word, the others zero; of no bytes, any word."""
    return word & (_ALL >> np.uint64(64 - 8 * count & 63))


@lean_inline
def hash_bytes(data: Bytes, start: Int, length: Int) -> np.uint64:
    """A 64-bit hash of ``data[start:start + length]``; reads up to seven bytes past its end."""
    state, at, left = _STATE, start, length
    while left >= 16:
        state = folded(load_u64(data, at) ^ _FIRST, load_u64(data, at + 8) ^ state)
        at += 16
        left -= 16
    # what is left, none to fifteen bytes filled up with zeros
    head = tail = _NONE
    if left > 8:
        head, tail = load_u64(data, at), first_bytes(load_u64(data, at + 8), left - 8)
    elif left > 0:
        head = first_bytes(load_u64(data, at), left)
    return np.uint64(folded(folded(head ^ _FIRST, tail ^ state) ^ np.uint64(length), _LAST))


@kernel
def hash_spans(data: Bytes, starts: Places, ends: Places, out: Words) -> None:
    """Write the hash of each span of bytes to `out` (uint64); `data` is followed by padding."""
    for span in range(len(starts)):
        start = np.int64(starts[span])
        out[span] = hash_bytes(data, start, np.int64(ends[span]) - start)


@lean_inline
def equal_bytes(a: Bytes, a_start: Int, b: Bytes, b_start: Int, length: Int) -> bool:
    """Whether two stretches of `length` bytes are equal; reads up to seven bytes past their ends."""
    i = 0
    while i + 8 <= length:
        if load_u64(a, a_start + i) != load_u64(b, b_start + i):
            return False
        i += 8
    if i < length:
        left = first_bytes(load_u64(a, a_start + i), length - i)
        return bool(left == first_bytes(load_u64(b, b_start + i), length - i))
    return True
