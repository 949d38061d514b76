"""Patterns as automata: cut as `regex` and the plain pre-tokenizers cut, whatever the behavior."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from tokbench_subword.pipeline.compiled_pre_tokenizers import Cuts, cuts_of
from tokbench_subword.pipeline.patterns import CL100K_IN_RUBY, NAMED, regexes
from tokbench_subword.pipeline.patterns.automaton import automaton_of
from tokbench_subword.pipeline.patterns.behaviors import Rules
from tokbench_subword.pipeline.patterns.cutters import (
    MachineCutter,
    cut_in_turn,
    cutter_of,
    few_of,
    leaves_no_gaps,
    units_of,
)
from tokbench_subword.pipeline.patterns.machine import HAS_STEPS
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.patterns.simplifying import tree_of
from tokbench_subword.pipeline.patterns.tree import NotExpressible
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch

from tokbench.errors import TokenizerError
from tokbench.kernels.lanes import LANES, THERE
from tokbench.kernels.text import utf8_of

PATTERNS = {
    **{name: (source, "rust") for name, source in NAMED.items()},
    "cl100k in Ruby": (CL100K_IN_RUBY, "oniguruma"),
    "clip": (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        "oniguruma",
    ),
    "punctuation first": (
        r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "oniguruma",
    ),
    "digits in threes": (r"\p{N}{1,3}", "oniguruma"),
    "digits in threes, greedily": (r"\p{N}{1,3}+", "oniguruma"),
    "digits in threes, nothing given back": (r"\p{N}{1,3}+", "rust"),
    "ideographs": (r"[一-龥\u3040-ゟ゠-ヿ]+", "oniguruma"),
    "a script": (r"\p{Han}+|\P{Han}", "rust"),
    "word boundaries": (r"\b\w+\b|[^\w\s]", "rust"),
    "words of Ruby": (r"\b\w+\b|[^\w\s]", "oniguruma"),
    "behind": (r"(?<=[a-z])[A-Z]+|(?<!\d)\d|[A-Z]", "rust"),
    "the ends of lines": (r"^[a-z]+|[0-9]$| ", "oniguruma"),
    "the ends of text": (r"^[a-z]+|[0-9]$| ", "rust"),
    "lazily": (r"a{1,2}?b|[a-z]{2,3}?|\n??\t", "rust"),
    "nested": (r"(?:(?:ab|a)(?:bc?|d)*|x{0,2}y)+", "rust"),
    "ignoring case": (r"(?i:traße|k+|[a-c]d|İ)", "rust"),
    "one character": (r",", "oniguruma"),
    "two characters": (r", |\n\n", "oniguruma"),
    "intersections": (r"[\w&&[^\d_]]+|[^\s&&[^\n]]", "rust"),
    "a match told late": (r"\s*[\r\n]|\s+(?!\S)|\s", "rust"),
    "edges of words": (r"\b", "oniguruma"),
    "humps": (r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=\D)|\s+", "oniguruma"),
    "spaces or nothing": (r"\s*", "oniguruma"),
    "rather nothing": (r"1??2|'*|[a-z]{2}", "rust"),
    "nothing before a long match": (r"|a", "oniguruma"),
    "atomic groups": (r"(?>'s|'t|'re| ?[a-z]+)S?|(?>\s+)(?!\S)|\s", "oniguruma"),
    "an atomic group that is not enough": (r"(?>1{1,3})1|(?>S1?)1", "oniguruma"),
    "threes from the right": (r"\d{1,3}(?=(?:\d{3})*\b)|\s+", "oniguruma"),
    "between threes from the right": (r"(?=(?:\d{3})+(?!\d))", "oniguruma"),
    "far behind": (r"(?<!aS|1)[^ ]+?(?<=S|a1)|(?<=\n[a-z]*) ", "rust"),
    "far ahead, and not": (r"[a-z](?!S| +\.)|\S+(?=\s*\n)|'(?=.*S)", "rust"),
    "far or nothing": (r"\w(?=S*$)|\s(?!(?:S|1)*$)", "rust"),
    "told late, if at all": (r"S[^1]*1|a", "oniguruma"),
    "lazily, to somewhere": (r"a.*?1|S*?\n| |S", "oniguruma"),
    "late or nothing": (r"(?:S[^\n]*\n)?|a", "oniguruma"),
    "late behind": (r"(?<!S)a[^1]*1|(?<=1)'+", "oniguruma"),
    "edges, repeated": (r"(?:\b)+.", "rust"),
    "nothing at last, repeated": (r"(?:a*S?)*1|(?:(?:'|1?){2,3} )+?\.?", "oniguruma"),
    "many apostrophes": (r"'(?:[sdmt]|ll|ve|re)|[^\s']+|'+|\s++$|\s", "rust"),
}
BEHAVIORS = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]

_near = st.text("abcdtsRELVMKKk  '''0129.,(!_-/<|>\n\r\t\x0b\x1f\u00a0éßſЖя中ぁ\u0301“”😀٣İı", max_size=60)
_texts = _near | st.text(max_size=30)


def _utf8_spans(pieces: list[Stretch]) -> list[bytes]:
    return [piece.text.encode() for piece in pieces]


def _cut(cuts: Cuts, texts: list[str]) -> list[list[bytes]]:
    """The pieces of many texts, cut in one call."""
    data, ends = utf8_of(texts)
    units, before = cut_in_turn(cuts.cutters, data, units_of(ends))
    whole = data.tobytes()
    pieces = [whole[begin:end] for begin, end in units.tolist()]
    return [pieces[a:b] for a, b in zip(before[:-1].tolist(), before[1:].tolist(), strict=True)]


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=40, deadline=None)
@given(behavior=st.sampled_from(BEHAVIORS), invert=st.booleans(), texts=st.lists(_texts, max_size=4))
def test_cut_as_the_plain_split_cuts(name: str, behavior: str, invert: bool, texts: list[str]) -> None:
    source, dialect = PATTERNS[name]
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    cuts = Cuts(cutters=(cutter_of(source, dialect, behavior, invert),))
    plain, rules = compile_regex(source, dialect), Rules.of(behavior, invert=invert)
    wanted = [[text[a:b].encode() for a, b in plain.split(text, rules)] for text in texts]
    assert _cut(cuts, texts) == wanted


@pytest.mark.skipif(config.DISABLE_JIT, reason="tens of thousands of texts by plain Python")
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize(
    ("alphabet", "size"), [pytest.param("aS1 .'\n", 5, marks=pytest.mark.long), ("a \n", 8)]
)
def test_every_short_text(name: str, alphabet: str, size: int) -> None:
    """All texts of a few characters: what is read again, and told late, is in one of them."""
    source, dialect = PATTERNS[name]
    texts = ["".join(characters) for characters in product(alphabet, repeat=size)]
    compiled = compile_regex(source, dialect)
    cuts = Cuts(cutters=(cutter_of(source, dialect, "Removed", True),))
    wanted = [[text[a:b].encode() for a, b in compiled.spans(text) if a < b] for text in texts]
    assert _cut(cuts, texts) == wanted


def _one_by_one(cutter: MachineCutter) -> MachineCutter:
    """The same, reading character by character."""
    settings = cutter.machine.settings.copy()
    settings[HAS_STEPS] = 0
    return MachineCutter(replace(cutter.machine, settings=settings))


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=40, deadline=None)
@given(
    parts=st.lists(_texts, min_size=1, max_size=5), times=st.integers(1, 60), sizes=st.lists(st.integers(0, 90))
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


STEPS = {
    "ByteLevel": [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}],
    "Whitespace": [{"type": "Whitespace"}],
    "WhitespaceSplit": [{"type": "WhitespaceSplit"}],
    "Bert": [{"type": "BertPreTokenizer"}],
    "Punctuation": [{"type": "Punctuation", "behavior": "MergedWithPrevious"}],
    "Digits": [{"type": "Digits", "individual_digits": False}],
    "each digit": [{"type": "Digits", "individual_digits": True}],
    "delimiter": [{"type": "CharDelimiterSplit", "delimiter": "-"}],
    "string": [{"type": "Split", "pattern": {"String": ". "}, "behavior": "MergedWithNext", "invert": False}],
    "three splits": [
        {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": "[一-龥぀-ゟ゠-ヿ]+"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": NAMED["gpt2"]}, "behavior": "Isolated", "invert": False},
    ],
    "three splits, the last told late": [
        {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": "[一-龥぀-ゟ゠-ヿ]+"}, "behavior": "Isolated", "invert": False},
        {
            "type": "Split",
            "pattern": {"Regex": PATTERNS["punctuation first"][0]},
            "behavior": "Isolated",
            "invert": False,
        },
    ],
    "words and digits": [{"type": "WhitespaceSplit"}, {"type": "Punctuation"}, {"type": "Digits"}],
}


@pytest.mark.parametrize("name", STEPS)
@settings(max_examples=80, deadline=None)
@given(texts=st.lists(_texts, max_size=4))
def test_cut_as_the_plain_pre_tokenizers_cut(name: str, texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    plain = pre_tokenizer_of({"type": "Sequence", "pretokenizers": STEPS[name]})
    assert _cut(cuts_of(STEPS[name]), texts) == [_utf8_spans(list(plain(Stretch(text)))) for text in texts]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    splits=st.lists(
        st.tuples(st.sampled_from(list(PATTERNS.values())), st.sampled_from(BEHAVIORS), st.booleans()),
        min_size=2,
        max_size=3,
    ),
    texts=st.lists(_texts, max_size=4),
)
def test_few_cutters_cut_as_many(splits: list[tuple[tuple[str, str], str, bool]], texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    many = [cutter_of(*pattern, behavior, invert) for pattern, behavior, invert in splits]
    assert _cut(Cuts(cutters=few_of(many)), texts) == _cut(Cuts(cutters=tuple(many)), texts)


@pytest.mark.parametrize("name", ["three splits", "three splits, the last told late", "words and digits"])
def test_published_pre_tokenizers_that_follow_one_another_are_one_machine(name: str) -> None:
    (cutter,) = cuts_of(STEPS[name]).cutters
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) <= LANES


def test_a_long_literal_makes_no_machine_too_large_for_the_lanes() -> None:
    letters = "".join(chr(ord("a") + k * 7 % 26) for k in range(300))
    cutter = cutter_of(rf"Q(?:{letters})?|[a-z]+|\s", "oniguruma")
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) <= LANES
    text = f"ab Q{letters} Q{letters[:-1]}!".encode()
    assert [text[a:b].decode() for a, b in cutter.spans(text).tolist()] == (
        ["ab", " ", f"Q{letters}", " ", "Q", letters[:-1], "!"]
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Digits", "Punctuation", "Whitespace", "BertPreTokenizer"])
def test_every_character_is_of_the_class_that_the_library_has_it_in(kind: str) -> None:
    from tokenizers import pre_tokenizers

    for first in range(0, 0x110000, 0x400):
        text = "".join(
            f"a{chr(point)}" for point in range(first, first + 0x400) if not 0xD800 <= point < 0xE000
        )
        pieces = getattr(pre_tokenizers, kind)().pre_tokenize_str(text)
        [found] = _cut(cuts_of([{"type": kind}]), [text])
        assert [piece.decode() for piece in found] == [piece for piece, _ in pieces], hex(first)


def test_pieces_come_in_parts_and_add_up() -> None:
    cutter = cutter_of(NAMED["gpt2"], "rust")
    texts = ["it's a word " * n for n in (0, 5000, 1, 0, 20000, 3)]
    whole = _cut(Cuts(cutters=(cutter,)), texts)
    assert whole == [_cut(Cuts(cutters=(cutter,)), [text])[0] for text in texts]
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
    for path in sorted((test_data / "corpora" / "novels").glob("*_*.txt")):
        text = path.read_text(encoding="utf-8")[20_000:26_000]
        for source, dialect in PATTERNS.values():
            spans = cutter_of(source, dialect, "Removed", True).spans(text.encode())
            places = np.cumsum([0, *(len(one.encode()) for one in text)])
            assert spans.tolist() == [
                [places[begin], places[end]]
                for begin, end in compile_regex(source, dialect).spans(text)
                if begin < end  # a match of no length is no piece
            ], path.name


def test_a_tree_tells_what_it_does_not_know() -> None:
    with pytest.raises(NotExpressible, match="a lookaround within another"):
        tree_of(r"a(?=b(?!cd))")


def test_a_pattern_that_tries_every_way_is_given_up(monkeypatch):
    """Such patterns hung for ever; `tokenizers` gives up too, and takes it that nothing matches."""
    monkeypatch.setattr(regexes, "_SECONDS", 0.1)
    with pytest.raises(
        TokenizerError, match=r"tries so many ways on a text of 2,002 characters, 'baaa.*given up"
    ):
        list(compile_regex("(a|aa)+$", "rust").spans("b" + "a" * 2000 + "b"))


@pytest.mark.parametrize("source", ["((a{0,100}){0,100}){0,100}", "|".join(f"a{i}b" for i in range(5000))])
def test_a_pattern_that_would_be_too_large_an_automaton_is_left_to_regex(source):
    with pytest.raises(NotExpressible, match="more than"):
        automaton_of(tree_of(source))


def test_a_pattern_that_nests_without_end_is_refused():
    with pytest.raises(TokenizerError, match="nests deeper than can be read"):
        compile_regex("(" * 3000 + "a" + ")" * 3000, "rust")


@pytest.mark.parametrize("name", PATTERNS)
@given(text=st.text(alphabet="aA1 \n\r'.,漢é\u0301\t_x", max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_pattern_proved_to_leave_no_gaps_leaves_none(name: str, text: str) -> None:
    source, dialect = PATTERNS[name]
    if leaves_no_gaps(source, dialect):
        assert "".join(text[start:end] for start, end in compile_regex(source, dialect).spans(text)) == text
    else:
        assert name not in NAMED


@pytest.mark.parametrize(
    ("source", "covers"),
    [
        (r"\S+|\s+", True),
        (r"(?s).", True),
        (r"a|[^a]b?", True),
        (r"[^\r\n]?\S+|\s*[\r\n]|\s+(?!\S)|\s", True),
        (r"\S+|\s+(?!\S)", False),
        (r"(?:\S\s)*\S", False),
        (r"(?s).*", False),
        (r"(?<=a)b|[^b]", False),
        (r"ab|[^a]", False),
    ],
)
def test_whether_matches_are_all_of_any_text(source: str, covers: bool) -> None:
    assert leaves_no_gaps(source, "rust") == covers
