"""WordPiece ids, offsets and decoding against `tokenizers`."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.bert import BertRules, marks
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.trie import VALUE_MASK, VALUE_SHIFT, build_trie, unit_of
from tokbench_subword.wordpiece.model import WordPieceModel, bert_document
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

from tests.plugins.subword.wordpiece.references import hard_texts, normalize, reference, reordered, words
from tokbench.testing import check_tokenizer

ALL_RULES = [
    BertRules.of(lowercase=lowercase, strip_accents=strip, clean_text=clean, handle_chinese_chars=spaced)
    for lowercase, strip, clean, spaced in [
        (True, True, True, True),
        (False, False, True, True),
        (True, False, True, False),
        (False, True, False, True),
        (False, False, False, False),
    ]
]

_TOKENS = ["[UNK]", "a", "b", "ab", "##a", "##b", "##ba", "##ba?", "?", ",", *"北é", "##é", "e", "##e", *"'#σ"]
SMALL = {token: index for index, token in enumerate(_TOKENS)}


@cache
def small(number: int) -> tuple[WordPieceTokenizer, Any]:
    rules = ALL_RULES[number]
    model = WordPieceModel(vocabulary=SMALL, document=bert_document(rules), max_input_chars_per_word=6)
    return WordPieceTokenizer("small", model), reference(SMALL, rules, max_input_chars_per_word=6)


@pytest.mark.parametrize("number", range(len(ALL_RULES)))
@settings(max_examples=200)
@given(text=hard_texts)
def test_ids_offsets_and_text_equal_tokenizers(number: int, text: str) -> None:
    ours, theirs = small(number)
    expected = theirs.encode(text, add_special_tokens=False)
    assert ours.encode(text) == ours(text) == expected.ids
    assert ours.normalize(text) == theirs.normalizer.normalize_str(text)
    assert ours.decode(expected.ids) == theirs.decode(expected.ids, skip_special_tokens=False)
    assert ours.encode_batch([text, "", text]).ids.tolist() == expected.ids * 2


@pytest.mark.parametrize("number", range(len(ALL_RULES)))
@given(texts=st.lists(hard_texts, max_size=4))
def test_spans_by_the_kernel_equal_those_of_the_general_path(number: int, texts: list[str]) -> None:
    ours = small(number)[0]
    spans, limits = ours.offsets_batch(texts)
    assert limits.tolist() == ours.encode_batch(texts).offsets.tolist()
    for index, text in enumerate(texts):
        found = spans[limits[index] : limits[index + 1]].tolist()
        assert found == ours._plain_offsets(text).tolist() == ours.offsets(text).tolist()


@pytest.mark.long
@pytest.mark.parametrize("rules", ALL_RULES[:2])
def test_every_code_point_is_treated_as_tokenizers_treats_it(rules: BertRules) -> None:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    normalizer = reference(SMALL, rules).normalizer
    cut = BertPreTokenizer()
    points = [*range(0, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), 0x10FFFF]
    for start in range(0, len(points), 400):
        # Joined by a letter on either side, so that whatever ends a word shows.
        text = "".join(f"x{chr(point)}y\n" for point in points[start : start + 400])
        normal = normalizer.normalize_str(text)
        assert normalize(text, rules) == normal, hex(points[start])
        expected = [piece for piece, _ in cut.pre_tokenize_str(normal)]
        assert [word.text for word in words(text, rules)] == expected, hex(points[start])


@pytest.mark.long
def test_the_kernel_equals_the_plain_form() -> None:
    """The kernel's tokens, with every character a token, spell what the plain form gives."""
    rules = BertRules()
    points = [point for point in range(0x30000) if not 0xD800 <= point < 0xE000]
    letters = sorted(
        {character for point in points for word in words(chr(point), rules) for character in word.text}
    )
    vocabulary = {"[UNK]": 0}
    for letter in letters:
        vocabulary[letter] = len(vocabulary)
        vocabulary["##" + letter] = len(vocabulary)
    tokenizer = WordPieceTokenizer("letters", WordPieceModel(vocabulary=vocabulary))
    # What decomposes, folds, goes, cuts or is reordered, and of the rest a sample.
    plain = [point for point in points if normalize(chr(point), rules) == chr(point)]
    ends_words = {point for point in plain if len(list(words(f"x{chr(point)}y", rules))) != 1}
    chosen = sorted(set(points) - set(plain) | ends_words | set(plain[::31]))
    texts = ["x" + chr(point) + "y" for point in chosen if not 0xAC00 <= point < 0xD7A0 or point % 50 == 0]
    names = {index: token for token, index in vocabulary.items()}
    for text, ids in zip(texts, tokenizer.encode_batch(texts), strict=True):
        expected = [
            ("##" if index else "") + character
            for word in words(text, rules)
            for index, character in enumerate(word.text)
        ]
        assert [names[index] for index in ids.tolist()] == expected, ascii(text)


def test_marks_are_reordered_as_tokenizers_reorders_them() -> None:
    pool = [*map(chr, sorted(reordered())), *map(chr, sorted(marks())[::9]), "a", "北", "\U0001d15e"]
    normalizer = reference(SMALL, BertRules()).normalizer
    draw = random.Random(3)
    for _ in range(3000):
        text = "".join(draw.choices(pool, k=draw.randint(2, 7)))
        assert normalize(text, BertRules()) == normalizer.normalize_str(text), ascii(text)


def test_words_that_cannot_be_built_are_unknown_as_a_whole() -> None:
    tokenizer = small(0)[0]
    assert tokenizer.tokenize("abba abz") == ["ab", "##ba", "[UNK]"]
    assert tokenizer.tokenize("a" * 6 + " " + "a" * 7) == ["a", *["##a"] * 5, "[UNK]"]


def test_special_tokens_are_text_and_added_tokens_are_not() -> None:
    vocabulary = {"[UNK]": 0, "[CLS]": 1, "[": 2, "cl": 3, "##s": 4, "]": 5, "a": 6}
    added = tuple(AddedToken(text, vocabulary[text], special=True) for text in ("[UNK]", "[CLS]"))
    tokenizer = WordPieceTokenizer(
        "t", WordPieceModel(vocabulary=vocabulary, document=bert_document(added_tokens=added))
    )
    assert tokenizer("[CLS]") == [2, 3, 4, 5]
    assert tokenizer.add_tokens(["<new>", "B"]) == [7, 8]
    assert tokenizer("a<new>aB") == [6, 7, 6, 8]
    assert tokenizer.encode_batch(["a<new>", "a"]).ids.tolist() == [6, 7, 6]
    assert tokenizer.offsets("a<new>aB").tolist() == [[0, 1], [1, 6], [6, 7], [7, 8]]
    assert tokenizer.decode([6, 7]) == "a <new>"
    assert tokenizer.convert_token_to_id("<new>") == 7
    assert tokenizer.convert_id_to_token(8) == "B"
    assert tokenizer.token_bytes(4) == b"s"
    assert tokenizer.token_bytes(1) == b""
    assert tokenizer.add_tokens("<s>", special=True) == [9]
    assert (tokenizer("<s>"), tokenizer.token_bytes(9)) == (tokenizer("<") + [0] * 2, b"")
    from tokbench.errors import TokenizerError

    with pytest.raises(TokenizerError, match="already"):
        tokenizer.add_tokens("a")
    with pytest.raises(TokenizerError, match=r"outside 0\.\.9"):
        tokenizer.decode([10])


def test_the_trace_ends_where_encode_does() -> None:
    tokenizer = small(0)[0]
    steps = list(tokenizer.trace("abba? abz"))
    assert [step.kind for step in steps] == ["words", "match", "match", "match", "match", "unknown"]
    assert [token.decode() for token in steps[-1].tokens] == ["ab", "##ba", "?", "abz"]
    assert steps[2].detail["candidates"] == []
    assert steps[1].detail["candidates"] == ["abba", "abb"]


def test_threads_give_what_one_gives() -> None:
    tokenizer = small(0)[0]
    texts = ["ab ba? é", "", "北 abab", "\u302e\u302e a"] * 30_000
    one = tokenizer.encode_batch(texts)
    two = WordPieceTokenizer("t", tokenizer.model, threads=3).encode_batch(texts)
    assert np.array_equal(one.ids, two.ids)
    assert np.array_equal(one.offsets, two.offsets)


def test_lone_surrogates_and_long_lines() -> None:
    tokenizer = small(0)[0]
    assert tokenizer("\ud800") == []  # U+FFFD, which cleaning removes
    assert tokenizer("a\ud800b") == [SMALL["ab"]]
    assert len(tokenizer("ab, " * 500_000)) == 1_000_000
    assert tokenizer("a" * 1_000_000) == [0]


def find(units: np.ndarray, key: bytes) -> int:
    """The id of the piece `key`, or -1."""
    return (unit_of(units, key) >> VALUE_SHIFT & VALUE_MASK) - 1


def test_a_trie_finds_what_is_in_it() -> None:
    draw = random.Random(0)
    letters = "ab\0\xff\u5317\uac00\ud800\U0010ffff"
    keys = {"".join(draw.choices(letters, k=draw.randint(1, 9))): number for number in range(3000)}
    wide = {chr(point) + "b": 5000 + point for point in range(0x4E00, 0x4E00 + 2000)}  # families that spread
    every = {key.encode("utf-8", "surrogatepass"): value for key, value in (keys | wide).items()}
    units = build_trie(every, nul=True)
    assert all(find(units, key) == value for key, value in every.items())
    for _ in range(3000):
        key = "".join(draw.choices(letters + "c", k=draw.randint(1, 9))).encode("utf-8", "surrogatepass")
        assert find(units, key) == every.get(key, -1)
    assert find(build_trie({}), b"a") == -1


def test_no_texts_have_no_spans_by_the_general_path_either() -> None:
    metaspace = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}
    model = WordPieceModel(vocabulary=SMALL, document=TokenizerJson(model={}, pre_tokenizer=metaspace))
    spans, limits = WordPieceTokenizer("general", model).offsets_batch([])
    assert (spans.shape, limits.tolist()) == ((0, 2), [0])


def test_conformance() -> None:
    check_tokenizer(small(0)[0], examples=30)
