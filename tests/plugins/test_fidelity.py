"""Every vocabulary over every corpus: the adapters' ids are those of the library called directly.

`pytest -m long` takes a few lines of each corpus, `pytest -m slow` all of them. Every day each adapter's own
tests hold the same vocabularies to it on strings that break things.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tokbench
from tests.plugins.subword.sentencepiece.conftest import BPE_MODELS, UNIGRAM_MODELS
from tokbench.registry import default_context

TIKTOKEN = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony")
TOKENIZERS = ("gpt2", "bert-base-uncased", "t5-base", "albert-base-v1", "llama-2", "qwen2")
SPECS = (
    *(f"tiktoken:{name}" for name in TIKTOKEN),
    *(f"sentencepiece:{{}}/{name}" for name in (*UNIGRAM_MODELS, *BPE_MODELS)),
    *(f"transformers:{{}}/{name}/hf/tokenizer.json" for name in TOKENIZERS),
    "transformers:{}/bert-base-multilingual-cased,tokenizer_class=BertTokenizer",
)
EXTRAS = {
    "gigatoken:o200k_base": "gigatoken",
    "quicktok:o200k_base": "quicktok",
    "wordchipper:o200k_base": "wordchipper",
    "mistral:tekken_240911": "mistral_common",
    "mistral:v3": "mistral_common",
}
"""Specs of optional libraries, each with the module it needs."""
LINES_OF_EACH = 12
LINES_AT_ONCE = 4000

Direct = Callable[[list[str]], list[list[int]]]


def library(spec: str, vocabs: Path) -> Direct:
    """The library behind `spec`, called as its own documentation has it."""
    family, variant = spec.format(vocabs).split(":", 1)
    if family == "mistral":
        own = tokbench.load(spec).tokenizer
        return lambda texts: [own.encode(text, bos=False, eos=False) for text in texts]
    if family in (
        "tiktoken",
        *EXTRAS.values(),
    ):  # whose ids the fast libraries promise
        import tiktoken

        encoding = tiktoken.get_encoding(variant)
        return lambda texts: [encoding.encode_ordinary(text) for text in texts]
    if family == "sentencepiece":
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(model_file=variant)
        return lambda texts: processor.encode(texts)
    if "tokenizer_class" in variant:
        import transformers

        slow = transformers.BertTokenizer.from_pretrained(variant.split(",")[0])
        options = {"add_special_tokens": False, "split_special_tokens": True, "truncation": False}
        return lambda texts: [slow(text, **options)["input_ids"] for text in texts]
    import tokenizers

    fast = tokenizers.Tokenizer.from_file(variant)
    fast.encode_special_tokens = True
    return lambda texts: [one.ids for one in fast.encode_batch(texts, add_special_tokens=False)]


def corpora(data: Path) -> list[Path]:
    """Every text file of the corpora."""
    named = [*data.glob("corpora/*/*.txt"), *data.glob("corpora/*/dev/*.dev")]
    return sorted(path for path in named if path.name not in ("SOURCE.txt", "sent_ids.txt"))


def every_line(data: Path) -> Iterator[list[str]]:
    for path in corpora(data):
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            lines = [line.removesuffix("\n") for line in file]
        for start in range(0, len(lines), LINES_AT_ONCE):
            yield lines[start : start + LINES_AT_ONCE]


@pytest.fixture(scope="module")
def sample(test_data: Path) -> list[str]:
    """Some lines of every corpus, evenly spread; all of the short hostile ones."""
    chosen = []
    for path in corpora(test_data):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        step = 1 if path.name == "blns.txt" else max(1, len(lines) // LINES_OF_EACH)
        chosen += [line[:2000] for line in lines[::step]]
    return chosen


def need(spec: str) -> None:
    if spec in EXTRAS and importlib.util.find_spec(EXTRAS[spec]) is None:
        pytest.skip(f"needs the extra that brings {EXTRAS[spec]}")


@pytest.mark.parametrize("spec", [*(pytest.param(spec, marks=pytest.mark.long) for spec in SPECS), *EXTRAS])
def test_ids_equal_the_library(spec, test_data, sample):
    need(spec)
    vocabs = test_data / "vocabs"
    tokenizer = tokbench.load(spec.format(vocabs))
    expected = library(spec, vocabs)(sample)
    assert [ids.tolist() for ids in tokenizer.encode_batch(sample)] == expected
    assert [list(tokenizer.encode(text)) for text in sample[::5]] == expected[::5]


@pytest.mark.slow
@pytest.mark.parametrize("spec", [*SPECS, *EXTRAS])
def test_ids_equal_the_library_on_all_text(spec, test_data):
    need(spec)
    vocabs = test_data / "vocabs"
    tokenizer, direct = tokbench.load(spec.format(vocabs)), library(spec, vocabs)
    for lines in every_line(test_data):
        for line, ours, theirs in zip(lines, tokenizer.encode_batch(lines), direct(lines), strict=True):
            assert ours.tolist() == theirs, line[:200]


WORKER = """
import hashlib, json, pickle, sys
from tokbench.registry import registry_of
context, specs, texts = pickle.loads(sys.stdin.buffer.read())
registry = registry_of(context)
batches = {spec: registry.load(spec).encode_batch(texts) for spec in specs}
print(json.dumps({spec: hashlib.sha256(batch.ids.tobytes()).hexdigest() for spec, batch in batches.items()}))
"""


@pytest.mark.long
def test_recipes_give_the_same_ids_in_another_process(test_data, sample):
    specs = [spec.format(test_data / "vocabs") for spec in SPECS]
    texts = sample[::20]
    batches = {spec: tokbench.load(spec).encode_batch(texts) for spec in specs}
    here = {spec: hashlib.sha256(batch.ids.tobytes()).hexdigest() for spec, batch in batches.items()}
    worker = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=pickle.dumps((default_context(), specs, texts)),
        capture_output=True,
        check=True,
        env=os.environ.copy(),
    )
    assert json.loads(worker.stdout) == here
