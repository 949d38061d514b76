"""snaptokens gives the ids of tokenizers, and says what it cannot load."""

from __future__ import annotations

import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import SpecError, TokenizerError


@pytest.fixture(autouse=True)
def _installed():
    pytest.importorskip("snaptokens", reason="needs the extra snaptokens")


@pytest.mark.parametrize("model", ["gpt2", "qwen2"])
def test_snaptokens_gives_the_ids_and_text_of_tokenizers(model, test_data, hard_texts):
    folder = test_data / "vocabs" / model / "hf"
    tokenizer, other = load(f"snaptokens:{folder}"), tokbench.load(f"transformers:{folder}")
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    assert tokenizer.encode_batch([]).ids.tolist() == []
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == other.decode(other.encode(text))
    match = load(f"snaptokens:{folder},special=match")
    assert match.vocab_size == other.vocab_size
    assert match.facts()["normalizer"] == {"gpt2": None, "qwen2": "NFC"}[model]


def test_snaptokens_matches_special_tokens_on_request(test_data):
    folder = test_data / "vocabs" / "gpt2" / "hf"
    assert 50256 not in load(f"snaptokens:{folder}").encode("a<|endoftext|>")
    match = load(f"snaptokens:{folder},special=match")
    assert match.encode("a<|endoftext|>")[-1] == 50256
    assert match.special_ids == {50256}


def test_snaptokens_says_what_it_cannot_load_encode_or_decode(test_data, tmp_path):
    (tmp_path / "wrong.json").write_text("{}")
    cases = {
        f"snaptokens:{test_data}/vocabs/t5-base/hf": "cannot load",
        f"snaptokens:{tmp_path}/wrong.json": "cannot load",
        f"snaptokens:{tmp_path}/absent.json": "no file",
        "snaptokens": r"name a tokenizer\.json",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    tokenizer = load(f"snaptokens:{test_data}/vocabs/gpt2/hf")
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode_batch(["x", "a\ud800"])
    for wrong in (-1, 50257):
        with pytest.raises(TokenizerError, match="outside 0"):
            tokenizer.decode([wrong])
