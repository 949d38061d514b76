"""What callers hand to tokenizers is taken as it is, or refused in so many words."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

import tokbench
from tokbench.arguments import check_ids, flat_ids, known_id, known_ids, plain_texts
from tokbench.batch import TokenBatch, batched
from tokbench.errors import TokenizerError


@pytest.mark.parametrize(
    "ids",
    [
        *([1, 2], (1, 2), array("i", [1, 2]), range(1, 3), [np.int8(1), np.uint64(2)]),
        *(np.array([1, 2], dtype) for dtype in (np.int8, np.uint8, np.int32, np.int64, np.uint64, ">i4")),
    ],
)
def test_ids_of_any_kind(ids):
    assert known_ids(ids, 3, name="t") == flat_ids(ids, name="t").tolist() == [1, 2]


@pytest.mark.parametrize(
    "ids",
    [
        *(None, 3, 1.5, "12", b"12", bytearray(b"1"), memoryview(b"1"), {1: 2}, {1, 2}),
        *([1.0], [None], ["1"], [[1], [2]], [np.array([1])], [True], (2, False), [7] * 200 + [True]),
        *(np.array([1.0]), np.array([[1]]), np.array(1), np.array([True]), np.array(["1"])),
    ],
)
def test_what_is_no_flat_sequence_of_whole_numbers(ids):
    with pytest.raises(TokenizerError, match="t: ids must be a flat sequence of whole numbers"):
        flat_ids(ids, name="t")


@pytest.mark.parametrize("wrong", [-1, -3, -4, -7, 3, 2**31, -(2**63), 2**63, -(2**70)])
def test_ids_that_are_none(wrong):
    for ids in ([wrong], [1, wrong, 2], (wrong,)):
        with pytest.raises(TokenizerError, match=f"t: there is no token {wrong};"):
            known_ids(ids, 3, name="t")
    with pytest.raises(TokenizerError, match="there is no token"):
        known_id(wrong, 3, name="t")
    if abs(wrong) < 2**63:
        with pytest.raises(TokenizerError, match="there is no token"):
            check_ids(np.array([0, wrong, 1]), 3, name="t")
    check_ids(np.array([], np.int32), 3, name="t")
    check_ids(np.array([0, 2], np.int32), 3, name="t")


@pytest.mark.parametrize("wrong", [None, 1.0, "1", b"1", [1], True, False])
def test_what_is_no_id(wrong):
    with pytest.raises(TokenizerError, match="an id must be a whole number"):
        known_id(wrong, 3, name="t")


def test_an_iterator_is_read_once():
    assert known_ids(iter([0, 1] * 100), 3, name="t") == [0, 1] * 100
    with pytest.raises(TokenizerError, match=f"there is no token {2**63}; it is beyond 64 bits"):
        known_ids(iter([1, 2**63]), 3, name="t")


def test_texts():
    assert plain_texts(np.array(["a", "b"]), name="t") == plain_texts(iter("ab"), name="t") == ["a", "b"]
    with pytest.raises(TokenizerError, match=r"t: encode_batch takes a list of texts; .* \[text\]"):
        plain_texts("abc", name="t")
    for wrong in (None, 3):
        with pytest.raises(TokenizerError, match="takes a list of texts, not"):
            plain_texts(wrong, name="t")
    for wrong in ([None], ["a", b"b"], [["a"]], b"ab"):
        with pytest.raises(TokenizerError, match="a text must be a str, not"):
            plain_texts(wrong, name="t")


@pytest.mark.parametrize(
    ("ids", "offsets", "message"),
    [
        ([5, 6], [0, 9], "offsets must go up from 0 to the number of ids, 2"),
        ([5, 6], [1, 2], "offsets must go up"),
        ([5, 6], [0, 2, 1, 2], "offsets must go up"),
        ([5, 6], [0, -(2**63), 2], "offsets must go up"),
        ([5, 6], [], "offsets must go up"),
        ([[5, 6]], [0, 1], "ids must be a flat array of int32"),
    ],
)
def test_malformed_batches_cannot_be_made(ids, offsets, message):
    with pytest.raises(TokenizerError, match=message):
        TokenBatch(np.array(ids, np.int32), np.array(offsets, np.int64))


def test_batches_are_of_arrays_as_compiled_code_reads_them():
    ids, offsets = np.array([1, 2, 3, 4], np.int32), np.array([0, 2], np.int64)
    for wrong in (ids.astype(np.int64), ids.astype(">i4"), [1, 2]):
        with pytest.raises(TokenizerError, match="ids must be a flat array of int32"):
            TokenBatch(wrong, offsets)
    with pytest.raises(TokenizerError, match="offsets must be a flat array of int64"):
        TokenBatch(ids[:2], offsets.astype(np.int32))
    with pytest.raises(TokenizerError, match="side by side in memory"):
        TokenBatch(ids[::2], offsets)


def test_batches_of_lists_are_taken_for_batches():
    batch = TokenBatch.of([[1, 2], []])
    assert batched(batch, name="t") is batch
    assert batched([np.array([1, 2]), ()], name="t").to_lists() == [[1, 2], []]
    for wrong in (3, [1, 2], [[1], [True]]):
        with pytest.raises(TokenizerError, match="t: decode_batch takes a TokenBatch or lists of ids, not"):
            batched(wrong, name="t")
    with pytest.raises(TokenizerError, match="not a list of ids"):
        batched([["a"]], name="t")


@pytest.mark.parametrize("family", ["bpe:vocab_size=300", "wordpiece:vocab_size=100", "unigram:vocab_size=15"])
def test_every_in_house_family_takes_lists_and_refuses_what_is_no_text(family):
    tokenizer = tokbench.load(family, train_on=["the cat sat on the mat " * 20])
    ids = list(tokenizer.encode("the cat"))
    assert tokenizer.decode_batch([ids, []]) == [tokenizer.decode(ids), ""]
    with pytest.raises(TokenizerError, match="a text must be a str"):
        list(tokenizer.trace(None))
