"""A pattern in a spec: a name, an expression, or a name that was misspelt."""

from __future__ import annotations

import pytest
from tokbench_subword.bpe.options import named_pattern

from tokbench.errors import UnknownNameError


@pytest.mark.parametrize(
    ("given", "meant"),
    [("gtp2", "gpt2"), ("gpt-2", "gpt2"), ("GPT2", "gpt2"), ("cl100k_bas", "cl100k"), ("non", "none")],
)
def test_a_word_near_a_name_is_no_expression(given: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown pattern '{given}'; did you mean '{meant}'"):
        named_pattern(given)


def test_encodings_of_tiktoken_are_names_of_what_they_cut_by() -> None:
    assert named_pattern("o200k_base") == named_pattern("o200k")
    assert named_pattern("r50k_base") == named_pattern("gpt2")


@pytest.mark.parametrize("text", [".", "e", r"\S+", "gpt2|x", r"[a-z]+", "gpt2.", "SEP"])
def test_what_is_no_name_is_an_expression(text: str) -> None:
    assert named_pattern(text).source == text


@pytest.mark.parametrize("text", ["e", "foo", "SEP"])
def test_a_word_that_is_no_name_is_refused_where_all_other_text_would_be_dropped(text: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown pattern '{text}'"):
        named_pattern(text, dialect="rust", keep_gaps=False)
