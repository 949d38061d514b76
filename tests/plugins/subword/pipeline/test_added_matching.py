"""Compiled added tokens are found where `AddedTokens.split` and `tokenizers` find them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline import added_matching
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.added_tokens import SPACE, AddedToken, AddedTokens
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokenizers import AddedToken as TheirToken
from tokenizers import Tokenizer, models

from tokbench.kernels.pointers import PADDING

ALPHABET = "ab _A1é\n\u3000中\u0301\u200d\x1c😀"
SNIPPETS = ["<s>", "</s>", "<", "[INST]", "[control_12]", "    ", "  ", " a", "a ", "\n\n", "中a", "é"]
SNIPPETS.append("ab" * 40)
FLAGS = ("single_word", "lstrip", "rstrip", "special")

pieces = st.one_of(st.text(ALPHABET, max_size=4), st.sampled_from(SNIPPETS), st.text(max_size=3))
texts = st.lists(pieces, max_size=30).map("".join)
contents = st.one_of(st.text(ALPHABET, min_size=1, max_size=3), st.sampled_from(SNIPPETS))
flags = st.fixed_dictionaries(dict.fromkeys(FLAGS, st.booleans()))
vocabularies = st.dictionaries(contents, flags, max_size=8)


def laid_out(documents: list[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [document.encode() for document in documents]
    data = np.frombuffer(b"".join(encoded) + b" " * PADDING, np.uint8)
    return data, np.cumsum([0, *map(len, encoded)])


def plainly(tokens: AddedTokens, documents: list[str], match_special: bool) -> list[tuple[int, int, int]]:
    found, before = [], 0
    for document in documents:
        for piece in tokens.split(document, match_special=match_special):
            if piece.token:
                start, end = (before + len(document[:at].encode()) for at in (piece.start, piece.end))
                found.append((start, end, piece.token.id))
        before += len(document.encode())
    return found


def compiled(tokens: AddedTokens, documents: list[str], match_special: bool) -> list[tuple[int, int, int]]:
    matcher = AddedMatcher.of(tokens, match_special=match_special)
    if matcher is None:
        return []
    places, ids = matcher.find(*laid_out(documents))
    assert (places.dtype, ids.dtype) == (np.int64, np.int32)
    return [(start, end, number) for (start, end), number in zip(places.tolist(), ids.tolist(), strict=True)]


def added(vocabulary: dict[str, dict[str, bool]]) -> AddedTokens:
    return AddedTokens(AddedToken(text, 7 * k, **flags) for k, (text, flags) in enumerate(vocabulary.items()))


@settings(max_examples=150, deadline=None)
@given(vocabularies, st.lists(texts, max_size=5), st.booleans())
def test_as_the_plain_form(vocabulary, documents, match_special):
    tokens = added(vocabulary)
    assert compiled(tokens, documents, match_special) == plainly(tokens, documents, match_special)


@settings(max_examples=150, deadline=None)
@given(vocabularies, texts, st.booleans())
def test_as_tokenizers(vocabulary, text, match_special):
    theirs = Tokenizer(models.BPE({"unknown": 0}, [], unk_token="unknown"))
    for content, flags_ in vocabulary.items():
        add = theirs.add_special_tokens if flags_["special"] else theirs.add_tokens
        add([TheirToken(content, normalized=False, **flags_)])
    theirs.encode_special_tokens = not match_special
    try:
        encoding = theirs.encode(text, add_special_tokens=False)
    except BaseException as error:  # a panic: two tokens that strip the same spaces, on some texts
        assume("bad split" not in str(error))
        raise
    places = [len(text[:at].encode()) for at in range(len(text) + 1)]
    expected = [
        (places[start], places[end], index)
        for index, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
        if index
    ]
    ours = AddedTokens(
        AddedToken(content, theirs.token_to_id(content), normalized=False, **flags_)
        for content, flags_ in vocabulary.items()
    )
    assert compiled(ours, [text], match_special) == expected


def test_normalized_contents():
    tokens = AddedTokens([AddedToken("ABC", 1), AddedToken("ÉA", 2)], normalize=str.lower)
    assert compiled(tokens, ["xabcéa", "ABC"], True) == [(1, 4, 1), (4, 7, 2)]


@pytest.mark.parametrize("match_special", [False, True])
def test_many_tokens_that_begin_in_many_ways(match_special):
    points = [*range(0x21, 0x7F), *range(0xA1, 0x250, 3), *range(0x4E00, 0x9000, 97), *range(0x1F600, 0x1F640)]
    words = [chr(point) * (1 + point % 3) for point in points] + [f"<unused{k}>" for k in range(99)]
    tokens = AddedTokens(AddedToken(word, k, special=k % 5 == 0) for k, word in enumerate(words))
    chosen = np.random.default_rng(3)
    documents = ["".join(words[k] for k in chosen.integers(0, len(words), 50)) for _ in range(20)]
    documents += [text[1:-1].replace("u", "") for text in documents]
    assert compiled(tokens, documents, match_special) == plainly(tokens, documents, match_special)


@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 127, 128, 129])
def test_matches_at_the_edges_of_what_is_looked_at_together(length):
    tokens = added({"<s>": {}, "s><": {}, "x" * length: {}, "xx": {"lstrip": True}})
    documents = [" " * k + "<s><s" + "x" * length + "x" * k for k in range(70)]
    assert compiled(tokens, documents, True) == plainly(tokens, documents, True)


def test_no_match_reaches_across_documents_or_into_what_is_behind_them():
    tokens = added({"ab": {}, "abc": {}, "  ": {"lstrip": True, "rstrip": True}, "c": {"single_word": True}})
    documents = ["", "xa", "b", "", "ab", "c", " ", " ", "c", "", "a", "c ", " ", ""]
    assert compiled(tokens, documents, True) == plainly(tokens, documents, True)
    assert compiled(tokens, [], True) == compiled(tokens, ["", ""], True) == []


def test_more_matches_than_there_is_room_for_at_first(monkeypatch):
    monkeypatch.setattr(added_matching, "_ROOM", 2)
    tokens = added({"a": {}, "aa": {}, " ": {"rstrip": True}})
    documents = ["a a", "", "aaa a" * 9, "b", "a" * 100]
    assert compiled(tokens, documents, True) == plainly(tokens, documents, True)


def test_white_space_in_time_that_grows_with_its_length():
    tokens = added({" ": {"rstrip": True}, "\n": {"lstrip": True, "rstrip": True}, "x": {"lstrip": True}})
    text = (" " * 300 + "\n" * 300) * 3
    assert compiled(tokens, [text], True) == plainly(tokens, [text], True)
    assert len(compiled(tokens, [" " * 1_000_000], True)) == 1_000_000


def test_nothing_to_match_is_none():
    assert AddedMatcher.of(AddedTokens([]), match_special=True) is None
    assert AddedMatcher.of(AddedTokens([AddedToken("", 1)]), match_special=True) is None
    special = AddedTokens([AddedToken("<s>", 1, special=True)])
    assert AddedMatcher.of(special, match_special=False) is None
    assert AddedMatcher.of(AddedTokens([AddedToken("\ud800x", 1)]), match_special=True) is None


def test_characters_are_those_of_the_plain_form():
    flags = added_matching._characters()
    for point in [*range(0x300), *range(0x300, 0xD800, 61), *range(0xE000, 0x110000, 997)]:
        word = any(compile_regex(r"\w", "rust").spans(chr(point)))
        assert flags[point] == word + 2 * (chr(point) in SPACE), hex(point)
