"""wordchipper never stands in with a vocabulary of bytes, and leaves the environment as it was."""

from __future__ import annotations

import hashlib
import os

import pytest
from tokbench_extras.published import SHA256, cached

from tests.plugins.tokbench_extras.loading import load
from tokbench import TokenizerError


def test_wordchipper_leaves_the_environment_as_it_was(test_data, monkeypatch):
    pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    monkeypatch.setenv("WORDCHIPPER_CACHE_DIR", "mine")
    load("wordchipper:r50k_base")
    assert os.environ["WORDCHIPPER_CACHE_DIR"] == "mine"


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
