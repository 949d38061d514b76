"""What is lost and how far off it is."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.corpus import Document
from tokbench.tally.collect import collect
from tokbench.tally.loss import kinds_of_loss, same_white_space
from tokbench.tally.roundtrip import edit_distance


def slow_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


@given(st.text(alphabet="abc", max_size=90), st.text(alphabet="abcd", max_size=90))
def test_edit_distance_against_the_textbook(a: str, b: str) -> None:
    assert edit_distance(a, b) == slow_distance(a, b)


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 199), st.text(max_size=2)), max_size=9))
def test_edit_distance_of_any_characters_after_a_few_edits(a: str, edits: list[tuple[int, str]]) -> None:
    b = a
    for at, new in edits:
        b = b[:at] + new + b[at + 1 :]
    assert edit_distance(a, b) == edit_distance(b, a) == slow_distance(a, b)


def test_edit_distance_over_many_blocks() -> None:
    draw = random.Random(3)
    for size in (63, 64, 65, 128, 129, 700):
        a = "".join(draw.choices("ab\ud800漢👩", k=size))
        b = "".join(c for c in a if draw.random() > 0.1) + "".join(draw.choices("abc", k=size // 3))
        assert edit_distance(a, b) == slow_distance(a, b)


@pytest.mark.parametrize(
    ("text", "decoded", "kinds"),
    [
        ("Ab", "ab", ("case",)),
        ("é", "e", ("accents",)),
        ("a  b", "a b", ("white space",)),
        ("²", "2", ("normal form",)),
        ("a\x00b", "ab", ("control characters",)),
        ("É x", "ex", ("case", "accents", "white space")),
        ("ab", "xy", ("other",)),
        ("e\u0301", "é", ("normal form",)),
        ("aé", "a\ufffd", ("replacement character",)),
    ],
)
def test_kinds(text: str, decoded: str, kinds: tuple[str, ...]) -> None:
    assert kinds_of_loss(text, decoded) == kinds


def test_unknown_tokens_are_named() -> None:
    assert kinds_of_loss("a☃", "a[UNK]", unknown=True) == ("unknown token",)


def test_white_space_alone_is_compared() -> None:
    assert same_white_space("A\t b", "x\t y")
    assert not same_white_space("a b", "a\tb")


SPACED = st.text(alphabet=st.sampled_from("ab  \t\n\x1f\x85\xa0\u2003\u200b\u2028é"), max_size=12)


@settings(max_examples=300)
@given(SPACED, SPACED)
def test_runs_of_white_space_are_compared_in_order(text: str, decoded: str) -> None:
    assert same_white_space(text, decoded) == (re.findall(r"\s+", text) == re.findall(r"\s+", decoded))
    assert same_white_space(text, text.replace("a", "é"))


def test_examples_are_kept_by_key_not_by_order(stand_ins) -> None:
    texts = [f"Text number {i}" for i in range(100)]
    one = collect(stand_ins.Lowering(), map(Document, texts), batch_bytes=50)
    other = collect(stand_ins.Lowering(), map(Document, reversed(texts)))
    assert one.losses == other.losses
    assert len(one.losses) == 32
    assert all(loss.kinds == ("case",) and loss.edits == 1 for loss in one.losses)
    assert one.totals["lossy_chars"] == one.chars
    assert one.lossy
