"""Hashing of byte strings in kernels. Every table here compares whole keys: a collision costs time, no more."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import load_u64

_MULTIPLIER_A = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd: spreads low bits upwards
_MULTIPLIER_B = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT_A = np.uint64(29)
_SHIFT_B = np.uint64(32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inline
def mix(low, high):  # type: ignore[no-untyped-def]
    """A 64-bit hash of two 64-bit words: two rounds of multiply and fold."""
    value = (low ^ _MULTIPLIER_A) * _MULTIPLIER_B
    value ^= value >> _SHIFT_A
    value = (value ^ high) * _MULTIPLIER_A
    return value ^ (value >> _SHIFT_B)


@inline
def spread(key):  # type: ignore[no-untyped-def]
    """A 64-bit hash of one word whose *high* bits are good: take as many of them as the table needs."""
    return key * _MULTIPLIER_A


@inline
def spread_two(low, high):  # type: ignore[no-untyped-def]
    """As `spread`, of two words, the second of which may differ in its high bits alone."""
    return (low ^ (high * _MULTIPLIER_B)) * _MULTIPLIER_A


@inline
def first_bytes(word, count):  # type: ignore[no-untyped-def]
    """The first `count` (1 to 8) bytes of a little-endian word, the others zero."""
    return word & (_ALL >> np.uint64(64 - 8 * count))


@inline
def hash_bytes(data, start, length):  # type: ignore[no-untyped-def]
    """A 64-bit hash of ``data[start:start + length]``; reads up to seven bytes past its end."""
    value = np.uint64(length)
    i = 0
    while i + 8 <= length:
        value = mix(value, load_u64(data, start + i))
        i += 8
    if i < length:
        value = mix(value, first_bytes(load_u64(data, start + i), length - i))
    return value


@inline
def equal_bytes(a, a_start, b, b_start, length):  # type: ignore[no-untyped-def]
    """Whether two stretches of `length` bytes are equal; reads up to seven bytes past their ends."""
    i = 0
    while i + 8 <= length:
        if load_u64(a, a_start + i) != load_u64(b, b_start + i):
            return False
        i += 8
    if i < length:
        left = first_bytes(load_u64(a, a_start + i), length - i)
        return left == first_bytes(load_u64(b, b_start + i), length - i)
    return True
