"""Words that are tokens whatever the merges say: found by their bytes, at every length."""

from __future__ import annotations

import numpy as np
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.tables import EMPTY
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.words.layout import MODEL

from tests.plugins.subword.bpe.small_models import model_of


def test_words_that_are_tokens_are_those_tokens_at_every_length() -> None:
    """New and met before, one by one and in groups, beside words that differ in their last byte or in zeros."""
    tokens = [bytes([97 + length % 7]) * length for length in range(2, 40)]
    tokens += [b"a\0", b"a\0\0", b"abcdefgh\0", b"abcdefghijkl", b"abcdefghijk\0", b"abcdefghijklm"]
    model = model_of([], tokens=tokens, whole=True)
    words = [token.decode() for token in tokens]
    words += [word[:-1] + "z" for word in words] + [word + "\0" for word in words]
    expected = [
        [model.ids[word.encode()]] if word.encode() in model.ids else list(word.encode()) for word in words
    ]
    encoder = BpeEncoder(model)
    for _ in range(2):
        assert [ids.tolist() for ids in encoder.encode_batch(words)] == expected
    encoder.forget()
    assert [encoder.encode(word).tolist() for word in words] == expected
    tokenizer = BpeTokenizer.of_model(model, name="whole")
    for word, ids in zip(words, expected, strict=True):
        *_, last = tokenizer.trace(word)
        assert last.tokens == tuple(model.vocabulary[index] for index in ids), word


def test_a_word_that_is_a_token_is_no_such_token_as_a_part_of_a_longer_one() -> None:
    """Scripts of many characters are cut into parts, which the word cache keeps apart from words."""
    tokens = ("日".encode(), "日本".encode())
    encoder = BpeEncoder(model_of([], tokens=tokens, whole=True))
    longer = list("日本語日本".encode())
    for _ in range(2):
        ids = encoder.encode_batch(["日本", "日本語日本", "日本", "日"])
        assert [one.tolist() for one in ids] == [[257], longer, [257], [256]]


def test_only_tokens_that_merging_does_not_give_are_looked_for() -> None:
    """A token that is a piece comes of its merges; one that they miss is told by its bytes, short or long."""
    tokens = (b"ab", b"bc", b"abc", b"abcabc")
    model = model_of([(b"b", b"c"), (b"a", b"b")], tokens=tokens, whole=True)
    encoder, ids = BpeEncoder(model), model.ids
    table, longest = encoder._shared[at.TOKENS - MODEL], encoder._shared[at.SETTINGS - MODEL][at.LONGEST]
    assert sorted((table[table != EMPTY] & np.uint64(0xFFFFFFFF)).tolist()) == [ids[b"abc"], ids[b"abcabc"]]
    assert longest == 6
    words = ["ab", "bc", "abc", "abcabc", "abcab"]
    assert [found.tolist() for found in encoder.encode_batch(words)] == [
        [ids[b"ab"]],
        [ids[b"bc"]],
        [ids[b"abc"]],
        [ids[b"abcabc"]],
        [ids[b"a"], ids[b"bc"], ids[b"ab"]],
    ]
