"""BPE-dropout: the kernel draws as the plain form does, and the plain form's distribution is the paper's."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.dropout import sample_merges
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import segment
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.bpe.trainer import train_bpe

from tokbench import BatchOffsetEncoder, OffsetEncoder
from tokbench.metrics.digits import owners

TEXT = Path(__file__).read_text(encoding="utf-8")
# "abab": ab first, then aba, then abab.
SMALL = BpeModel(
    vocabulary=(b"a", b"b", b"ab", b"aba", b"abab"), merges=np.array([[0, 1, 2], [2, 0, 3], [2, 2, 4]])
)


@cache
def trained() -> BpeModel:
    return train_bpe([TEXT], vocab_size=500)


@cache
def of_characters() -> BpeModel:
    return train_bpe([TEXT], vocab_size=200, level="char", end_of_word="</w>", pattern=r"\S+")


def plain(model: BpeModel, pretokens: list[str], seed: int, alpha: float) -> list[int]:
    rng = np.random.default_rng(seed)
    return [s.id for piece in pretokens for s in segment(model, piece, drop=lambda: bool(rng.random() < alpha))]


@settings(max_examples=150)
@given(
    st.lists(st.text("abeinrst_ (é日", max_size=30), max_size=6),
    st.sampled_from([0.05, 0.1, 0.5, 0.9, 1.0]),
    st.sampled_from([trained, of_characters]),
)
def test_equals_the_plain_form_draw_by_draw(
    pretokens: list[str], alpha: float, made: Callable[[], BpeModel]
) -> None:
    model = made()
    for seed in range(3):
        kernel = sample_merges(model, pretokens, np.random.default_rng(seed), alpha)
        assert kernel == plain(model, pretokens, seed, alpha)


def test_the_generator_goes_on_where_the_sample_ended() -> None:
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(3):
        ids = sample_merges(trained(), ["training"], ours, 0.3)
        assert ids == [s.id for s in segment(trained(), "training", drop=lambda: bool(theirs.random() < 0.3))]


@pytest.mark.long
def test_the_distribution_is_that_of_independent_drops() -> None:
    """Every outcome of "abab" with its probability, by summing over what each step leaves out."""

    def outcomes(symbols: tuple[int, ...], alpha: float) -> Counter[tuple[int, ...]]:
        rules = {(0, 1): (0, 2), (2, 0): (1, 3), (2, 2): (2, 4)}
        found = [(*rules[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in rules]
        result: Counter[tuple[int, ...]] = Counter()
        for kept in range(1 << len(found)):
            left = [one for bit, one in enumerate(found) if kept >> bit & 1]
            probability = (1 - alpha) ** len(left) * alpha ** (len(found) - len(left))
            if not left:
                result[symbols] += probability  # type: ignore[assignment]
                continue
            _, new, at = min((rank, new, at) for rank, new, at in left)
            for outcome, share in outcomes((*symbols[:at], new, *symbols[at + 2 :]), alpha).items():
                result[outcome] += probability * share  # type: ignore[assignment]
        return result

    alpha, n = 0.4, 20_000
    expected = outcomes((0, 1, 0, 1), alpha)
    rng = np.random.default_rng(7)
    drawn = Counter(tuple(sample_merges(SMALL, ["abab"], rng, alpha)) for _ in range(n))
    assert sum(expected.values()) == pytest.approx(1.0)
    assert set(drawn) == set(expected)
    for outcome, probability in expected.items():
        # Five standard deviations of a binomial share.
        assert abs(drawn[outcome] / n - probability) < 5 * (probability * (1 - probability) / n) ** 0.5


def test_a_long_pretoken_takes_no_quadratic_time() -> None:
    rng = np.random.default_rng(0)
    sample_merges(trained(), ["warm up"], rng, 0.1)
    start = time.process_time()
    ids = sample_merges(trained(), ["in" * 100_000], rng, 0.1)
    assert b"".join(trained().vocabulary[index] for index in ids) == b"in" * 100_000
    assert time.process_time() - start < 5


def test_a_tokenizer_samples_by_the_kernel() -> None:
    tokenizer = BpeTokenizer.of_model(trained(), name="t")
    pieces = list(trained().pattern.pieces(TEXT[:2000]))
    assert tokenizer.sample(TEXT[:2000], np.random.default_rng(3), 0.2) == plain(trained(), pieces, 3, 0.2)


def test_a_trace_draws_as_encoding_does() -> None:
    text = "sampling of unusual words, once more"
    tokenizer = BpeTokenizer.of_model(trained())
    drawn = tokenizer.with_dropout(0.4).encode(text).tolist()
    steps = list(tokenizer.with_dropout(0.4).trace(text))
    assert steps[-1].detail["ids"] == drawn != tokenizer(text)
    whole = replace(trained(), whole_tokens=True, dropout=1.0)
    letters = list(BpeTokenizer.of_model(whole).trace("the"))
    assert letters[-1].tokens == (b"t", b"h", b"e")


def test_tokens_that_are_drawn_anew_have_no_offsets() -> None:
    tokenizer = BpeTokenizer.of_model(trained())
    drawing = tokenizer.with_dropout(0.1)
    assert isinstance(tokenizer, OffsetEncoder)
    for one in (drawing, pickle.loads(pickle.dumps(drawing))):
        assert not isinstance(one, OffsetEncoder | BatchOffsetEncoder)
        one.add_tokens("<x>")
        assert not isinstance(one, OffsetEncoder | BatchOffsetEncoder)
    assert isinstance(drawing.with_dropout(0.0), OffsetEncoder)
    assert owners(["a 12 of 345"], drawing)[0][2:4] != [-1, -1]  # told by the bytes of tokens, then
