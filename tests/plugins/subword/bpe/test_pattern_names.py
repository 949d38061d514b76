"""A pattern in a spec: a name, an expression, or a name that was misspelt."""

from __future__ import annotations

import pytest
from tokbench_subword.bpe.options import ENCODINGS, named_pattern
from tokbench_tiktoken.ranks import pattern_text

from tokbench.errors import UnknownNameError


@pytest.mark.parametrize(
    ("given", "meant"),
    [("gtp2", "gpt2"), ("gpt-2", "gpt2"), ("GPT2", "gpt2"), ("cl100k_bas", "cl100k"), ("non", "none")],
)
def test_a_word_near_a_name_is_no_expression(given: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown pattern '{given}'; did you mean '{meant}'"):
        named_pattern(given)


@pytest.mark.parametrize(("encoding", "name"), ENCODINGS.items())
def test_patterns_go_by_the_names_of_both_families_in_both(encoding: str, name: str) -> None:
    assert named_pattern(encoding) == named_pattern(name) == named_pattern(pattern_text(name), dialect="rust")
    assert pattern_text(encoding) == pattern_text(name)


@pytest.mark.parametrize("text", [".", "(?:e)", r"\S+", "gpt2|x", r"[a-z]+", "gpt2.", "(?:SEP)"])
def test_what_is_no_name_is_an_expression(text: str) -> None:
    assert named_pattern(text).source == text


@pytest.mark.parametrize("text", ["e", "foo", "mistral", "SEP"])
def test_a_word_that_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"unknown pattern '{text}'.*write \(\?:{text}\)"):
        named_pattern(text)
