"""Offsets come with the ids where most documents will need them, and nothing that is counted changes by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.errors import TokenizerError
from tokbench.tally.collect import collect

KNOWN = "1 Aabcdéz the tokens of a text, and its words at last 23."
STRANGE = "ᚠ1ᚢ ᚦ1 ᚨᚱ1ᚲ 1ᚷᚹ 1ᚺ ᚾ1ᛁ ᛃ1 ᛇ1ᛈ ᛉ ᛊ1 ᛏ1ᛒ ᛖ ᛗ1ᛚ"
"""What the tokenizer has no letters for, about a digit that may lie in many places."""


class Alone:
    """Letters, runs of unknown ones as one token; keeps which calls were made, with how many texts."""

    name, vocab_size, unk_id, special_ids = "alone", 128, 0, frozenset({0})

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def _both(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for place, letter in enumerate(text):
            token = ord(letter) if letter.isascii() else self.unk_id
            if token == self.unk_id and ids[-1:] == [token]:
                spans[-1] = spans[-1][0], place + 1
            else:
                ids.append(token)
                spans.append((place, place + 1))
        return ids, spans

    def encode(self, text: str) -> Sequence[int]:
        return self._both(text)[0]

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        self.calls.append(("ids", len(texts)))
        return TokenBatch.of(map(self.encode, texts))

    def decode(self, ids: Sequence[int]) -> str:
        return "".join("?" if token == self.unk_id else chr(token) for token in ids)

    def token_bytes(self, token_id: int) -> bytes:
        return b"" if token_id == self.unk_id else bytes([token_id])

    def offsets(self, text: str) -> np.ndarray:
        return np.array(self._both(text)[1], np.int64).reshape(-1, 2)

    def offsets_batch(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        self.calls.append(("spans", len(texts)))
        spans = [self.offsets(text) for text in texts]
        return np.concatenate(spans), np.append(0, np.cumsum([len(each) for each in spans]))


class Told(Alone):
    """The same, which encodes with offsets, too."""

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, np.ndarray]:
        self.calls.append(("both", len(texts)))
        return TokenBatch.of(map(self.encode, texts)), np.concatenate([self.offsets(text) for text in texts])


def documents(text: str, n: int = 200) -> Iterable[Document]:
    return [Document(f"{text} {number}" if number % 11 else KNOWN) for number in range(n)]


@pytest.mark.parametrize("text", [STRANGE, KNOWN])
def test_the_tally_is_the_same(text: str) -> None:
    told, alone = Told(), Alone()
    for tokenizer in (told, alone):
        collect(tokenizer, [Document("ᚠ")])  # from now on it is known to have unknown tokens
    assert collect(told, documents(text)) == collect(alone, documents(text))
    assert ("both", 200) in told.calls if text == STRANGE else ("both", 200) not in told.calls
    assert not any(call == "spans" and n > 1 for call, n in told.calls)
    assert any(call == "spans" and n > 1 for call, n in alone.calls) == (text == STRANGE)


def test_nobody_looks_before_an_unknown_token_was_met_nor_into_small_batches() -> None:
    tokenizer = Told()
    collect(tokenizer, documents(KNOWN.replace("é", "e")))
    assert tokenizer.calls[0] == ("ids", 200)
    collect(tokenizer, [Document("ᚠ")])
    collect(tokenizer, documents(STRANGE, 100))
    assert ("both", 100) not in tokenizer.calls


def test_spans_of_a_wrong_number_are_an_error() -> None:
    class Short(Told):
        def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, np.ndarray]:
            tokens, spans = super().encode_with_offsets(texts)
            return tokens, spans[1:]

    tokenizer = Short()
    collect(tokenizer, [Document("ᚠ")])
    with pytest.raises(TokenizerError, match="encode_with_offsets returned spans of shape"):
        collect(tokenizer, documents(STRANGE))
