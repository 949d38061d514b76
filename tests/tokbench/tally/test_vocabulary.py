"""The table of tokens' bytes, asked for one by one and many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tokbench import Document, TokenizerError
from tokbench.inspection.audit import audit
from tokbench.tally.collect import collect
from tokbench.tally.places import Aligner
from tokbench.tally.prepare import prepare
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import encode_batch

TEXTS = ["some text of letters", "", "é 漢字 🙂", "some text again"]


class AtOnce:
    """Bytes of which each is a token; tells those of many at once, and how many it was asked for."""

    name, vocab_size, lossless = "at once", 256, True

    def __init__(self) -> None:
        self.asked: list[int] = []

    def encode(self, text: str) -> Sequence[int]:
        return [*text.encode("utf-8", "surrogatepass")]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])

    def token_bytes_batch(self, ids: Sequence[int]) -> list[bytes]:
        self.asked.append(len(ids))
        return [self.token_bytes(token_id) for token_id in ids]


def test_both_ways_of_asking_count_the_same(stand_ins) -> None:
    documents = [Document(text) for text in TEXTS]
    assert collect(AtOnce(), documents).to_bytes() == collect(stand_ins.Pieces(), documents).to_bytes()


def test_a_token_is_asked_for_once() -> None:
    tokenizer = AtOnce()
    table, size = TokenTable(tokenizer), tokenizer.vocab_size
    for first in (5, 9, size - 1, 9):
        table.know(np.array([first, 7], np.int32))
    assert tokenizer.asked == [2, 1, 1]
    assert np.flatnonzero(table.flags).tolist() == [5, 7, 9, size - 1]
    table.know(np.arange(size, dtype=np.int32))
    assert sum(tokenizer.asked) == size
    assert [table.bytes_of(token) for token in range(size)] == [bytes([token]) for token in range(size)]


def test_too_few_are_an_error() -> None:
    class Short(AtOnce):
        def token_bytes_batch(self, ids: Sequence[int]) -> list[bytes]:
            return super().token_bytes_batch(ids)[1:]

    tokenizer = Short()
    with pytest.raises(TokenizerError, match="token_bytes_batch returned"):
        TokenTable(tokenizer).know(np.array([5], np.int32))


def test_two_count_apart_with_one_table(stand_ins) -> None:
    def aligned(aligner: Aligner, *texts: str) -> None:
        [batch] = prepare(map(Document, texts))
        assert aligner.align(batch, encode_batch(tokenizer, batch.texts)).exact.all()

    def counted(aligner: Aligner) -> dict[int, int]:
        return {token: count for token, count in enumerate(aligner.seen.tolist()) if count}

    tokenizer = stand_ins.Pieces("ab", "a piece of more than sixteen bytes")
    table = TokenTable(tokenizer)
    one, other = Aligner(tokenizer, table), Aligner(tokenizer, table)
    aligned(one, "ab", "abab")
    aligned(other, "a piece of more than sixteen bytes", "ab!")  # knows what the one does not
    aligned(one, "a piece of more than sixteen bytes!")
    assert counted(one) == {256: 3, 257: 1, ord("!"): 1}
    assert counted(other) == {257: 1, 256: 1, ord("!"): 1}


@pytest.mark.parametrize("method", ["token_bytes", "token_bytes_batch"])
def test_what_is_no_bytes_is_named(method: str) -> None:
    class Texts(AtOnce):
        def token_bytes(self, token_id: int) -> Any:
            return "x"

    class OneByOne(Texts):
        token_bytes_batch = None

    tokenizer = Texts() if method == "token_bytes_batch" else OneByOne()
    with pytest.raises(TokenizerError, match=f"at once: {method} returned str, not bytes"):
        TokenTable(tokenizer).know(np.array([5], np.int32))
    with pytest.raises(TokenizerError, match="at once: token_bytes returned str, not bytes"):
        audit(tokenizer)
