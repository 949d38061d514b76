"""Texts turned into UTF-8 by a kernel, against `str.encode`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.kernels.text import MOST_BYTES, encode_texts, lengths_of
from tokbench.kernels.utf8 import encodable

_CHARACTERS = st.one_of(
    st.characters(categories=None), st.sampled_from("aé€\ud800\udbff\udc00\udfff\ue000\U0001d800\U0010ffff")
)


def encoded(texts: list[str]) -> list[bytes]:
    joined = "".join(texts)
    data, ends = np.empty(MOST_BYTES * len(joined) + 1, np.uint8), np.empty(len(texts), np.int64)
    encode_texts(joined, joined.isascii(), lengths_of(texts), data, ends)
    starts = [0, *ends.tolist()]
    return [data[start:end].tobytes() for start, end in zip(starts, ends.tolist(), strict=False)]


@given(st.lists(st.text(_CHARACTERS, max_size=8), max_size=5))
def test_texts_become_what_python_makes_of_them(texts: list[str]) -> None:
    assert encoded(texts) == [encodable(text) for text in texts]


@pytest.mark.parametrize("last", [0x7F, 0xFF, 0xFFFF, 0x10FFFF])
def test_every_code_point_at_every_width(last: int) -> None:
    """A string's characters take one, two or four bytes in memory, whichever the largest needs."""
    texts = [chr(point) for point in range(last + 1) if not 0xD800 <= point < 0xE000]
    assert encoded(texts) == [text.encode() for text in texts]


def test_halves_of_a_pair_in_two_texts_are_not_joined() -> None:
    assert encoded(["\ud83d", "\ude00", "\ud83d\ude00"]) == ["�".encode(), "�".encode(), "😀".encode()]


@given(st.lists(st.text(st.sampled_from("a€é\ud83d\ude00"), max_size=40), max_size=3), st.integers(0, 70))
def test_runs_of_ascii_among_others(texts: list[str], length: int) -> None:
    texts = [text + "b" * length + text for text in texts]
    assert encoded(texts) == [encodable(text) for text in texts]
