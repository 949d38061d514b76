"""wordchipper gives tiktoken's ids, and never stands in with a vocabulary of bytes."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from tokbench_extras.published import SHA256, cached
from tokbench_extras.wordchipper_bpe import ENCODINGS

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import TokenizerError, UnknownNameError


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wordchipper_gives_tiktokens_ids(encoding, hard_texts, monkeypatch):
    pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    monkeypatch.setenv("WORDCHIPPER_CACHE_DIR", "mine")
    tokenizer, other = load(f"wordchipper:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    assert os.environ["WORDCHIPPER_CACHE_DIR"] == "mine"
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()
    assert (tokenizer.vocab_size, tokenizer.special_ids) == (other.vocab_size, other.special_ids)
    assert np.array_equal(
        load(f"wordchipper:{encoding}", 2).encode_batch(hard_texts).ids, tokenizer.encode_batch(hard_texts).ids
    )


def test_wordchipper_never_stands_in_with_a_vocabulary_of_bytes(test_data, tmp_path, monkeypatch):
    wordchipper = pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    file = cached("r50k_base")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR"):
        load("wordchipper:r50k_base")
    damaged = b"".join(file.read_bytes().splitlines(keepends=True)[:300])
    cached("r50k_base").write_bytes(damaged)
    for family in ("wordchipper", "gigatoken"):
        with pytest.raises(TokenizerError, match=r"damaged.*Delete it, and load tiktoken:r50k_base") as caught:
            load(f"{family}:r50k_base")
        assert "\n" not in str(caught.value)
    monkeypatch.setattr(wordchipper.Tokenizer, "vocab_size", 256)  # what it makes of the empty file
    monkeypatch.setitem(SHA256, "r50k_base", hashlib.sha256(damaged).hexdigest())
    with pytest.raises(TokenizerError, match="read 256 tokens of the 300"):
        load("wordchipper:r50k_base")
    assert [path.name for path in tmp_path.iterdir()] == [cached("r50k_base").name]


def test_wordchipper_says_what_it_does_not_take(test_data):
    pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    with pytest.raises(UnknownNameError, match="o200k_base"):
        load("wordchipper:o200k")
    tokenizer = load("wordchipper:cl100k_base")
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="no token"):
        tokenizer.decode([99_999_999])
    text = "a<|endoftext|>"
    assert 100257 not in tokenizer.encode(text)
    assert load("wordchipper:cl100k_base,special=match").encode(text)[-1] == 100257
