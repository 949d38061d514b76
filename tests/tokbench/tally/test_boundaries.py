"""Boundaries as bits, against sets of places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokbench.tally.boundaries import (
    boundaries_from,
    boundary_flags,
    clear,
    is_boundary,
    no_boundaries,
    set_bits,
)

SIZE = 400
PLACES = st.integers(0, SIZE - 1)


@given(st.lists(st.tuples(PLACES, st.integers(0, 2**64 - 1)), max_size=5), st.lists(PLACES, max_size=3), PLACES)
def test_bits_are_where_they_were_put(puts: list[tuple[int, int]], ends: list[int], place: int) -> None:
    boundary = no_boundaries(SIZE)
    expected = set()
    for at, mask in puts:
        mask &= (1 << SIZE - at) - 1
        set_bits(boundary, np.uint64(at), np.uint64(mask))
        expected |= {at + bit for bit in range(64) if mask >> bit & 1}
    for end in ends:
        start = max(0, end - 130)
        clear(boundary, start, end)
        expected -= set(range(start, end + 1))
    assert set(np.flatnonzero(boundary_flags(boundary, SIZE)).tolist()) == expected
    assert bool(is_boundary(boundary, place)) == (place in expected)
    mask = int(boundaries_from(boundary, place))
    assert {place + bit for bit in range(64) if mask >> bit & 1} == {
        at for at in expected if place <= at < place + 64
    }
