from __future__ import annotations

import pytest

from tokbench.corpora import cards
from tokbench.errors import CorpusError, SpecError, UnknownNameError


def test_every_bundled_corpus_reads(load, read):
    assert cards.bundled_names() == ["code", "parallel", "prose", "tricky"]
    for name in cards.bundled_names():
        dataset, card = load(f"bundled:{name}"), cards.read_card(name)
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
    with pytest.raises(SpecError, match=r"no language 'eng'"):
        load("bundled:parallel,languages=eng")


def test_refresh_changes_nothing_but_the_table_of_files(tmp_path):
    card = tmp_path / cards.CARD
    card.write_text('title = "T"\nreader = "paragraphs"\nkind = "text"\n', "utf-8")
    (tmp_path / "eng_Latn.txt").write_text("a\n\nb\n", "utf-8")
    cards.refresh(tmp_path)
    first = card.read_text("utf-8")
    assert first.startswith('title = "T"\nreader = "paragraphs"\nkind = "text"\n\n[files]\n"eng_Latn.txt" = {')
    assert "documents = 2, bytes = 5" in first
    cards.refresh(tmp_path)
    assert card.read_text("utf-8") == first


def test_no_corpora_at_all_is_said(monkeypatch, tmp_path, load):
    monkeypatch.setattr(cards, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.setattr(cards.resources, "files", lambda package: tmp_path)
    with pytest.raises(CorpusError, match=r"install tokbench anew"):
        load("bundled:code")
