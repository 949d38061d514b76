"""One pattern as an automaton: it cuts as `regex` does, whatever the behavior."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from tokbench_subword.pipeline.patterns import NAMED
from tokbench_subword.pipeline.patterns.behaviors import Rules
from tokbench_subword.pipeline.patterns.cutters import MachineCutter, cutter_of
from tokbench_subword.pipeline.patterns.machine import HAS_STEPS
from tokbench_subword.pipeline.patterns.regexes import compile_regex

from tests.plugins.subword.pipeline.patterns.examples import BEHAVIORS, PATTERNS, TEXTS, cut
from tokbench.kernels.lanes import LANES, THERE


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=20, deadline=None)
@given(behavior=st.sampled_from(BEHAVIORS), invert=st.booleans(), texts=st.lists(TEXTS, max_size=4))
def test_cut_as_the_plain_split_cuts(name: str, behavior: str, invert: bool, texts: list[str]) -> None:
    source, dialect = PATTERNS[name]
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    cutter = cutter_of(source, dialect, behavior, invert)
    plain, rules = compile_regex(source, dialect), Rules.of(behavior, invert=invert)
    wanted = [[text[a:b].encode() for a, b in plain.split(text, rules)] for text in texts]
    assert cut([cutter], texts) == wanted


@pytest.mark.skipif(config.DISABLE_JIT, reason="tens of thousands of texts by plain Python")
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize(
    ("alphabet", "size"), [pytest.param("aS1 .'\n", 5, marks=pytest.mark.long), ("a \n", 7)]
)
def test_every_short_text(name: str, alphabet: str, size: int) -> None:
    """All texts of a few characters: what is read again, and told late, is in one of them."""
    source, dialect = PATTERNS[name]
    texts = ["".join(characters) for characters in product(alphabet, repeat=size)]
    compiled = compile_regex(source, dialect)
    cutter = cutter_of(source, dialect, "Removed", True)
    wanted = [[text[a:b].encode() for a, b in compiled.spans(text) if a < b] for text in texts]
    assert cut([cutter], texts) == wanted


def _one_by_one(cutter: MachineCutter) -> MachineCutter:
    """The same, reading character by character."""
    settings = cutter.machine.settings.copy()
    settings[HAS_STEPS] = 0
    return MachineCutter(replace(cutter.machine, settings=settings))


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=20, deadline=None)
@given(
    parts=st.lists(TEXTS, min_size=1, max_size=5), times=st.integers(1, 60), sizes=st.lists(st.integers(0, 90))
)
def test_four_parts_at_once_are_cut_as_one_by_one(
    name: str, parts: list[str], times: int, sizes: list[int]
) -> None:
    """Of texts of any length, one after another, and with gaps."""
    data = ("".join(parts) * times).encode("utf-8", "replace")
    cutter = cutter_of(*PATTERNS[name])
    if not isinstance(cutter, MachineCutter):
        return  # it cuts labels, by these same kernels
    begins = [k for k in range(len(data) + 1) if k == len(data) or data[k] & 0xC0 != 0x80]
    places = sorted({begins[min(place, len(begins) - 1)] for place in np.cumsum([0, *sizes]).tolist()})
    texts = np.array([*pairwise(places), (places[-1], len(data))], np.int64)[::-1]
    text = np.frombuffer(data + bytes(64), np.uint8)
    pieces, counts = cutter.cut(text, texts)
    wanted, wanted_counts = _one_by_one(cutter).cut(text, texts)
    assert (pieces.tolist(), counts.tolist()) == (wanted.tolist(), wanted_counts.tolist())


@pytest.mark.parametrize("name", NAMED)
def test_published_patterns_have_no_more_rows_than_there_are_lanes(name: str) -> None:
    cutter = cutter_of(NAMED[name], "rust")
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) <= LANES
    assert cutter.machine.settings[HAS_STEPS] == THERE


def test_what_has_more_rows_is_cut_one_by_one() -> None:
    source = "|".join(f"{first}{second * 5}x" for first in "abcdefg" for second in "hijklmn") + r"|\w+|\W"
    cutter = cutter_of(source, "rust")
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) > LANES
    assert not cutter.machine.settings[HAS_STEPS]
    text = "ahhhhhxbiiiiixciiiiiiixyz " * 9
    assert cutter.spans(text.encode()).tolist() == [
        list(one) for one in compile_regex(source, "rust").spans(text)
    ]


def test_a_long_literal_makes_no_machine_too_large_for_the_lanes() -> None:
    letters = "".join(chr(ord("a") + k * 7 % 26) for k in range(300))
    cutter = cutter_of(rf"Q(?:{letters})?|[a-z]+|\s", "oniguruma")
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) <= LANES
    text = f"ab Q{letters} Q{letters[:-1]}!".encode()
    assert [text[a:b].decode() for a, b in cutter.spans(text).tolist()] == (
        ["ab", " ", f"Q{letters}", " ", "Q", letters[:-1], "!"]
    )


def test_pieces_come_in_parts_and_add_up() -> None:
    cutter = cutter_of(NAMED["gpt2"], "rust")
    texts = ["it's a word " * n for n in (0, 5000, 1, 0, 20000, 3)]
    whole = cut([cutter], texts)
    assert whole == [cut([cutter], [text])[0] for text in texts]
    assert sum(map(len, whole)) == len([p for text in texts for p in compile_regex(NAMED["gpt2"]).spans(text)])


@pytest.mark.parametrize("source", [r"(?:a|b)++c", r"(?>a|ab)c", r"(?=a(?!bc))[^b]"])
def test_what_needs_a_search_with_backtracking_is_left_to_it(source: str) -> None:
    cutter, text = cutter_of(source, "rust"), "abc é aab! bbc 12 ß\na$ SS"
    assert cutter.block is None
    assert cutter.reason
    wanted = compile_regex(source, "rust").split(text, Rules.of("Isolated"))
    data = text.encode()
    assert [data[a:b].decode() for a, b in cutter.spans(data).tolist()] == [text[a:b] for a, b in wanted]


def test_a_megabyte_without_an_end_takes_one_pass() -> None:
    for unit in ("a", " ", "1", "'", "\n ", "中"):
        text = (unit * (1 << 20)).encode()[: 3 << 19]
        text = text.decode(errors="ignore").encode()
        for name in ("gpt2", "cl100k", "o200k", "whitespace"):
            spans = cutter_of(NAMED[name], "rust").spans(text)
            assert (spans[0, 0], spans[-1, 1]) == (0, len(text))
            assert (spans[1:, 0] == spans[:-1, 1]).all()


@pytest.mark.long
def test_real_text(test_data: Path) -> None:
    novels = sorted((test_data / "corpora" / "novels").glob("*_*.txt"))
    assert novels
    for path in novels:
        text = path.read_text(encoding="utf-8")[20_000:26_000]
        for source, dialect in PATTERNS.values():
            spans = cutter_of(source, dialect, "Removed", True).spans(text.encode())
            places = np.cumsum([0, *(len(one.encode()) for one in text)])
            assert spans.tolist() == [
                [places[begin], places[end]]
                for begin, end in compile_regex(source, dialect).spans(text)
                if begin < end  # a match of no length is no piece
            ], path.name
