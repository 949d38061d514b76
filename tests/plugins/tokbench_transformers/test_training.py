"""The library's trainers: saved and loaded again, with the options that were given."""

from __future__ import annotations

from functools import partial

import pytest
from tokbench_transformers.family import TRANSFORMERS

from tests.plugins.conftest import train_on
from tests.plugins.tokbench_transformers.loading import load
from tokbench import TokenizerError

NOUNS, VERBS = ("dog", "cat", "ox", "ewe"), ("jump", "leap", "walk")
CORPUS = [f"the {noun} {verb}s over the lazy {noun}, and walked" for noun in NOUNS for verb in VERBS]


trained = partial(train_on, TRANSFORMERS, CORPUS)


@pytest.mark.parametrize(
    ("kind", "size"), [("bpe", 300), ("wordpiece", 60), ("unigram", 40), ("wordlevel", 15)]
)
def test_training_saves_and_loads(kind, size, tmp_path):
    tokenizer = trained(model_type=kind, vocab_size=size)
    assert tokenizer.facts()["algorithm"].lower() == kind
    assert 10 <= tokenizer.vocab_size <= size
    path = tmp_path / f"saved{TRANSFORMERS.trained_suffix}"
    tokenizer.save(path)
    loaded = load(f"transformers:{path}")
    assert [list(loaded.encode(text)) for text in CORPUS] == [list(tokenizer.encode(text)) for text in CORPUS]
    if kind in ("bpe", "wordlevel"):  # the library's other trainers differ from run to run
        assert trained(model_type=kind, vocab_size=size).tokenizer.to_str() == tokenizer.tokenizer.to_str()


def test_trained_bpe_loses_nothing():
    tokenizer = trained(vocab_size=300)
    assert tokenizer.lossless is True
    assert tokenizer.decode(tokenizer.encode("Ünïcödé  \n never seen")) == "Ünïcödé  \n never seen"


def test_options_reach_the_trainers():
    assert trained(vocab_size=300, special_tokens="<a> <b>").special_ids == {0, 1}
    assert "x+" in trained(vocab_size=300, pattern="x+").facts()["pre_tokenizer"]
    assert trained(model_type="wordpiece", vocab_size=60, lowercase=True).encode("THE")[0] != 0
    with pytest.raises(TokenizerError, match="pattern"):
        trained(vocab_size=300, pattern="(unclosed")
