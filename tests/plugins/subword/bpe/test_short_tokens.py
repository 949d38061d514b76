"""Words that are tokens: found by one probe where they are short, by their bytes where they are not."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.short_tokens import SHORT_TOKEN, ShortTokens, short_token_id
from tokbench_subword.bpe.tables import NONE, TokenTable
from tokbench_subword.pipeline.patterns import Pattern

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import pointer

BYTES = tuple(bytes([byte]) for byte in range(256))


@kernel
def _look_up(table, shift, lows, keys, found):  # type: ignore[no-untyped-def]
    """The second word of a key is the bytes from the ninth on, with the length above them."""
    for i in range(len(lows)):
        found[i] = short_token_id(pointer(table), shift, lows[i], keys[i])


def found_ids(table: ShortTokens, words: list[bytes]) -> list[int]:
    """What the table says of each word, up to `SHORT_TOKEN` bytes long; -1 for nothing."""
    lows = np.array([int.from_bytes(word[:8], "little") for word in words], np.uint64)
    highs = [np.uint64(int.from_bytes(word[8:], "little")) for word in words]
    keys = np.array([high | np.uint64(len(w) << 32) for high, w in zip(highs, words, strict=True)], np.uint64)
    found = np.empty(len(words), np.uint32)
    _look_up(table.table, np.uint64(table.shift), lows, keys, found)
    return [-1 if id_ == NONE else int(id_) for id_ in found]


@pytest.mark.parametrize("count", [0, 1, 40, 20_000])
def test_the_table_knows_the_short_tokens_and_no_others(count: int) -> None:
    generator = random.Random(count)
    tokens = list({bytes(generator.choices(b"ab\0\xff", k=generator.randint(1, 16))) for _ in range(count)})
    table = ShortTokens.of(TokenTable.of(tokens))
    ids = {token: index for index, token in enumerate(tokens)}
    words = [token for token in tokens if len(token) <= SHORT_TOKEN]
    words += [bytes(generator.choices(b"ab\0\xff", k=generator.randint(1, SHORT_TOKEN))) for _ in range(5000)]
    assert found_ids(table, words) == [ids.get(word, -1) for word in words]


def test_words_that_are_tokens_are_those_tokens_at_every_length() -> None:
    """New and met before, one by one and in groups, beside words that differ in their last byte or in zeros."""
    tokens = [bytes([97 + length % 7]) * length for length in range(2, 40)]
    tokens += [b"a\0", b"a\0\0", b"abcdefgh\0", b"abcdefghijkl", b"abcdefghijk\0", b"abcdefghijklm"]
    model = BpeModel(
        vocabulary=(*BYTES, *tokens),
        merges=np.zeros((0, 3), np.int32),
        pattern=Pattern("none"),
        whole_tokens=True,
    )
    words = [token.decode() for token in tokens]
    words += [word[:-1] + "z" for word in words] + [word + "\0" for word in words]
    expected = [
        [model.ids[word.encode()]] if word.encode() in model.ids else list(word.encode()) for word in words
    ]
    encoder = Encoder(model)
    for _ in range(2):
        assert [ids.tolist() for ids in encoder.encode_batch(words)] == expected
    encoder.forget()
    assert [encoder.encode(word).tolist() for word in words] == expected
