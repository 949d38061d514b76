"""Segmentations drawn at random follow the model; the n best are those of sentencepiece."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.path_tokens import tokens_of_path
from tokbench_subword.unigram.paths import Node

from tokbench.errors import TokenizerError

from .conftest import BPE_MODELS, UNIGRAM_MODELS
from .small_models import Pair, small


def test_sampling_follows_the_model() -> None:
    tokenizer = small()
    rng = np.random.default_rng(0)
    alpha, n = 0.7, 20_000
    drawn = Counter(tuple(tokenizer.sample("ab", rng, alpha)) for _ in range(n))
    paths = tokenizer.nbest_scored("ab", 100)
    check_shares(drawn, Counter({tuple(ids): math.exp(alpha * score) for ids, score in paths}))
    assert len(drawn) == len(paths)
    again = [tokenizer.sample("abab ab", np.random.default_rng(3), 0.1) for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(TokenizerError, match="alpha"):
        tokenizer.sample("ab", rng, -1.0)


def check_shares(drawn: Counter[Any], exact: Counter[Any]) -> None:
    """Each outcome is drawn as often as its weight among those of all says."""
    assert set(drawn) <= set(exact)
    for outcome, weight in exact.items():
        share, n = weight / exact.total(), drawn.total()
        assert drawn[outcome] / n == pytest.approx(share, abs=5 * math.sqrt(share / n))


def drawn_word_by_word(tokenizer: JsonUnigramTokenizer, text: str, rng: Any, alpha: float) -> list[int]:
    """What `sample` gives, by the plain form of all that prepares text."""
    ids, algorithm = [], tokenizer._algorithm
    for part in tokenizer._preparation.words(text):
        if part.token is not None:
            ids.append(part.token.id)
            continue
        data = part.stretch.text.encode()
        path = [Node(*row) for row in algorithm.sample_rows(data, rng, alpha).tolist()]
        ids += [token.id for token in tokens_of_path(algorithm, data, path)]
    return ids


def test_sampling_is_as_word_by_word(test_data: Path) -> None:
    tokenizer = JsonUnigramTokenizer.from_file(test_data / "vocabs" / "t5-base" / "hf" / "tokenizer.json")
    tokenizer.add_tokens("<x>")
    lines = (test_data / "corpora/pud/deu_Latn.txt").read_text(encoding="utf-8").split("\n")[:40]
    for text in ("\n".join(lines), "日本 a", "<unk>b", "", "a<x> <x>日<x>"):
        for alpha in (0.0, 0.1, 1.0):
            plain = drawn_word_by_word(tokenizer, text, np.random.default_rng(5), alpha)
            assert tokenizer.sample(text, np.random.default_rng(5), alpha) == plain


@pytest.mark.long
def test_sampling_follows_exact_probabilities_over_several_words() -> None:
    """Each word is drawn by itself: the probability of a text is the product of those of its words."""
    pieces = {"▁": -2.0, "▁a": -1.5, "a": -1.0, "b": -1.2, "ab": -1.7, "▁ab": -3.0, "aba": -4.0}
    content = {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", -9.0], *map(list, pieces.items())]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)

    def paths(word: str) -> list[tuple[tuple[str, ...], float]]:
        found = [((), 0.0)] if not word else []
        for piece, score in pieces.items():
            if word.startswith(piece):
                found += [((piece, *rest), score + more) for rest, more in paths(word[len(piece) :])]
        return found

    alpha, n = 0.6, 20_000
    exact = Counter[tuple[str, ...]]()
    for (one, first), (two, second) in ((x, y) for x in paths("▁aba") for y in paths("▁ab")):
        exact[one + two] = math.exp(alpha * (first + second))
    rng = np.random.default_rng(0)
    names = {index: tokenizer.convert_id_to_token(index) for index in range(tokenizer.vocab_size)}
    drawn = Counter(tuple(names[index] for index in tokenizer.sample("aba ab", rng, alpha)) for _ in range(n))
    check_shares(drawn, exact)


@pytest.mark.parametrize("text", ["<unk><unk>", "a<unk><unk>a", "<unk>z", "<unk>"])
@pytest.mark.parametrize("fallback", [False, True])
def test_the_text_of_the_unknown_token_is_drawn_as_it_is_encoded(text: str, fallback: bool) -> None:
    spelled = [[f"<0x{byte:02X}>", -9.0] for byte in range(256)] if fallback else []
    vocab = [["<unk>", 0.0], ["a", -1.0], *spelled]  # one way to write each text
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": fallback}
    tokenizer = JsonUnigramTokenizer.from_dict({"model": model})
    assert tokenizer.sample(text, np.random.default_rng(0), 1.0) == tokenizer(text)


@pytest.mark.parametrize("model", BPE_MODELS)
def test_dropout_in_bpe(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)
    rng = np.random.default_rng(0)
    text = "unlikely dropouts"
    assert ours.sample(text, rng, 0.0) == ours(text)
    single = ours.sample(text, rng, 1.0)
    assert all(len(ours.convert_id_to_token(index)) == 1 for index in single)
    mine = Counter(len(ours.sample(text, rng, 0.3)) for _ in range(3000))
    other = Counter(
        len(theirs.encode(text, enable_sampling=True, alpha=0.3, nbest_size=-1)) for _ in range(3000)
    )
    means = [sum(size * count for size, count in one.items()) / 3000 for one in (mine, other)]
    assert means[0] == pytest.approx(means[1], rel=0.03)


def scores_of(tokenizer: SpmTokenizer, segmentations: list[list[int]]) -> list[float]:
    scores = tokenizer.vocabulary.scores.astype(float)
    return sorted(float(scores[ids].sum()) for ids in segmentations)


def test_n_best_equals_sentencepiece(pair: Pair) -> None:
    for name in UNIGRAM_MODELS[:3]:
        ours, theirs = pair(name)
        for text in ("unbelievable things", "hello", "New York City"):
            assert ours.nbest(text, 5) == theirs.NBestEncodeAsIds(text, 5)
        # Of several with one score either may come first, so scores are compared.
        for text in ("☃", "日本語☃☃ snow日語man ☃", "a☃b☃☃", "ﬁ½ x"):
            own, other = ours.nbest(text, 5), theirs.NBestEncodeAsIds(text, 5)
            assert scores_of(ours, own) == pytest.approx(scores_of(ours, other), rel=1e-6)
            assert sorted(map(len, own)) == sorted(map(len, other))
    with pytest.raises(TokenizerError, match="at least 1"):
        ours.nbest("a", 0)
    with pytest.raises(TokenizerError, match="unigram"):
        pair(BPE_MODELS[0])[0].nbest("a", 2)
