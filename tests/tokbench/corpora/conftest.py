"""What the tests of dataset families share: a loader by spec string, and reading everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.corpora import FAMILIES
from tokbench.corpus import Dataset, Document
from tokbench.family import LoadContext
from tokbench.spec import Spec, validate

BY_NAME = {family.name: family for family in FAMILIES}


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Dataset]:
    def load(text: str) -> Dataset:
        spec = Spec.parse(text)
        family = BY_NAME[spec.family]
        return family.load(validate(spec, family.options), LoadContext(tmp_path / "cache"))

    return load


@pytest.fixture
def read() -> Callable[..., list[Document]]:
    def read(dataset: Dataset, language: str | None = None) -> list[Document]:
        languages = [language] if language else dataset.languages
        shards = [shard for tag in languages for shard in dataset.shards(tag)]
        return [document for shard in shards for document in dataset.read(shard)]

    return read
