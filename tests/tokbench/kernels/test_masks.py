"""Sets of bits over 64 bytes: each against asking byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.kernels import masks
from tokbench.kernels.compiling import kernel
from tokbench.kernels.masks import WINDOW, trailing_zeros
from tokbench.kernels.pointers import pointer

RANGES = {
    "letters": lambda byte: bytes([byte]).isalpha(),
    "lower_case": lambda byte: bytes([byte]).islower(),
    "upper_case": lambda byte: bytes([byte]).isupper(),
    "digits": lambda byte: bytes([byte]).isdigit(),
    "blanks": lambda byte: byte == ord(" "),
    "apostrophes": lambda byte: byte == ord("'"),
    "slashes": lambda byte: byte == ord("/"),
    "white_controls": lambda byte: byte in b"\t\n\v\f\r",
    "line_feeds": lambda byte: byte == ord("\n"),
    "carriage_returns": lambda byte: byte == ord("\r"),
    "beyond_ascii": lambda byte: byte >= 128,
}


def _kernel_of(mask):
    @kernel
    def found(data, at):
        return mask(pointer(data), at)

    return found


@pytest.mark.parametrize("name", RANGES)
def test_ranges_of_bytes(name):
    found = _kernel_of(getattr(masks, name))
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
