"""What is told of a pattern before any text: that it is too large or too hard, that it leaves no gaps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.patterns import NAMED, regexes
from tokbench_subword.pipeline.patterns.automaton import automaton_of
from tokbench_subword.pipeline.patterns.cutters import leaves_no_gaps
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.patterns.simplifying import tree_of
from tokbench_subword.pipeline.patterns.tree import NotExpressible

from tests.plugins.subword.pipeline.patterns.examples import PATTERNS
from tokbench.errors import TokenizerError


def test_a_tree_tells_what_it_does_not_know() -> None:
    with pytest.raises(NotExpressible, match="a lookaround within another"):
        tree_of(r"a(?=b(?!cd))")


def test_a_pattern_that_tries_every_way_is_given_up(monkeypatch):
    """Such patterns hung for ever; `tokenizers` gives up too, and takes it that nothing matches."""
    monkeypatch.setattr(regexes, "_SECONDS", 0.1)
    with pytest.raises(
        TokenizerError, match=r"backtracks too much on a text of 2,002 characters, 'baaa.*stopped"
    ):
        list(compile_regex("(a|aa)+$", "rust").spans("b" + "a" * 2000 + "b"))


@pytest.mark.parametrize("source", ["((a{0,100}){0,100}){0,100}", "|".join(f"a{i}b" for i in range(5000))])
def test_a_pattern_that_would_be_too_large_an_automaton_is_left_to_regex(source):
    with pytest.raises(NotExpressible, match="more than"):
        automaton_of(tree_of(source))


def test_a_pattern_that_nests_without_end_is_refused():
    with pytest.raises(TokenizerError, match="is nested too deeply"):
        compile_regex("(" * 3000 + "a" + ")" * 3000, "rust")


@pytest.mark.parametrize("name", PATTERNS)
@given(text=st.text(alphabet="aA1 \n\r'.,漢é\u0301\t_x", max_size=8))
@settings(max_examples=30, deadline=None)
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
