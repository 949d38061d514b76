"""Lists of ids to text by a function of Python, beside the plain formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from tokbench.kernels.joining import list_decoder
from tokbench.kernels.pointers import PADDING

ROWS = [
    b"a",
    b"",
    "é".encode(),
    "日".encode(),
    b"\xff",
    b"\xe6\x97",
    b"\xa5",
    b"fifteen letters",
    b"x" * 16,
    b"y" * 17,
]
ROWS.append("naïve ".encode() * 9)
STARTS = np.cumsum([0, *map(len, ROWS)])
DECODE = list_decoder(
    np.frombuffer(b"".join(ROWS) + bytes(PADDING), np.uint8),
    STARTS,
    lambda *given, **named: ("left", given, named),
)

called_directly = pytest.mark.skipif(config.DISABLE_JIT, reason="every list is left to Python")


@called_directly
@given(st.lists(st.integers(0, len(ROWS) - 1)))
def test_as_bytes_joined_and_decoded(ids: list[int]) -> None:
    assert DECODE(ids) == b"".join(ROWS[index] for index in ids).decode("utf-8", "replace")


@called_directly
def test_of_many_ids() -> None:
    ids = np.random.default_rng(0).integers(0, len(ROWS), 100_000).tolist()
    assert DECODE(ids) == b"".join(ROWS[index] for index in ids).decode("utf-8", "replace")


@pytest.mark.parametrize(
    "wrong", [-1, -len(ROWS) - 1, len(ROWS), 2**31, 2**63, -(2**70), 1.0, None, "1", True, np.int64(1)]
)
def test_a_list_with_anything_else_is_left(wrong: Any) -> None:
    for ids in ([wrong], [0, 1, wrong], [wrong, *range(9)]):
        left, given, named = DECODE(ids)
        assert (left, named) == ("left", {})
        assert given[0] is ids


@pytest.mark.parametrize("ids", [(0, 1), np.array([0, 1]), range(2), None, type("Ids", (list,), {})([0])])
def test_what_is_no_list_is_left(ids: Any) -> None:
    assert DECODE(ids)[0] == "left"


def test_other_arguments_are_left() -> None:
    assert DECODE() == ("left", (), {})
    assert DECODE([0], [1]) == ("left", ([0], [1]), {})
    assert DECODE([0], key=1) == ("left", ([0],), {"key": 1})
