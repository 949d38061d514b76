"""The passages a run shows side by side: spread over datasets and languages, English among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.runner.inspecting.stage import SAMPLE_CHARS, choose_samples
from tokbench.runner.planning.opening import Corpus


@pytest.fixture
def corpora(corpus: Path) -> tuple[Corpus, ...]:
    datasets = [f"text:{corpus}", "bundled:code"]
    return planned({"tokenizers": ["bytes"], "datasets": datasets}).corpora


def test_english_comes_first_where_there_is_any(corpora: tuple[Corpus, ...]) -> None:
    assert next(iter(corpora[0].shards)) != "eng_Latn"
    assert [sample.language for sample in choose_samples(corpora[:1], 2)] == ["eng_Latn", "deu_Latn"]


def test_every_dataset_has_its_share(corpora: tuple[Corpus, ...]) -> None:
    chosen = choose_samples(corpora, 4)
    assert [sample.dataset for sample in chosen] == [corpora[0].recipe.key] * 2 + [corpora[1].recipe.key] * 2
    assert len({(sample.dataset, sample.language) for sample in chosen}) == 4
    assert all(0 < len(sample.text) <= SAMPLE_CHARS for sample in chosen)
    assert choose_samples(corpora, 0) == []
