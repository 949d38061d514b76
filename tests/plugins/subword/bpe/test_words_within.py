"""Vocabularies whose tokens hold several words are encoded word by word first, with the ids of all merges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe import superwords
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.pieces import Pieces
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.tables import TokenBytes

from tests.plugins.subword.bpe.small_models import model_of

LETTERS = "ab \n."


@pytest.fixture(autouse=True, scope="module")
def few_are_some() -> Iterator[None]:
    """Any token that goes across words counts, in vocabularies that are mostly bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(superwords, "_SOME", 1 << 20)
        yield


@st.composite
def models(draw: st.DrawFn) -> BpeModel:
    """Merges of any two tokens, most often within words first."""
    tokens = [letter.encode() for letter in LETTERS]
    merges = []
    for left, right in draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=30)):
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        if pair[0] + pair[1] not in tokens:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    if draw(st.booleans()):
        merges.sort(key=lambda pair: b" " in (pair[0] + pair[1])[1:])
    made, kept = {letter.encode() for letter in LETTERS}, []
    for left, right in merges:
        if {left, right} <= made:
            kept.append((left, right))
            made.add(left + right)
    return model_of(kept, whole=draw(st.booleans()))


@given(models(), st.lists(st.text(LETTERS, max_size=300), max_size=5))
@settings(max_examples=150, deadline=None)
def test_ids_are_those_of_all_merges(model: BpeModel, texts: list[str]) -> None:
    encoder = BpeEncoder(model)
    expected = [[symbol.id for symbol in segment(model, text)] for text in texts]
    for _ in range(2):
        assert [ids.tolist() for ids in encoder.encode_batch(texts)] == expected


def first_of(merges: list[tuple[bytes, bytes]]) -> int:
    model = model_of(merges)
    tokens = TokenBytes.of(model.vocabulary)
    pieces = Pieces.of(tokens, model.merges, model.merge_ranks, np.arange(256, dtype=np.uint32))
    assert pieces is not None
    return superwords.first_across(pieces, tokens)


def test_which_piece_is_the_first_across_words(monkeypatch: pytest.MonkeyPatch) -> None:
    across = [(b"a", b"b"), (b" ", b"ab"), (b"ab", b" ab")]
    assert first_of(across) == 258
    assert first_of([(b"a", b"b"), (b"\n", b" "), (b" ", b" ")]) == 0, "behind white space no word begins"
    assert first_of([(b"a", b"b")]) == 0
    monkeypatch.setattr(superwords, "_SOME", 100)
    assert first_of(across) == 0, "one of 259 pieces"
    monkeypatch.setattr(superwords, "_SOME", 300)
    monkeypatch.setattr(superwords, "_EARLY", 1)
    assert first_of([*across, (b"b", b"a")]) == 0, "too early"


def test_words_of_sentences_are_kept() -> None:
    """Each word of 180 sentences is merged once: the cache holds sentences, the words within, and no more."""
    made = [(b"w", b"o"), (b"wo", b"r"), (b" ", b"wor")] + [(bytes([97 + k]), b"z") for k in range(20)]
    model = model_of([*made, *[(bytes([97 + k]) + b"z", b" wor") for k in range(20)]])
    words = [chr(97 + k) + "z" for k in range(20)]
    lines = [f"{words[k % 20]} wor {words[k * 7 % 20]} wor {words[k * 3 % 20]} {k % 9}" for k in range(180)]
    encoder = BpeEncoder(model)
    expected = [[symbol.id for symbol in segment(model, line)] for line in lines]
    assert [ids.tolist() for ids in encoder.encode_batch(lines)] == expected
    assert 40 < encoder._idle[0].words.held - len(set(lines)) < 80
