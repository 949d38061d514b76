"""Boundaries as bits, against sets of places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokbench.tally.marks import boundaries_from, clear_boundaries, is_boundary, no_boundaries, set_boundary

SIZE = 400
PLACES = st.integers(0, SIZE - 1)


def boundary_flags(boundary: np.ndarray, size: int) -> np.ndarray:
    """Of each of so many bytes, whether there is a boundary."""
    return np.unpackbits(boundary.astype("<u8").view(np.uint8), count=size, bitorder="little").view(np.bool_)


@given(st.lists(PLACES, max_size=60), st.lists(PLACES, max_size=3), PLACES)
def test_bits_are_where_they_were_put(puts: list[int], ends: list[int], place: int) -> None:
    boundary = no_boundaries(SIZE)
    for at in puts:
        set_boundary(boundary, np.uint64(at))
    expected = set(puts)
    for end in ends:
        start = max(0, end - 130)
        clear_boundaries(boundary, start, end)
        expected -= set(range(start, end + 1))
    assert set(np.flatnonzero(boundary_flags(boundary, SIZE)).tolist()) == expected
    assert bool(is_boundary(boundary, place)) == (place in expected)
    mask = int(boundaries_from(boundary, place))
    assert {place + bit for bit in range(64) if mask >> bit & 1} == {
        at for at in expected if place <= at < place + 64
    }
