"""Texts turned into UTF-8 by a kernel, against `str.encode`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.errors import TokenizerError
from tokbench.kernels.text import measured, utf8_of
from tokbench.kernels.utf8 import encodable

_CHARACTERS = st.one_of(
    st.characters(categories=None), st.sampled_from("aé€\ud800\udbff\udc00\udfff\ue000\U0001d800\U0010ffff")
)


def encoded(texts: list[str]) -> list[bytes]:
    data, offsets = utf8_of(texts)
    return [data[start:end].tobytes() for start, end in pairwise(offsets.tolist())]


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


@given(st.lists(st.text(st.sampled_from("a€é😀\ud83d\ude00"), max_size=40), max_size=3), st.integers(0, 70))
def test_runs_of_ascii_among_others(texts: list[str], length: int) -> None:
    texts = [text + "b" * length + text for text in texts]
    assert encoded(texts) == [encodable(text) for text in texts]


@pytest.mark.parametrize("one", ["é", "я", "€", "😀", "\ud83d"])
def test_any_character_at_any_place_of_a_text_of_any_length(one: str) -> None:
    """Characters are written sixteen at a time, the last ones of a text once more with some before them."""
    texts = [other * k + one + "b" * more for k in range(40) for more in range(0, 40, 7) for other in "aéя€😀"]
    assert encoded(texts) == [encodable(text) for text in texts]


class Derived(str):
    """What numpy's strings are, too: a str, but not of the very type."""


@pytest.mark.parametrize("kind", [Derived, np.str_])
@pytest.mark.parametrize("text", ["ab", "é", "€", "😀", ""])
def test_texts_of_types_derived_from_str(kind: type[str], text: str) -> None:
    assert encoded(["a", kind(text), "b"]) == [b"a", text.encode(), b"b"]


@pytest.mark.parametrize("wrong", [None, 3, b"ab", ["a"]])
def test_what_is_no_text_is_an_error(wrong: object) -> None:
    with pytest.raises(TokenizerError, match="demo: a text must be a str, not "):
        measured(["a", wrong, "b"], name="demo")  # type: ignore[list-item]


def test_some_of_a_list() -> None:
    texts = ["ab", "é", "", "€c", "d"]
    data, offsets = utf8_of(texts, 1, 4)
    assert (data[: offsets[-1]].tobytes(), offsets.tolist()) == ("é€c".encode(), [0, 2, 2, 6])


@pytest.mark.parametrize(
    "change",
    [list.pop, list.clear, lambda texts: texts.__setitem__(1, "longer"), lambda texts: texts.__setitem__(1, 3)],
)
def test_a_list_that_is_changed_after_it_was_measured_writes_nothing_beyond_its_room(change: object) -> None:
    texts = ["ab", "cd", "ef"]
    _, rooms = measured(texts)
    change(texts)  # type: ignore[operator]
    with pytest.raises(TokenizerError, match="the list of texts was changed"):
        utf8_of(texts, 0, 3, int(rooms.sum()))
