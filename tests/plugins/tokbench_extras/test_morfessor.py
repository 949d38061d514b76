"""Morfessor finds morphs, repeats itself, and loses nothing."""

from __future__ import annotations

import random
from functools import partial

import pytest
from tokbench_extras.morphs import MORFESSOR

from tests.plugins.conftest import train_on
from tests.plugins.tokbench_extras.loading import load
from tokbench import TokenizerError

STEMS, ENDINGS = ("walk", "talk", "jump", "play", "open", "clean"), ("", "s", "ed", "ing", "er", "ers")
CORPUS = [f"The {stem}{ending}, and {stem}{ending}!" for stem in STEMS for ending in ENDINGS] * 2


trained = partial(train_on, MORFESSOR, CORPUS)


def test_morfessor_finds_morphs_and_repeats(tmp_path, capfd):
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    random.seed(7)
    state = random.getstate()
    tokenizer = trained()
    assert random.getstate() == state
    assert capfd.readouterr() == ("", "")
    pieces = [tokenizer.token_bytes(index).decode() for index in tokenizer.encode(" and walking")]
    assert pieces == [" and", " walk", "ing"]
    assert trained().encode(CORPUS[3]) == tokenizer.encode(CORPUS[3])
    tokenizer.save(tmp_path / "saved.json")
    loaded = load(f"morfessor:{tmp_path}/saved.json")
    assert [loaded.encode(text) for text in CORPUS] == [tokenizer.encode(text) for text in CORPUS]


def test_morfessor_loses_nothing(hard_texts):
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    tokenizer = trained()
    for text in [*hard_texts, "unseen wörds \ud800"]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_corpus_weight_changes_how_much_is_split():
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    whole, split = trained(corpus_weight=30.0), trained(corpus_weight=0.1)
    assert len(whole.encode("the walking talkers")) < len(split.encode("the walking talkers"))


def test_wrong_morfessor_files_are_named(tmp_path):
    (tmp_path / "wrong.json").write_text("[]")
    for name in ("wrong", "absent"):
        with pytest.raises(TokenizerError, match=rf"{name}\.json"):
            load(f"morfessor:{tmp_path}/{name}.json")
