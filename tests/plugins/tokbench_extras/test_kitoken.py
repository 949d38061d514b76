"""kitoken gives the ids of tokenizers for byte-level BPE, and says what it cannot load."""

from __future__ import annotations

import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import SpecError, TokenizerError


@pytest.fixture(autouse=True)
def _installed():
    pytest.importorskip("kitoken", reason="needs the extra kitoken")


@pytest.mark.parametrize("model", ["gpt2", "qwen2"])
def test_kitoken_gives_the_ids_and_text_of_tokenizers(model, test_data, hard_texts):
    folder = test_data / "vocabs" / model / "hf"
    tokenizer, other = load(f"kitoken:{folder}"), tokbench.load(f"transformers:{folder}")
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    assert tokenizer.encode_batch([]).ids.tolist() == []
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == other.decode(other.encode(text))
    assert tokenizer.facts()["normalizer"] == {"gpt2": None, "qwen2": "NFC"}[model]


@pytest.mark.parametrize("model", ["bert-base-uncased", "t5-base", "llama-2"])
def test_kitoken_gives_the_ids_of_ordinary_text_of_other_models(model, test_data):
    folder = test_data / "vocabs" / model / "hf"
    tokenizer, other = load(f"kitoken:{folder}"), tokbench.load(f"transformers:{folder}")
    for text in ("The cat sat on the mat, didn't it?", "Dès Noël où un zéphyr haï", "x = 12345"):
        assert list(tokenizer.encode(text)) == list(other.encode(text))


def test_kitoken_matches_special_tokens_on_request(test_data):
    folder = test_data / "vocabs" / "gpt2" / "hf"
    assert 50256 not in load(f"kitoken:{folder}").encode("a<|endoftext|>")
    match = load(f"kitoken:{folder},special=match")
    assert match.encode("a<|endoftext|>")[-1] == 50256
    assert match.special_ids == {50256}


def test_kitoken_says_what_it_cannot_load_or_encode(test_data, tmp_path):
    (tmp_path / "wrong.json").write_text("{}")
    cases = {
        f"kitoken:{tmp_path}/wrong.json": "cannot load",
        f"kitoken:{tmp_path}/absent.json": "no file",
        "kitoken": r"name a tokenizer\.json",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    tokenizer = load(f"kitoken:{test_data}/vocabs/gpt2/hf")
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="outside 0"):
        tokenizer.decode([50257])
