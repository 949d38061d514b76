"""P-values of comparisons that are seen together: few false alarms, and no finer than resamples can tell."""

from __future__ import annotations

import numpy as np
import pytest

from tokbench.metrics.correction import Correction, Significance
from tokbench.metrics.resampling import resampled_sums
from tokbench.tally.counters import GROUPS

LANGUAGES, DOCUMENTS, REPLICATES = 10, 60, 199


def differences(rng: np.random.Generator, effect: float) -> np.ndarray:
    """Ratios of two tokenizers' tokens in ten languages, on resamples; `effect` is one in the first."""
    sums = np.zeros((3 * LANGUAGES, GROUPS))
    for language in range(LANGUAGES):
        size = rng.lognormal(3, 0.5, DOCUMENTS)
        one, other = (size * rng.normal(1, 0.1, DOCUMENTS) for _ in range(2))
        if language == 0:
            one *= 1 + effect
        sums[3 * language : 3 * language + 3, :DOCUMENTS] = size, one, other
    again = resampled_sums(sums, seed=0, n=REPLICATES).reshape(LANGUAGES, 3, -1)
    return (again[:, 1] - again[:, 2]) / again[:, 0]


def smallest(rng: np.random.Generator, effect: float = 0.0) -> tuple[float, float]:
    """The smallest p of ten languages: each by itself, and among all ten."""
    correction = Correction()
    tested = [each for each in map(correction.add, differences(rng, effect)) if each is not None]
    return min(each.p for each in tested), min(map(correction.adjusted, tested))


@pytest.mark.long
def test_ten_languages_give_no_more_false_alarms_than_one() -> None:
    rng = np.random.default_rng(4)
    found = np.array([smallest(rng) for _ in range(300)]) < 0.05
    alone, together = found.mean(axis=0)
    assert alone > 0.25  # what a reader who looks at ten languages would take for a finding
    assert together < 0.09


def test_a_difference_that_is_there_is_found_among_many() -> None:
    rng = np.random.default_rng(5)
    found = [smallest(rng, effect=0.12)[1] for _ in range(60)]
    assert np.mean(np.array(found) < 0.05) > 0.9


def test_no_p_value_is_below_what_resamples_can_tell() -> None:
    rng = np.random.default_rng(6)
    alone, together = smallest(rng, effect=3.0)
    assert alone >= 2 / (1 + REPLICATES)
    assert together >= 1 / (1 + REPLICATES)
    assert together == pytest.approx(alone, rel=0.5)


def test_a_difference_as_large_as_the_largest_of_a_resample_may_be_chance() -> None:
    correction = Correction()
    correction._highest = np.array([1.0, 2.0, 3.0, 3.0])
    expected = {2.9: 3 / 5, 3.0: 3 / 5, 3.1: 1 / 5}  # those of 3, and the text itself, of four and one
    for errors, p in expected.items():
        assert correction.adjusted(Significance(0.01, errors)) == p
    assert correction.adjusted(Significance(0.7, 3.0)) == 0.7  # never below its own


def test_what_cannot_be_tested_is_left_out() -> None:
    same = np.full(REPLICATES + GROUPS + 1, 2.0)  # a difference that is the same in every document
    none = np.zeros(REPLICATES + GROUPS + 1)
    correction = Correction()
    untold, equal = map(correction.add, (same, none))
    assert untold is None
    assert equal == Significance(1.0, 0.0)
    assert correction.adjusted(equal) == 1.0
    none[:REPLICATES] = np.random.default_rng(7).normal(size=REPLICATES)  # the error of an estimate alone
    assert correction.add(none) == Significance(1.0, 0.0)
