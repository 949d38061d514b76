"""What bits write, on processors of either kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit

from tokbench.tally import bits

FORMS = (
    {"plain": bits.write_bits}
    if config.DISABLE_JIT
    else {"here": bits.write_bits, "by eights": bits.write_by_eights}
)


def called(form: Any) -> Any:
    @njit(_nrt=False)  # type: ignore[untyped-decorator]
    def write(target: Any, n: int, base: int, mask: int) -> int:
        return form(target, n, base, mask)  # type: ignore[no-any-return]

    return write


@pytest.fixture(scope="module", params=FORMS)
def write(request: pytest.FixtureRequest) -> Any:
    return called(FORMS[request.param])


@given(
    st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1, 0xFFFF, 0x1FFFF])),
    st.integers(0, 70),
    st.integers(0, 1 << 20),
    st.sampled_from([np.int32, np.int64]),
)
def test_the_places_of_bits_are_written(write: Any, mask: int, n: int, base: int, place: type) -> None:
    target: Any = np.full(256, -1, place)
    places = [base + bit for bit in range(64) if mask >> bit & 1]
    assert write(target, n, base, np.uint64(mask)) == n + len(places)
    assert target[n : n + len(places)].tolist() == places
    assert (target[:n] == -1).all()
    assert (target[n + 64 :] == -1).all()
