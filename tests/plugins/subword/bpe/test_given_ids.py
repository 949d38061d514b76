"""Ids given to a BPE tokenizer: those that are none are named, and every form of the others decodes alike."""

from __future__ import annotations

import numpy as np
import pytest

from tokbench import TokenBatch, TokenizerError


@pytest.mark.parametrize("wrong", [[50257], [-1], [0, 10**9], [-50257], [3, -(10**6)]])
def test_ids_out_of_range(gpt2, wrong):
    decodings = (
        lambda: gpt2.decode(wrong),
        lambda: gpt2.decode(np.array(wrong)),
        lambda: gpt2.decode_batch(TokenBatch.of([[0], wrong])),
    )
    for decoding in decodings:
        with pytest.raises(TokenizerError, match="there is no token"):
            decoding()


@pytest.mark.parametrize("wrong", [-1, -50257, -50258, -2 * 50257, -(10**30), 50257, 2**63, 2**70])
def test_among_many_ids_each_that_is_none_is_named(gpt2, wrong):
    with pytest.raises(TokenizerError, match=f"there is no token {wrong};"):
        gpt2.decode([*range(3000), wrong, 5])
    with pytest.raises(TokenizerError, match="whole numbers"):
        gpt2.decode([*range(3000), 7.0])


def test_a_list_an_array_and_a_batch_decode_alike(gpt2):
    ids = gpt2.encode("Grün 日本 \U0001f600 ends in half a character: é")[:-1]
    for one in (ids, ids[:0], ids[3:4], np.tile(ids, 200)):
        texts = {gpt2.decode(one), gpt2.decode(one.tolist()), gpt2.decode(tuple(one))}
        assert texts == {*gpt2.decode_batch(TokenBatch.of([one]))}
        assert len(texts) == 1
    assert gpt2.decode(ids[3:4]).endswith("\ufffd")


def test_bytes_of_an_id_out_of_range_and_ids_of_nothing(gpt2):
    with pytest.raises(TokenizerError, match="there is no token"):
        gpt2.token_bytes(50257)
    assert gpt2.decode([]) == ""
    assert gpt2.encode("").tolist() == []
