"""quicktok gives the ids of tiktoken and tokenizers, and says what it cannot load."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import SpecError, TokenizerError, UnknownNameError


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base", "o200k_harmony"])
def test_quicktok_gives_tiktokens_ids(encoding, hard_texts):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    tokenizer, other = load(f"quicktok:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()
    assert (tokenizer.vocab_size, tokenizer.special_ids) == (other.vocab_size, other.special_ids)
    assert np.array_equal(
        load(f"quicktok:{encoding}", 2).encode_batch(hard_texts).ids, tokenizer.encode_batch(hard_texts).ids
    )


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of the library's, when it imports
@pytest.mark.parametrize("variant", ["qwen3", "{}/vocabs/qwen2/hf"])
def test_quicktok_gives_the_ids_of_tokenizers(variant, test_data, capfd, hard_texts):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    texts, other = hard_texts, tokbench.load(f"transformers:{test_data}/vocabs/qwen2/hf")
    tokenizer = load(f"quicktok:{variant.format(test_data)}")
    assert capfd.readouterr().out == ""
    check(tokenizer, texts, [list(other.encode(text)) for text in texts])
    assert tokenizer.lossless is False
    assert tokenizer.facts()["normalizer"] == "NFC"


def test_quicktok_matches_special_tokens_on_request(test_data):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    text = "a<|endoftext|>"
    assert 100257 not in load("quicktok:cl100k_base").encode(text)
    match = load("quicktok:cl100k_base,special=match")
    assert match.encode(text)[-1] == match.encode_batch([text]).ids[-1] == 100257


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of the library's, when it imports
def test_quicktok_says_what_it_cannot_load(test_data, tmp_path, monkeypatch):
    quicktok = pytest.importorskip("quicktok", reason="needs the extra quicktok")
    (tmp_path / "wrong.json").write_text("{}")
    cases = {
        f"quicktok:{test_data}/vocabs/gpt2/hf": "unrecognized pretokenizer pattern",
        f"quicktok:{test_data}/vocabs/llama-2/hf": "unsupported normalizer",
        f"quicktok:{tmp_path}/wrong.json": "cannot load",
        f"quicktok:{tmp_path}/absent.json": "no file",
        "quicktok:o200k": "o200k_base",
        "quicktok": "name an encoding",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError, UnknownNameError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        load("quicktok:cl100k_base").encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="no token"):
        load("quicktok:cl100k_base").decode([99_999_999])
    monkeypatch.delattr(quicktok, "import_tokenizer")
    with pytest.raises(TokenizerError, match="quicktok-v1"):
        load("quicktok:cl100k_base")
