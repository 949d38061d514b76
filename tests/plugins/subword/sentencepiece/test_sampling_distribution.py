"""Draws against every segmentation there is, with its exact probability, and against sentencepiece's draws."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

from ..distributions import agree, fits
from .small_models import sentencepiece_of, trained_there

PROSE = Path(__file__).parents[4] / "datasets" / "prose"
N = 20_000
ENOUGH = 1e-3  # both libraries draw from a seed: p-values are the same in every run
WORDS = ["the", "other", "nation", "unlikely", "Wasser", "другой", "日本"]

Both = tuple[SpmTokenizer, Any]


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def both(kind: str) -> Both:
    """One small model of the bundled prose in tokbench and in sentencepiece."""
    lines = [line for path in sorted(PROSE.rglob("*.txt")) for line in path.read_text("utf-8").split("\n")]
    model = trained_there(lines, model_type=kind, vocab_size=2500, character_coverage=1.0)
    return SpmTokenizer("prose", model), sentencepiece_of(model)


def drawn(ours: SpmTokenizer, word: str, alpha: float, n: int = N) -> Counter[tuple[int, ...]]:
    rng = np.random.default_rng(5)
    return Counter(tuple(ours.sample(word, rng, alpha)) for _ in range(n))


def drawn_there(theirs: Any, word: str, alpha: float, n: int = N) -> Counter[tuple[int, ...]]:
    import sentencepiece

    sentencepiece.set_random_generator_seed(5)
    draw = {"enable_sampling": True, "alpha": alpha, "nbest_size": -1}
    return Counter(tuple(theirs.encode(word, **draw)) for _ in range(n))


def segmentations(ours: SpmTokenizer, text: str) -> list[tuple[tuple[int, ...], float]]:
    """Every way to put `text` together from pieces, with its score, by trying them all."""
    if not text:
        return [((), 0.0)]
    found = []
    for end in range(1, len(text) + 1):
        index = ours.vocabulary.ids.get(text[:end])
        if index is not None:
            score = float(ours.vocabulary.scores[index])
            found += [((index, *rest), score + more) for rest, more in segmentations(ours, text[end:])]
    return found


def exact(ours: SpmTokenizer, word: str, alpha: float) -> dict[tuple[int, ...], float]:
    """Kudo's (2018) distribution: the score of a segmentation times alpha, over the sum of all of them."""
    weights = {ids: math.exp(alpha * score) for ids, score in segmentations(ours, ours.normalize(word))}
    total = sum(weights.values())
    return {ids: weight / total for ids, weight in weights.items()}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["unigram"], indirect=True, scope="module")
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 1.0])
def test_unigram_draws_from_all_segmentations(both: Both, alpha: float) -> None:
    ours, _ = both
    for word in WORDS:
        assert fits(drawn(ours, word, alpha, n=3_000), exact(ours, word, alpha)) > ENOUGH, word
    assert fits(drawn(ours, "unlikely", 0.3), exact(ours, "unlikely", 0.2)) < ENOUGH  # so that it can fail


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram"], indirect=True, scope="module")
@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_unigram_and_sentencepiece_draw_alike(both: Both, alpha: float) -> None:
    ours, theirs = both
    for word in WORDS:
        probabilities, there = exact(ours, word, alpha), drawn_there(theirs, word, alpha)
        assert fits(there, probabilities) > ENOUGH, word
        here = drawn(ours, word, alpha)
        assert fits(here, probabilities) > ENOUGH, word
        assert agree(here, there) > ENOUGH, word


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bpe"], indirect=True, scope="module")
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_dropout_of_bpe_models_is_sentencepieces(both: Both, alpha: float) -> None:
    ours, theirs = both
    for word in WORDS:
        assert agree(drawn(ours, word, alpha), drawn_there(theirs, word, alpha)) > ENOUGH, word
