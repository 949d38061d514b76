"""Resamples are the weighted sums of groups, exactly, whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.resampling import Resampler, parts_of, resampled_sums
from tokbench.metrics.view import foresee, resampled
from tokbench.tally import collect
from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS


def test_resamples_are_the_weighted_sums() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("tokens")] = 5, 7
    dense[[3, 900], NAMES.index("documents")] = 5, 7
    dense[[3, 901], NAMES.index("bytes")] = 100_000_001, 3
    weights = poisson_weights(0, 50).astype(np.int64)
    names = ["tokens", "lines", "bytes", "documents"]
    found = Resampler(0, 50).rows(dict(zip(names, GroupSums.of_dense(dense).dense(names), strict=True)))
    assert [*found] == names
    assert np.array_equal(found["tokens"][:50], 5 * weights[3] + 7 * weights[900])
    assert found["documents"] is found["tokens"]
    assert np.array_equal(found["bytes"][:50], 100_000_001 * weights[3] + 3 * weights[901])
    assert not found["lines"].any()
    parts = parts_of(np.array([found["bytes"]]))
    assert parts.left_out[0, [3, 901, 0]].tolist() == [3, 100_000_001, 100_000_004]
    assert parts.whole.tolist() == [100_000_004]


def test_texts_share_what_does_not_depend_on_the_tokenizer() -> None:
    rng = np.random.default_rng(1)
    text, one, other = rng.integers(1, 9, (3, GROUPS))
    resampler = Resampler(0, 20)
    first = resampler.rows({"bytes": text, "tokens": one})
    second = resampler.rows({"bytes": text.copy(), "tokens": other})
    assert second["bytes"] is resampler.rows({"chars": text})["chars"]
    assert np.array_equal(first["bytes"], second["bytes"])
    assert np.array_equal(second["tokens"], resampled_sums(other[None], seed=0, n=20)[0])
    assert np.array_equal(first["tokens"], resampled_sums(one[None], seed=0, n=20)[0])


def test_what_one_text_was_asked_for_is_worked_out_together_for_the_next() -> None:
    tally = collect(tokbench.load("bytes"), [Document("one two"), Document("three")])
    resampler = Resampler(0, 20)
    key = CellKey("bytes", "d", "l")
    first, second = (resampled(tally, key, MeasureContext(), resampler) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.tokens[-1] == first.bytes[-1] == 12
    assert not {"tokens", "bytes"} & set(vars(second))
    assert second.bytes[-1] == 12
    assert "tokens" in vars(second)
    assert second.one(-1).words == 3
    assert second.one(-1).isolated_words == 3
    with pytest.raises(AttributeError, match="resamples have no ids"):
        _ = second.ids


def test_several_texts_at_once_are_each_as_alone() -> None:
    rng = np.random.default_rng(3)
    texts = [
        {"bytes": rng.integers(0, most, GROUPS), "tokens": rng.integers(0, 300, GROUPS)}
        for most in (9, 1 << 20, 1 << 40)  # two are beyond single precision
    ] * 7
    for sums, found in zip(texts, Resampler(0, 20).rows_of(texts), strict=True):
        alone = Resampler(0, 20).rows(sums)
        assert all(np.array_equal(found[name], alone[name]) for name in sums)
    assert Resampler(0, 20).rows_of([]) == []


def test_what_was_asked_of_any_text_is_foreseen_for_others() -> None:
    tallies = [collect(tokbench.load("bytes"), [Document(text), Document("end")]) for text in ("one", "three")]
    resampler = Resampler(0, 20)
    asked, first, second = (
        resampled(tally, CellKey("bytes", "d", "l"), MeasureContext(), resampler)
        for tally in (tallies[0], *tallies)
    )
    assert asked is not None
    assert first is not None
    assert second is not None
    assert asked.tokens[-1] == 6
    foresee([first, second])
    assert {"tokens"} < set(vars(first)) & set(vars(second))
    assert "bytes" not in vars(second)
    assert (first.tokens[-1], second.tokens[-1]) == (6, 8)
    assert np.array_equal(first.tokens, asked.tokens)


def test_sums_of_any_size_are_exact_or_as_exact_as_numbers_are() -> None:
    """Single precision is left just where it would begin to round."""
    rng = np.random.default_rng(0)
    weights = poisson_weights(2, 300).T.astype(np.int64)
    for most in (3, 1 << 10, 1 << 13, 1 << 14, 1 << 15, 1 << 20, 1 << 40):
        sums = rng.integers(0, most, (3, GROUPS))
        drawn = resampled_sums(sums, seed=2, n=300)[:, :300]
        assert np.array_equal(drawn.astype(np.int64), sums @ weights.T), most
    shares = rng.random((2, GROUPS))
    assert np.allclose(resampled_sums(shares, seed=2, n=300)[:, :300], shares @ weights.T, rtol=1e-13)
