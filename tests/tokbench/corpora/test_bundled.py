from __future__ import annotations

import pytest

from tokbench.corpora import bundled
from tokbench.errors import CorpusError, SpecError, UnknownNameError


def test_every_bundled_corpus_reads(load, read):
    assert bundled.bundled_names() == ["code", "parallel", "prose", "tricky"]
    for name in bundled.bundled_names():
        dataset, card = load(f"bundled:{name}"), bundled.read_card(name)
        assert len(read(dataset)) == sum(file.documents for file in card.files)
        assert dataset.facts()["licence"] == "Apache-2.0"
        assert set(dataset.facts()["files"]) == {file.path for file in card.files}


def test_parallel_is_parallel_and_code_is_code(load, read):
    parallel, code = load("bundled:parallel,languages=eng_Latn+tha_Thai"), load("bundled:code,languages=rust")
    assert parallel.parallel
    assert parallel.languages == ["eng_Latn", "tha_Thai"]
    assert [document.line for document in read(parallel, "tha_Thai")] == list(range(64))
    assert code.kind == "code"
    assert code.languages == ["rust"]
    assert set(code.facts()["files"]) == {"rust/interval_map.rs", "rust/word_ladder.rs"}


def test_unknown_names(load):
    with pytest.raises(UnknownNameError, match=r"did you mean 'parallel'"):
        load("bundled:paralel")
    for name in ("eng", "en", "English"):
        with pytest.raises(SpecError, match=f"no language '{name}'; did you mean eng_Latn"):
            load(f"bundled:parallel,languages={name}")


def test_no_corpora_at_all_is_said(monkeypatch, tmp_path, load):
    monkeypatch.setattr(bundled, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.setattr(bundled.resources, "files", lambda package: tmp_path)
    with pytest.raises(CorpusError, match=r"install tokbench anew"):
        load("bundled:code")
