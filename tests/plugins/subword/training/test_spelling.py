"""What training has learned: tokens spelled, and pairs that were merged twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokbench_subword.bpe.model import each_pair_once
from tokbench_subword.training.spelling import spelled


@st.composite
def _learned(draw: st.DrawFn) -> tuple[list[bytes], list[tuple[int, int, int]]]:
    """First tokens, and merges of what there is: each makes a new token, or one that there is already."""
    tokens = draw(st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=5))
    size, merges = len(tokens), []
    for is_new in draw(st.lists(st.booleans(), max_size=20)):
        token = st.integers(0, size - 1)
        merges.append((draw(token), draw(token), size if is_new else draw(token)))
        size += is_new
    return tokens, merges


def _array(merges: list[tuple[int, int, int]]) -> NDArray[np.int32]:
    return np.array(merges, np.int32).reshape(-1, 3)


def test_no_tokens_and_no_merges() -> None:
    assert spelled([], _array([])) == []
    assert spelled([b"ab"], _array([])) == [b"ab"]


@given(_learned())
def test_a_pair_that_is_merged_twice_has_its_last_place(
    learned: tuple[list[bytes], list[tuple[int, int, int]]],
) -> None:
    merges = learned[1]
    pairs = [merge[:2] for merge in merges]
    expected = [merge for place, merge in enumerate(merges) if merge[:2] not in pairs[place + 1 :]]
    assert each_pair_once(_array(merges)).tolist() == list(map(list, expected))
