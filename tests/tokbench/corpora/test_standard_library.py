from __future__ import annotations

import ast
import platform

import pytest

from tokbench.errors import UnknownNameError


def test_sources(load):
    dataset = load("stdlib:code")
    assert dataset.languages == ["python"]
    assert dataset.kind == "code"
    shards = dataset.shards("python")
    assert 2 <= len(shards) <= 10
    documents = [document.text for document in dataset.read(shards[0])]
    assert len(documents) > 100
    ast.parse(documents[0])
    assert platform.python_version() in dataset.facts()["origin"]
    assert not [name for name in dataset.files["python"] if "/test/" in name or "site-packages" in name]


def test_docstrings(load):
    dataset = load("stdlib:docs")
    assert dataset.languages == ["eng_Latn"]
    shard = dataset.shards("eng_Latn")[-1]
    documents = [document.text for document in dataset.read(shard)]
    assert len(documents) > 100
    assert all(text == text.strip("\n") and text.strip() for text in documents)


def test_there_is_code_and_docs(load):
    with pytest.raises(UnknownNameError, match=r"did you mean 'code'"):
        load("stdlib:codes")
    with pytest.raises(UnknownNameError, match=r"There are: code, docs"):
        load("stdlib")
