"""The machines of UAX #29, and the pass that runs them, against the library made for it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uniseg.graphemecluster import grapheme_cluster_boundaries
from uniseg.wordbreak import word_boundaries

from tokbench.corpus import Document
from tokbench.tally.characters import GRAPHEME_SHIFT, KIND_SHIFT, CharacterKind, Characters, characters
from tokbench.tally.marks import INSIDE_GRAPHEME, INSIDE_WORD, WORD_BEGINS
from tokbench.tally.plain import may_be_plain
from tokbench.tally.prepare import prepare
from tokbench.tally.segments import CLASS_BITS, JOIN, STATE_SHIFT, TAKE_BACK, grapheme_machine, word_machine

# one or two of each class that a rule names, so that every pair and triple of classes is met
ALPHABET = (
    "ab1 \t\r\n\x0b\u2028'\".,:;_-a\u0301\u200d\u00ad\u05d0\u05d1\u30a2\u30ab\u3042\u4e2d\u0e01\u0e33"
    "\u0915\u094d\u0937\u093f\u0e48\U0001f1e6\U0001f1e7\U0001f469\U0001f3fd\U0001f468\u2764\ufe0f"
    "\u1100\u1161\u11a8\uac00\uac01\u0600\u0903\u3000\u200b\xa9\u24c2"
)
# plain characters mostly, and long enough for stretches of 64 bytes to end anywhere
PLAIN = st.lists(
    st.sampled_from([
        *"ab1_.',:;\r\n\"-éžЖ×÷«»–“’‘․ ",
        *(" ", "word", "3.14", "3’14", "don't", "don’t", "naïve", "слово", "中文"),
    ]),
    max_size=90,
)  # fmt: skip


def properties(text: str) -> np.ndarray:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    characters().know(points)
    return characters().properties[points]


def breaks(machine: np.ndarray, classes: list[int]) -> list[int]:
    """Before which characters a machine breaks, in the plainest way there is."""
    state, found = 0, []
    for index, kind in enumerate(classes):
        entry = int(machine[state << CLASS_BITS | kind])
        state = entry >> STATE_SHIFT
        if not entry & JOIN:
            found.append(index)
        elif entry & TAKE_BACK:
            found.pop()
    return found


def assert_same(text: str) -> None:
    own = properties(text)
    words = [*breaks(word_machine(), (own & 31).tolist()), len(text)] if text else []
    clusters = [*breaks(grapheme_machine(), (own >> GRAPHEME_SHIFT & 31).tolist()), len(text)] if text else []
    assert words == list(word_boundaries(text))
    assert clusters == list(grapheme_cluster_boundaries(text))
    assert_counted(text, words, clusters)


def assert_counted(text: str, words: list[int], clusters: list[int]) -> None:
    """What `prepare` finds in a text is what the breaks say."""
    [batch] = prepare([Document("'x"), Document(text), Document("x'")])
    byte_of = np.cumsum([0, *(len(c.encode("utf-8", "surrogatepass")) for c in text)]) + batch.starts[1]
    wordy = properties(text) >> KIND_SHIFT & CharacterKind.WORD
    expected = [(byte_of[a], byte_of[b]) for a, b in pairwise(words) if wordy[a:b].any()]
    own = slice(*batch.words.limits[1:3])
    assert list(zip(batch.words.start[own], batch.words.end[own], strict=True)) == expected
    own_marks = batch.marks[batch.starts[1] : batch.ends[1]]
    begins = np.flatnonzero(own_marks & INSIDE_GRAPHEME == 0) + batch.starts[1]
    assert begins.tolist() == [byte_of[at] for at in clusters[:-1]]
    marked = np.zeros(len(own_marks), np.uint8)
    for start, end in np.array(expected, np.int64).reshape(-1, 2) - batch.starts[1]:
        marked[start] = WORD_BEGINS
        marked[start + 1 : end] = INSIDE_WORD
    assert (own_marks & ~np.uint8(INSIDE_GRAPHEME)).tolist() == marked.tolist()
    numbers = "".join(
        "1" if kind else " " for kind in properties(text) >> KIND_SHIFT & CharacterKind.DIGIT
    ).split()
    assert batch.counts["numbers"][1] == len(numbers)
    assert batch.counts["digits"][1] == sum(map(len, numbers))


@given(st.text(st.sampled_from(ALPHABET), max_size=12))
def test_every_rule(text: str) -> None:
    assert_same(text)


@given(st.text(max_size=20))
def test_any_text(text: str) -> None:
    assert_same(text)


@given(PLAIN)
def test_plain_stretches(parts: list[str]) -> None:
    assert_same("".join(parts))


def test_plain_letters_are_to_every_rule_as_those_of_ascii() -> None:
    letters = {*map(chr, range(0xC0, 0x180)), *map(chr, range(0x400, 0x480))} - {*"×÷"}
    assert (properties("".join(letters)) == properties("a")).all()
    leads = {letter.encode()[0] for letter in letters}
    plain = getattr(may_be_plain, "py_func", may_be_plain)
    assert {byte for byte in range(128, 256) if plain(byte)} == leads


@given(st.lists(PLAIN.map("".join) | st.text(max_size=20), min_size=1, max_size=12))
def test_neighbours_do_not_matter(texts: list[str]) -> None:
    [together] = prepare(map(Document, texts))
    for index, text in enumerate(texts):
        [alone] = prepare([Document(text)])
        own, begin = slice(*together.words.limits[index : index + 2]), together.starts[index]
        assert (together.words.start[own] - begin).tolist() == alone.words.start.tolist()
        assert (together.words.end[own] - begin).tolist() == alone.words.end.tolist()
        marks = together.marks[begin : together.ends[index]]
        assert marks.tolist() == alone.marks[: alone.ends[0]].tolist()
        assert {n: c[index] for n, c in together.counts.items()} == {n: c[0] for n, c in alone.counts.items()}


def test_ideographs_in_a_row_and_what_may_join_them() -> None:
    for row in ("中", "中文", "中文字典" * 20, "いろは", "中𠀀文", "𠀀𠀁中"):
        for before in ("", "\u0600", "a", "\r", "中\u200d"):
            for after in ("", "\u0301", "\u200d", "\u3099x", "カ", "1", "，", " a"):
                assert_same(before + row + after)


@pytest.mark.parametrize("n", [1, 3, 40])
def test_characters_met_late_are_looked_up_without_counting_anything_twice(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{i} word, ab. " + chr(0x13A0 + 2 * i) + chr(0x1400 + 3 * i) + " 3.14\n" for i in range(n)]
    [expected] = prepare(map(Document, texts))
    unknowing = Characters()
    monkeypatch.setattr("tokbench.tally.scan.characters", lambda: unknowing)
    monkeypatch.setattr("tokbench.tally.scan.LEARNT", 40)
    [found] = prepare(map(Document, texts))
    assert all((found.counts[name] == expected.counts[name]).all() for name in expected.counts)
    assert found.words.start.tolist() == expected.words.start.tolist()
    assert found.words.end.tolist() == expected.words.end.tolist()
    assert (found.marks == expected.marks)[: len(found.data)].all()


@pytest.mark.parametrize("size", [63, 64, 65, 128])
def test_a_word_may_end_where_a_stretch_does(size: int) -> None:
    for part in ("a", "7", "_", " ", "ab ", "a.", "\r\n", "é", "_ "):
        assert_same((part * size)[:size])


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
    own = properties(text)
    assert len(breaks(word_machine(), (own & 31).tolist())) == words
    assert len(breaks(grapheme_machine(), (own >> GRAPHEME_SHIFT & 31).tolist())) == graphemes


def test_real_text(test_data: Path) -> None:
    for name in ("eng_Latn", "fra_Latn", "hin_Deva", "tha_Thai", "kor_Hang", "arb_Arab", "jpn_Jpan"):
        assert_same((test_data / "corpora" / "pud" / f"{name}.txt").read_text("utf-8")[:3_000])
    assert_same((test_data / "corpora" / "naughty-strings" / "blns.txt").read_text("utf-8")[:8_000])
