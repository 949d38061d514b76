"""Hashing of short byte strings, given as two 64-bit words."""

from __future__ import annotations

import numpy as np

from tokbench_subword.kernels.compiling import inline

_MULTIPLIER_A = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd: spreads low bits upwards
_MULTIPLIER_B = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT_A = np.uint64(29)
_SHIFT_B = np.uint64(32)


@inline
def mix(low, high):  # type: ignore[no-untyped-def]
    """A 64-bit hash of two 64-bit words: two rounds of multiply and fold. Not for adversaries; see below.

    Tables that use it compare whole keys, so a collision costs time, never a wrong answer.
    """
    value = (low ^ _MULTIPLIER_A) * _MULTIPLIER_B
    value ^= value >> _SHIFT_A
    value = (value ^ high) * _MULTIPLIER_A
    return value ^ (value >> _SHIFT_B)


@inline
def spread(key):  # type: ignore[no-untyped-def]
    """A 64-bit hash of one word whose *high* bits are good: take as many of them as the table needs."""
    return key * _MULTIPLIER_A
