"""Text of a vocabulary that cuts nothing: cut in front of spaces where that changes no ids, nowhere else."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.spaces import word_cutters
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.pipeline.patterns import Pattern

TEXTS = [
    "the cat.  the\n hat, a  cat, the\n  end. été  the,the",
    "日本 の a.a  b.\n  b \u2581a",
    "a .. b ,, c\n\n  d",
]
TEXTS *= 5

CUTS = {
    "gpt2": "words with the space before them; runs of spaces and newlines together",
    r" ?[\w,]+|[.\n]* +|\s|.": "points in front of spaces",
    "none": "tokens hold several words",
}


@cache
def without_pattern(pattern: str) -> BpeModel:
    return replace(train_bpe(TEXTS, vocab_size=330, pattern=Pattern.of(pattern)), pattern=Pattern("none"))


@cache
def encoder_of(pattern: str) -> BpeEncoder:
    return BpeEncoder(without_pattern(pattern))


@pytest.mark.parametrize("pattern", CUTS)
@given(text=st.text(alphabet="  \n.,acethé日\u2581", max_size=60))
def test_cut_in_front_of_spaces_or_not_the_ids_are_the_same(pattern: str, text: str) -> None:
    expected = [symbol.id for symbol in segment(without_pattern(pattern), text)]
    assert encoder_of(pattern).encode(text).tolist() == expected


@pytest.mark.parametrize(
    ("pattern", "text", "words"),
    [
        ("gpt2", "the  cat.\n  end ", ["the", "  cat.\n  end", " "]),
        (r" ?[\w,]+|[.\n]* +|\s|.", "the  cat.  a, b\n c", ["the", "  cat.  a,", " b\n c"]),
    ],
)
def test_only_where_no_token_goes_on(pattern: str, text: str, words: list[str]) -> None:
    (cutter,) = word_cutters(without_pattern(pattern))
    assert [text[start:end] for start, end in cutter.spans(text.encode()).tolist()] == words


def test_nothing_is_cut_where_tokens_hold_words_or_are_words() -> None:
    assert any(b"e c" in token for token in without_pattern("none").vocabulary)
    assert word_cutters(without_pattern("none")) == ()
    assert word_cutters(replace(without_pattern("gpt2"), whole_tokens=True)) == ()


def test_the_mark_of_sentencepiece_is_a_space_too() -> None:
    tokens = ("<unk>", *"▁abt.", "▁a", "▁at", "▁▁", ".▁")
    ids = {token: index for index, token in enumerate(tokens)}
    merges = [("▁", "a", "▁a"), ("▁a", "t", "▁at"), ("▁", "▁", "▁▁"), (".", "▁", ".▁")]
    model = BpeModel(
        vocabulary=tuple(token.encode() for token in tokens),
        merges=[[ids[part] for part in merge] for merge in merges],  # type: ignore[arg-type]
        unk=0,
        level="char",
    )
    (cutter,) = word_cutters(model)
    text = "▁at▁▁bé▁a.▁at"
    spans = cutter.spans(text.encode()).tolist()
    assert [text.encode()[start:end].decode() for start, end in spans] == ["▁at", "▁▁bé", "▁a.▁at"]
    assert BpeEncoder(model).encode(text).tolist() == [symbol.id for symbol in segment(model, text)]
