"""Sets of bits over 64 bytes: each against asking byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.kernels import bits
from tokbench.kernels.bits import WINDOW, trailing_zeros
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import pointer

RANGES = {
    "letters": lambda byte: bytes([byte]).isalpha(),
    "digits": lambda byte: bytes([byte]).isdigit(),
}


def _kernel_of(mask):
    @kernel
    def found(data, at):
        return mask(pointer(data), at)

    return found


@pytest.mark.parametrize("name", RANGES)
def test_ranges_of_bytes(name):
    found = _kernel_of(getattr(bits, name))
    data = np.arange(256 + 64, dtype=np.int64).astype(np.uint8)
    for at in range(256):
        want = sum(1 << k for k in range(WINDOW) if RANGES[name](int(data[at + k])))
        assert int(found(data, at)) == want


@kernel
def _zeros(word):
    return trailing_zeros(word)


@given(st.integers(0, 2**64 - 1))
def test_trailing_zeros(word):
    assert _zeros(np.uint64(word)) == (f"{word:064b}"[::-1] + "1").index("1") if word else 64


def test_no_bit_at_all():
    assert _zeros(np.uint64(0)) == WINDOW


@kernel
def _write(target, n, base, mask):
    return bits.write_bits(target, n, base, mask)


@given(
    st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1, 0xFFFF, 0x1FFFF])),
    st.integers(0, 70),
    st.integers(0, 1 << 20),
    st.sampled_from([np.int32, np.int64]),
)
def test_the_places_of_bits_are_written(mask, n, base, place):
    target = np.full(256, -1, place)
    places = [base + bit for bit in range(64) if mask >> bit & 1]
    assert _write(target, n, base, np.uint64(mask)) == n + len(places)
    assert target[n : n + len(places)].tolist() == places
    assert (target[:n] == -1).all()
    assert (target[n + 64 :] == -1).all()
