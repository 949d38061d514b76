"""What is lost and how far off it is."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.measure import measure
from tokbench.tally.collect import collect
from tokbench.tally.edits import edit_distance
from tokbench.tally.loss_kinds import kinds_of_loss, same_white_space
from tokbench.tally.lost import what_is_lost
from tokbench.tally.normal_forms import is_diacritic, normal_form
from tokbench.tally.prepare import prepare
from tokbench.tally.tally import Tally


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


def lost_of(*pairs: tuple[str, str], unknown: tuple[int, ...] = ()) -> list[tuple[str, ...]]:
    """What each text lost that came back as another."""
    (batch,) = prepare([Document(text) for text, _ in pairs])
    counts = np.array([*unknown, *[0] * (len(pairs) - len(unknown))], np.int64)
    found = what_is_lost(batch, {i: new for i, (_, new) in enumerate(pairs)}, counts)
    return [
        tuple(name.removesuffix("_lost") for name, own in found.items() if own[i]) for i in range(len(pairs))
    ]


def test_what_each_document_lost() -> None:
    assert lost_of(
        ("Ab É", "ab e"),
        ("a  b\x00", "a b"),
        ("A b", "ab"),
        ("a☃", "a"),
        ("aé", "a\ufffd"),
        ("caf\ufffd X", "caf X"),
        ("Caf\ufffd", "caf\ufffd"),
        ("a\u3000b", "a b"),  # a space of another width
        ("ạ̈b", "ạ̈b"),
        ("ש\u05bc\u05c1x", "ש\u05c1\u05bcx"),  # the same marks in another order
        ("नमस्ते", "नमसत"),
        ("ที่", "ท"),
        ("が", "か"),
        ("Grüße", "grusse"),
    ) == [
        ("form",), ("spaces",), ("form", "spaces"), ("text",), ("text",),
        ("text",), ("form",), ("form",), ("form",), ("form",),
        ("text",), ("text",), ("text",), ("form",),
    ]  # fmt: skip
    assert lost_of(("ab", "a b"), ("ab", "a b"), unknown=(0, 1)) == [("spaces",), ("text",)]


MARKS = "\u0301\u0323\u0344\u0338\u05c1\u05bc\u0f73\uff9e\u0903\u20dd\u0345"


@settings(max_examples=100)
@given(st.text(alphabet="aé가" + MARKS, max_size=9), st.text(alphabet=MARKS, min_size=1, max_size=9))
@pytest.mark.parametrize("form", ["NFD", "NFKC", "NFKD"])
def test_normal_forms_of_long_runs_of_marks(form, text: str, run: str) -> None:
    for each in (text, text + run * 64, text + run * 64 + text):
        assert normal_form(form, each) == unicodedata.normalize(form, each)


@pytest.mark.parametrize(
    "marks", ["\u0301\u0323", "\u0f73", "\u0344\u0323", "\uff9e\u0301", "\u0903\u0301\u0323"]
)
def test_long_runs_of_marks_are_put_in_order_once(monkeypatch, marks: str) -> None:
    """Python moves each mark past every one of a higher class before it: here there are few of those."""
    moves, plain = 0, unicodedata.normalize

    def counted(form, text: str) -> str:
        nonlocal moves
        higher = np.zeros(256, np.int64)
        for each in "".join(plain(form.replace("C", "D"), one) for one in text):
            if kind := unicodedata.combining(each):
                moves += higher[kind + 1 :].sum()
                higher[kind] += 1
            else:
                higher[:] = 0
        return plain(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counted)
    text = "é" + marks * 700
    assert lost_of((text, "e" + text[1:])) == [("form",)]
    assert lost_of((text, "x" + text[1:])) == [("text",)]
    assert kinds_of_loss(text, "e" + text[1:]) == ("accents",)
    assert moves < 30 * len(text)


REWRITINGS: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "composed": partial(unicodedata.normalize, "NFC"),
    "decomposed": partial(unicodedata.normalize, "NFD"),
    "compatible": partial(unicodedata.normalize, "NFKC"),
    "accents": lambda text: "".join(c for c in unicodedata.normalize("NFD", text) if not is_diacritic(c)),
    "spaces": lambda text: " ".join(text.split()),
    "controls": lambda text: "".join(c for c in text if c.isspace() or unicodedata.category(c) != "Cc"),
}


@settings(max_examples=300)
@given(
    st.text(st.sampled_from("aB é\u0301\u0323İßﬁ①Ａ\t\x00\u3000 語가각ｶﾞहि\u05c1\u05bcש\u0e31"), max_size=12),
    st.lists(st.sampled_from(sorted(REWRITINGS)), min_size=1, max_size=3),
)
def test_rewritings_lose_no_text_and_one_more_letter_does(text: str, names: list[str]) -> None:
    back = text
    for name in names:
        back = REWRITINGS[name](back)
    if back == text:
        return
    (found,) = lost_of((text, back))
    assert found
    assert "text" not in found
    assert "other" not in kinds_of_loss(text, back), "the causes that lint names agree"
    if not {"spaces", "controls", "compatible", "case"}.intersection(names):
        assert found == ("form",)
    if {*names} <= {"spaces", "controls"}:
        assert "form" not in found or "\u3000" in text
    assert lost_of((text + "x", back), (text, back + "x")) == [("text",)] * 2


def test_copies_weigh_in_the_error_rate(stand_ins) -> None:
    """Ninety-nine of a hundred documents are the same."""
    texts = ["Hello World"] * 99 + ["aB"]
    whole = collect(stand_ins.Lowering(), map(Document, texts))
    assert sorted(loss.copies for loss in whole.losses) == [1, 99]
    parts = [collect(stand_ins.Lowering(), map(Document, texts[:n])) for n in (40, 60)]
    assert Tally.sum(parts).losses[0].copies == 100
    cells = {CellKey("t", "d", "eng"): whole}
    found = {row.metric: row.value for row in measure(cells, CATALOGUE, context=MeasureContext())}
    assert found["cer"] == pytest.approx((99 * 2 + 1) / (99 * 11 + 2))
    assert (found["lost_form"], found["lost_text"]) == (1, 0)


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
    assert all(loss.edits == 1 for loss in one.losses)
    assert one.totals["lossy_chars"] == one.chars
    assert one.lossy
