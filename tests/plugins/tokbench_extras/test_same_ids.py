"""The adapters of quick libraries: the ids of the reference, and errors that say what they do not take."""

from __future__ import annotations

import numpy as np
import pytest
from tokbench_extras.wordchipper_bpe import ENCODINGS

import tokbench
from tests.plugins.tokbench_extras.loading import check, load
from tokbench import SpecError, TokenizerError, UnknownNameError

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of quicktok's, at its import
NFC = {"gpt2": None, "qwen2": "NFC"}
OF_TIKTOKEN = [
    *(("gigatoken", name) for name in ("r50k_base", "cl100k_base", "o200k_base")),
    *(("quicktok", name) for name in ("cl100k_base", "o200k_base", "o200k_harmony")),
    *(("wordchipper", name) for name in ENCODINGS),
]
OF_TOKENIZERS = [
    *(("gigatoken", model, "{folder}") for model in ("gpt2", "qwen2", "llama-2")),
    *((family, model, "{folder}") for family in ("kitoken", "snaptokens") for model in ("gpt2", "qwen2")),
    *(("quicktok", "qwen2", variant) for variant in ("qwen3", "{folder}")),
]
SPECIAL = {
    "gigatoken": ("cl100k_base", 100257),
    "kitoken": ("{vocabs}/gpt2/hf", 50256),
    "quicktok": ("cl100k_base", 100257),
    "snaptokens": ("{vocabs}/gpt2/hf", 50256),
    "wordchipper": ("cl100k_base", 100257),
}
REFUSED = {
    "gigatoken:{vocabs}/t5-base/hf": "Unigram",
    "gigatoken:{mine}/mine.tiktoken": "pretokenizer=",
    "gigatoken:{mine}/absent.json": "no file",
    "gigatoken": "name an encoding",
    "kitoken:{mine}/wrong.json": "cannot load",
    "kitoken:{mine}/absent.json": "no file",
    "kitoken": r"name a tokenizer\.json",
    "quicktok:{vocabs}/gpt2/hf": "unrecognized pretokenizer pattern",
    "quicktok:{vocabs}/llama-2/hf": "unsupported normalizer",
    "quicktok:{mine}/wrong.json": "cannot load",
    "quicktok:{mine}/absent.json": "no file",
    "quicktok:o200k": "o200k_base",
    "quicktok": "name an encoding",
    "snaptokens:{vocabs}/t5-base/hf": "cannot load",
    "snaptokens:{mine}/wrong.json": "cannot load",
    "snaptokens:{mine}/absent.json": "no file",
    "snaptokens": r"name a tokenizer\.json",
    "wordchipper:o200k": "o200k_base",
}


@pytest.fixture
def family(request):
    """A family whose library is installed; the test is skipped, with the reason, without it."""
    pytest.importorskip(request.param, reason=f"needs the extra {request.param}")
    return request.param


@pytest.mark.parametrize(("family", "encoding"), OF_TIKTOKEN, indirect=["family"])
def test_the_ids_of_tiktoken(family, encoding, hard_texts):
    tokenizer, other = load(f"{family}:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    for text in hard_texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()
    threaded = load(f"{family}:{encoding}", 2).encode_batch(hard_texts)
    assert np.array_equal(threaded.ids, tokenizer.encode_batch(hard_texts).ids)
    if family != "gigatoken":  # it is not told of special tokens, which its size leaves out
        assert (tokenizer.vocab_size, tokenizer.special_ids) == (other.vocab_size, other.special_ids)


@pytest.mark.parametrize(("family", "model", "variant"), OF_TOKENIZERS, indirect=["family"])
def test_the_ids_of_tokenizers(family, model, variant, test_data, hard_texts):
    folder = test_data / "vocabs" / model / "hf"
    tokenizer, other = (
        load(f"{family}:{variant.format(folder=folder)}"),
        tokbench.load(f"transformers:{folder}"),
    )
    check(tokenizer, hard_texts, [list(other.encode(text)) for text in hard_texts])
    assert tokenizer.encode_batch([]).ids.tolist() == []
    if family != "gigatoken":
        assert tokenizer.facts()["normalizer"] == NFC[model]
        assert not getattr(tokenizer, "lossless", False)
        for text in hard_texts:
            assert tokenizer.decode(tokenizer.encode(text)) == other.decode(other.encode(text))


@pytest.mark.parametrize("family", SPECIAL, indirect=True)
def test_special_tokens_are_matched_on_request(family, test_data):
    variant, special = SPECIAL[family]
    spec, text = f"{family}:{variant.format(vocabs=test_data / 'vocabs')}", "a<|endoftext|>"
    assert special not in load(spec).encode(text)
    match = load(f"{spec},special=match")
    assert match.encode(text)[-1] == match.encode_batch([text]).ids[-1] == special
    assert special in match.special_ids


@pytest.mark.parametrize("family", SPECIAL, indirect=True)
def test_what_cannot_be_loaded_is_said_in_a_line(family, test_data, tmp_path):
    (tmp_path / "wrong.json").write_text("{}")
    (tmp_path / "mine.tiktoken").write_text("IQ== 0\n")
    for spec, words in REFUSED.items():
        if spec.partition(":")[0] == family:
            with pytest.raises((TokenizerError, SpecError, UnknownNameError), match=words) as caught:
                load(spec.format(vocabs=test_data / "vocabs", mine=tmp_path))
            assert "\n" not in str(caught.value)


DAMAGED = {
    "[1, 2]": "not an object",
    "null": "not an object",
    '{"model": {': "not JSON.*complete",
    "{}": '"model"',
    '{"model": [1]}': '"model"',
    '{"model": {"type": "BPE"}}': '"vocab"',
    '{"model": {"vocab": {}}, "added_tokens": 5}': "added_tokens",
    '{"model": {"vocab": {}}, "added_tokens": [{"id": 1}]}': "added_tokens",
    '{"model": {"vocab": {}}, "added_tokens": [3]}': "added_tokens",
}


@pytest.mark.parametrize("family", ["gigatoken", "snaptokens", "kitoken"], indirect=True)
@pytest.mark.parametrize(("content", "words"), DAMAGED.items())
def test_what_is_wrong_with_a_file_is_said_in_words_of_the_file(family, content, words, tmp_path):
    """Not in Python's, such as "list indices must be integers"."""
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    for option in ("", ",special=match"):
        with pytest.raises(TokenizerError, match=rf"cannot load {path}: .*{words}"):
            load(f"{family}:{path}{option}")


@pytest.mark.parametrize("family", SPECIAL, indirect=True)
def test_what_cannot_be_encoded_or_decoded_is_said(family, test_data):
    tokenizer = load(f"{family}:{SPECIAL[family][0].format(vocabs=test_data / 'vocabs')}")
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode("a\ud800")
    for wrong in (-1, tokenizer.vocab_size, 2**32):
        with pytest.raises(TokenizerError, match="there is no token"):
            tokenizer.decode([wrong])
