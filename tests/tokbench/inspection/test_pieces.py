"""Pieces: spans that tile the text, characters whole, and nothing of a text lost or interpreted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import tokbench
from tokbench.inspection.pieces import as_json, groups, pieces, visible
from tokbench.inspection.terminal import render

TEXT = " Héllo  龘 [b]x[/b]\n👩‍👩‍👧 ﬁ end"


class Lossy:
    """Lower-cases, drops white space, gives no bytes and no offsets; id 0 is UNK."""

    name, vocab_size, unk_id = "lossy", 4, 0
    words = ("[UNK]", "new", "york", "city")

    def encode(self, text):
        return [self.words.index(word) if word in self.words else 0 for word in text.lower().split()]

    def decode(self, ids):
        return " ".join(self.words[index] for index in ids)


@pytest.fixture(
    scope="module",
    params=["tiktoken:gpt2", "tiktoken:o200k_base", "transformers:{}/qwen2/hf", "bytes", "chars"],
)
def exact(request, test_data):
    return tokbench.load(request.param.format(test_data / "vocabs"))


def test_groups_tile_the_text_of_byte_level_tokenizers(exact):
    found = pieces(exact, TEXT)
    assert "".join(group.text for group in groups(found)) == TEXT
    spans = [(group.start, group.end) for group in groups(found)]
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(TEXT)
    assert [piece.id for piece in found] == list(exact.encode(TEXT))
    assert all(piece.text == TEXT[piece.start : piece.end] for piece in found if piece.whole)


@pytest.fixture(scope="module")
def of_bytes():
    return tokbench.load("bytes")


@given(st.text(st.characters(codec=None), max_size=40))
def test_any_text_survives(of_bytes, text):
    assert "".join(group.text for group in groups(pieces(of_bytes, text))) == text
    json.dumps(as_json(of_bytes, text)).encode()


def test_characters_of_several_tokens_are_shown_whole(test_data):
    found = pieces(tokbench.load("tiktoken:gpt2"), "a龘b")
    assert [(piece.text, piece.whole, piece.group) for piece in found] == [
        ("a", True, 0),
        ("龘", False, 1),
        ("龘", False, 1),
        ("b", True, 2),
    ]
    assert [(piece.start, piece.end) for piece in found] == [(0, 1), (1, 2), (1, 2), (2, 3)]


def test_the_dummy_prefix_covers_nothing(test_data):
    tokenizer = tokbench.load(f"sentencepiece:{test_data}/vocabs/llama-2/tokenizer.model")
    first, *_, last = pieces(tokenizer, "hello 龘")
    assert (first.text, first.start, first.end) == (" hello", 0, 5)
    assert (last.text, last.start, last.end, last.whole) == ("龘", 6, 7, False)


def test_offsets_serve_where_text_is_normalised(test_data):
    tokenizer = tokbench.load(f"transformers:{test_data}/vocabs/bert-base-uncased/hf")
    found = pieces(tokenizer, "  HÉLLO 龘👩")
    assert [(piece.text, piece.kind, piece.start, piece.end) for piece in found] == [
        ("hello", "token", 2, 7),
        ("龘", "unknown", 8, 9),
        ("👩", "unknown", 9, 10),
    ]


def test_text_is_searched_where_nothing_else_is_known():
    found = pieces(Lossy(), "New  Jersey city")
    assert [(piece.text, piece.start, piece.end, piece.kind) for piece in found] == [
        ("new", 0, 3, "token"),
        ("[UNK]", 3, 3, "unknown"),
        ("city", 12, 16, "token"),
    ]


def test_ids_given_are_not_encoded_again(test_data):
    tokenizer = tokbench.load("tiktoken:gpt2")
    found = pieces(tokenizer, "hi", np.array([71, 72], np.int32))
    assert [piece.text for piece in found] == ["h", "i"]


def test_json_has_only_jsons_types(test_data):
    content = as_json(tokbench.load("tiktoken:gpt2"), TEXT)
    assert json.loads(json.dumps(content)) == content
    assert (content["n_chars"], content["n_bytes"]) == (len(TEXT), len(TEXT.encode()))


def test_empty_text():
    assert pieces(tokbench.load("bytes"), "") == []


def test_what_cannot_be_seen_is_spelled_out():
    assert visible("a\x1b[31m\u202e\ud800") == "a\\x1b[31m\\u202e\\ud800"
    assert visible("\u0e35") == "◌\u0e35"


def test_the_terminal_interprets_nothing(test_data, capsys):
    found = pieces(tokbench.load("tiktoken:gpt2"), "[red]\x1b[31m é龘")
    Console(width=200, color_system=None, markup=False).print(render(found, color=False))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "龘" in shown
    assert "[" in shown


def test_places_are_whole_numbers_in_json_too():
    found = as_json(tokbench.load("bytes"), "né")["pieces"]
    assert json.dumps([[piece["start"], piece["end"], piece["group"]] for piece in found]) == (
        "[[0, 1, 0], [1, 2, 1], [1, 2, 1]]"
    )
