"""The ragged batch, and what is derived for tokenizers that offer only the minimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.inspection.audit import audit
from tokbench.inspection.pieces import pieces
from tokbench.tokenizer import (
    Tokenizer,
    checked_ids,
    decode_batch,
    encode_batch,
    offsets_batch,
    special_ids,
    token_bytes,
    unk_id,
)


class Minimal:
    """A tokenizer with nothing but the protocol."""

    name = "minimal"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@given(st.lists(st.lists(st.integers(0, 2**31 - 1))))
def test_a_batch_gives_back_its_documents(documents: list[list[int]]) -> None:
    batch = TokenBatch.of(documents)
    assert [ids.tolist() for ids in batch] == documents
    assert batch.lengths().tolist() == [len(document) for document in documents]
    assert batch.ids.dtype == np.int32
    assert batch.offsets.dtype == np.int64


@pytest.mark.parametrize("wrong", [[1.5], [[1, 2]], ["a"], [2**31], [None], "abc"])
def test_what_is_not_ids_is_refused(wrong: list[int]) -> None:
    with pytest.raises(TokenizerError, match="encode must return a flat sequence of whole numbers"):
        TokenBatch.of([wrong])
    with pytest.raises(TokenizerError, match="ids"):
        TokenBatch.of_lists([[1], wrong])


def test_whose_ids_are_none_is_said() -> None:
    class Wrong(Minimal):
        def encode(self, text: str) -> Any:
            return [[1], [2, 3]] if text == "uneven" else text

    for text, found in (("uneven", "list"), ("ab", "str")):
        for asked in (lambda text: encode_batch(Wrong(), [text]), lambda text: checked_ids(Wrong(), text)):
            with pytest.raises(TokenizerError, match=f"^minimal: encode must return .*; it returned {found}"):
                asked(text)


def test_an_index_beyond_the_batch_is_an_error() -> None:
    with pytest.raises(IndexError):
        TokenBatch.of([[1]])[1]


def test_capabilities_are_derived() -> None:
    tokenizer = Minimal()
    assert isinstance(tokenizer, Tokenizer)
    assert [ids.tolist() for ids in encode_batch(tokenizer, ["ab", "", "é"])] == [[97, 98], [], [195, 169]]
    assert token_bytes(tokenizer, 97) == b"a"
    assert special_ids(tokenizer) == frozenset()
    assert unk_id(tokenizer) is None


def test_a_part_of_a_character_that_decode_refuses_is_a_replacement_character() -> None:
    class Strict(Minimal):
        def decode(self, ids: Sequence[int]) -> str:
            return bytes(ids).decode()

    assert token_bytes(Strict(), 0xC3) == token_bytes(Minimal(), 0xC3) == "\ufffd".encode()
    assert pieces(Strict(), "né") == pieces(Minimal(), "né")
    assert audit(Strict()).counts == audit(Minimal()).counts


def test_what_is_decoded_is_text_and_what_a_token_stands_for_bytes() -> None:
    class Wrong(Minimal):
        def decode(self, ids: Sequence[int]) -> Any:
            return b"x"

        def token_bytes(self, token_id: int) -> Any:
            return "x"

    with pytest.raises(TokenizerError, match="decode returned bytes, not str"):
        decode_batch(Wrong(), TokenBatch.of([[1]]))
    with pytest.raises(TokenizerError, match="token_bytes returned str, not bytes"):
        token_bytes(Wrong(), 1)


def test_a_batch_that_is_none_is_refused() -> None:
    class Lists(Minimal):
        def encode_batch(self, texts: Sequence[str]) -> Any:
            return [[1] for _ in texts]

    with pytest.raises(TokenizerError, match=r"returned list, not a TokenBatch; TokenBatch\.of makes one"):
        encode_batch(Lists(), ["a", "b"])


def test_a_batch_of_the_wrong_length_is_refused() -> None:
    class Short(Minimal):
        def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
            return TokenBatch.of([[1]])

    with pytest.raises(TokenizerError, match="returned 1 documents for 2 texts"):
        encode_batch(Short(), ["a", "b"])


@pytest.mark.parametrize("limits", [[0], [0, 2], [0, 1, 1], [1, 1, 2]])
def test_places_of_a_batch_that_are_not_cut_into_its_texts_are_refused(limits: list[int]) -> None:
    class Placed(Minimal):
        def offsets(self, text: str) -> Any:
            return np.zeros((len(text), 2), np.int64)

        def offsets_batch(self, texts: Sequence[str]) -> Any:
            return np.array([[0, 1], [0, 1]]), np.array(limits)

    with pytest.raises(TokenizerError, match="minimal: offsets_batch returned limits that do not cut 2 spans"):
        offsets_batch(Placed(), ["a", "b"])


def test_the_limits_of_no_texts_are_whole_numbers() -> None:
    class Places:
        """A tokenizer that tells places one text at a time."""

        def offsets(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

    for texts, expected in (([], [0]), (["ab", "c"], [0, 1, 2])):
        _, limits = offsets_batch(Places(), texts)
        assert (limits.dtype, limits.tolist()) == (np.int64, expected)
