"""gigatoken reads tiktoken's cached ranks, and sentencepiece models with their control symbols as text."""

from __future__ import annotations

import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import load
from tokbench import TokenizerError


def test_ranks_that_are_not_in_the_cache_are_named(tmp_path, monkeypatch):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR"):
        load("gigatoken:cl100k_base")


def test_control_symbols_of_a_model_are_ordinary_text(test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    path = test_data / "vocabs" / "llama-2" / "tokenizer.model"
    theirs = tokbench.load(f"sentencepiece:{path}")
    ours = tokbench.load(f"gigatoken:{path}")
    for text in ("<s>", "a</s>b <unk> <0x0A>", "plain text"):
        assert list(ours.encode(text)) == list(theirs.encode(text))
    assert 1 in tokbench.load(f"gigatoken:{path},special=match").encode("<s>")
