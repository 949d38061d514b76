"""gigatoken gives the ids of tiktoken and tokenizers, and says what it cannot load."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import SpecError, TokenizerError


@pytest.mark.parametrize("encoding", ["r50k_base", "cl100k_base", "o200k_base"])
def test_gigatoken_gives_tiktokens_ids(encoding, hard_texts):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    tokenizer, other = load(f"gigatoken:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert np.array_equal(
        load(f"gigatoken:{encoding}", 2).encode_batch(hard_texts).ids, tokenizer.encode_batch(hard_texts).ids
    )
    ids = tokenizer.encode("naïve 龘")
    assert b"".join(map(tokenizer.token_bytes, ids)) == "naïve 龘".encode()


@pytest.mark.parametrize("model", ["gpt2", "qwen2", "llama-2"])
def test_gigatoken_gives_the_ids_of_tokenizers(model, test_data, hard_texts):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    folder = test_data / "vocabs" / model / "hf"
    other = tokbench.load(f"transformers:{folder}")
    check(load(f"gigatoken:{folder}"), hard_texts, [list(other.encode(text)) for text in hard_texts])


def test_gigatoken_says_what_it_cannot_load(test_data, tmp_path, monkeypatch):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    (tmp_path / "mine.tiktoken").write_text("IQ== 0\n")
    cases = {
        f"gigatoken:{test_data}/vocabs/t5-base/hf": "Unigram",
        f"gigatoken:{tmp_path}/mine.tiktoken": "pretokenizer=",
        f"gigatoken:{tmp_path}/absent.json": "no file",
        "gigatoken": "name an encoding",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        load("gigatoken:cl100k_base").encode("a\ud800")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR"):
        load("gigatoken:cl100k_base")


def test_gigatoken_matches_special_tokens_on_request(test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    text = "a<|endoftext|>"
    assert 100257 not in load("gigatoken:cl100k_base").encode(text)
    assert load("gigatoken:cl100k_base,special=match").encode(text)[-1] == 100257


def test_control_symbols_of_a_model_are_ordinary_text(test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    path = test_data / "vocabs" / "llama-2" / "tokenizer.model"
    theirs = tokbench.load(f"sentencepiece:{path}")
    ours = tokbench.load(f"gigatoken:{path}")
    for text in ("<s>", "a</s>b <unk> <0x0A>", "plain text"):
        assert list(ours.encode(text)) == list(theirs.encode(text))
    assert 1 in tokbench.load(f"gigatoken:{path},special=match").encode("<s>")


def test_ids_that_are_none_are_errors(test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    tokenizer = tokbench.load(f"gigatoken:{test_data}/vocabs/qwen2/hf")
    for wrong in (-1, tokenizer.vocab_size, 2**32):
        with pytest.raises(TokenizerError, match="there is no token"):
            tokenizer.decode([wrong])
