"""Every adapter and baseline passes the conformance kit, with what a library does otherwise named."""

from __future__ import annotations

import importlib.util

import pytest

import tokbench
from tokbench.testing.kit import failures_of

EXAMPLES = 12
# Unigram models in tokenizers hold their special tokens as ordinary pieces and match them in text, which
# sentencepiece, from whose files they were made, does not. No switch of the library changes it; `tokbench show`
# names the tokens.
MATCHED_BY_THE_MODEL = ("content_only", "special_text")

LOADED = {
    "bytes": (),
    "chars": (),
    "bpe:{}/gpt2/hf/tokenizer.json": (),
    "bpe:{}/qwen2/hf/tokenizer.json": (),
    "wordpiece:{}/bert-base-uncased/vocab.txt": (),
    "wordpiece:{}/bert-base-multilingual-cased/vocab.txt": (),
    "unigram:{}/t5-base/spiece.model": (),
    "unigram:{}/albert-base-v1/spiece.model": (),
    "bpe:{}/llama-2/tokenizer.model": (),
    "tiktoken:gpt2": (),
    "tiktoken:o200k_base": (),
    "sentencepiece:{}/t5-base/spiece.model": (),
    "sentencepiece:{}/albert-base-v1/spiece.model": (),
    "sentencepiece:{}/llama-2/tokenizer.model": (),
    "transformers:{}/gpt2/hf": (),
    "transformers:{}/llama-2/hf": (),
    "transformers:{}/qwen2/hf": (),
    "transformers:{}/bert-base-uncased/hf": (),
    "transformers:{}/t5-base/hf": MATCHED_BY_THE_MODEL,
    "transformers:{}/bert-base-multilingual-cased,tokenizer_class=BertTokenizer": (),
    "gigatoken:o200k_base": (),
    "gigatoken:{}/qwen2/hf": (),
    "snaptokens:{}/gpt2/hf": (),
    "snaptokens:{}/qwen2/hf": (),
    "kitoken:{}/gpt2/hf": (),
    "quicktok:o200k_base": (),
    "quicktok:qwen3": (),
    "wordchipper:o200k_base": (),
    "mistral:tekken_240911": (),
    "mistral:v3": (),
}
TRAINED = (
    "whitespace:vocab_size=100",
    "words:vocab_size=100",
    "maxmatch:vocab_size=400",
    "sentencepiece:model_type=unigram,vocab_size=60,hard_vocab_limit=false",
    "sentencepiece:model_type=bpe,vocab_size=330,byte_fallback=true",
    "transformers:model_type=bpe,vocab_size=300",
    "transformers:model_type=wordpiece,vocab_size=80",
    "transformers:model_type=unigram,vocab_size=60",
    "transformers:model_type=wordlevel,vocab_size=60",
    "morfessor:corpus_weight=1.0",
)
EXTRAS = {"mistral": "mistral_common"} | {
    name: name for name in ("gigatoken", "snaptokens", "kitoken", "quicktok", "wordchipper", "morfessor")
}
QUICK = ("bytes", "chars", *EXTRAS)
"""What is tried every day, or wherever an extra is installed; of the others a vocabulary takes seconds."""
CORPUS = [
    f"The {adjective} {noun} walked to {number} houses and was {adjective}er than ever: élan, naïveté!"
    for number, noun in enumerate(("dog", "cat", "farmer", "teacher", "walker"), start=7)
    for adjective in ("old", "slow", "kind", "proud")
]


def need_extra(spec: str) -> None:
    module = EXTRAS.get(spec.partition(":")[0])
    if module and importlib.util.find_spec(module) is None:
        pytest.skip(f"needs the extra that brings {module}")


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=[] if spec.startswith(QUICK) else [pytest.mark.long]) for spec in LOADED],
)
def test_what_is_loaded_conforms(spec, test_data):
    need_extra(spec)
    tokenizer = tokbench.load(spec.format(test_data / "vocabs"))
    assert failures_of(tokenizer, examples=EXAMPLES, skip=LOADED[spec]) == []


@pytest.mark.parametrize("spec", TRAINED)
def test_what_is_trained_conforms(spec):
    need_extra(spec)
    tokenizer = tokbench.load(spec, train_on=CORPUS)
    assert failures_of(tokenizer, examples=EXAMPLES) == []


def test_rwkv_over_a_real_vocabulary_conforms(test_data, tmp_path):
    gpt2 = tokbench.load("tiktoken:gpt2")
    tokens = [gpt2.token_bytes(index) for index in range(gpt2.vocab_size - 1)]
    lines = [f"{index} {_literal(token)} {len(token)}\n" for index, token in enumerate(tokens, start=1)]
    (tmp_path / "vocab.txt").write_text("".join(lines), encoding="utf-8")
    tokenizer = tokbench.load(f"rwkv:{tmp_path}/vocab.txt")
    assert tokenizer.vocab_size == gpt2.vocab_size
    assert failures_of(tokenizer, examples=EXAMPLES) == []


def _literal(token: bytes) -> str:
    """As RWKV's files write a token: text where it is text, bytes where it is not."""
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)
