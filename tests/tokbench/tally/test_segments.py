"""The array form of UAX #29 against the library made for it, on hostile and ordinary text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uniseg.graphemecluster import grapheme_cluster_boundaries
from uniseg.wordbreak import word_boundaries

from tokbench.tally.segments import grapheme_starts, word_starts

# one or two of each class that a rule names, so that every pair and triple of classes is met
ALPHABET = (
    "ab1 \t\r\n\x0b\u2028'\".,:;_-a\u0301\u200d\u00ad\u05d0\u05d1\u30a2\u30ab\u3042\u4e2d\u0e01\u0e33"
    "\u0915\u094d\u0937\u093f\u0e48\U0001f1e6\U0001f1e7\U0001f469\U0001f3fd\U0001f468\u2764\ufe0f"
    "\u1100\u1161\u11a8\uac00\uac01\u0600\u0903\u3000\u200b\xa9"
)


def points(text: str) -> np.ndarray:
    return np.frombuffer((text + "\n").encode("utf-32-le", "surrogatepass"), np.uint32)


def assert_same(text: str) -> None:
    words = np.flatnonzero(word_starts(points(text))).tolist()
    graphemes = np.flatnonzero(grapheme_starts(points(text))).tolist()
    assert [*words, len(text) + 1] == list(word_boundaries(text + "\n"))
    assert [*graphemes, len(text) + 1] == list(grapheme_cluster_boundaries(text + "\n"))


@given(st.text(st.sampled_from(ALPHABET), max_size=12))
def test_every_rule(text: str) -> None:
    assert_same(text)


@given(st.text(max_size=20))
def test_any_text(text: str) -> None:
    assert_same(text)


@pytest.mark.parametrize(
    ("text", "words", "graphemes"),
    [
        ("", 0, 0),
        ("can't stop", 3, 10),
        ("3,456.789", 1, 9),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 2, 2),
        ("\U0001f469\u200d\U0001f680", 1, 1),
        ("\u0915\u094d\u0937", 1, 1),
    ],
)
def test_by_hand(text: str, words: int, graphemes: int) -> None:
    assert word_starts(points(text))[:-1].sum() == words
    assert grapheme_starts(points(text))[:-1].sum() == graphemes


def test_real_text(test_data: Path) -> None:
    for name in ("eng_Latn", "hin_Deva", "tha_Thai", "kor_Hang", "arb_Arab", "jpn_Jpan"):
        assert_same((test_data / "corpora" / "pud" / f"{name}.txt").read_text("utf-8")[:3_000])
    assert_same((test_data / "corpora" / "naughty-strings" / "blns.txt").read_text("utf-8")[:8_000])
