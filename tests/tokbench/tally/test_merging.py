"""Tables joined by merging, against sorting all of their keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.kernels.pointers import frozen
from tokbench.tally import ngrams
from tokbench.tally.histogram import Histogram
from tokbench.tally.merging import merge

KEYS = st.sampled_from((0, 1, 2, 3, 5, 8, (1 << 63) - 1))
TABLES = st.lists(st.dictionaries(KEYS, st.integers(1, 1 << 40), max_size=7), min_size=2, max_size=5)


def table(counts: dict[int, int]) -> Histogram:
    keys = np.array(sorted(counts), np.int64)
    return Histogram(keys, np.array([counts[key] for key in keys.tolist()], np.int64))


@settings(max_examples=300)
@given(TABLES)
def test_any_tables(tables: list[dict[int, int]]) -> None:
    expected: dict[int, int] = {}
    for counts in tables:
        for key, count in counts.items():
            expected[key] = expected.get(key, 0) + count
    some = sorted((table(counts) for counts in tables), key=len)
    assert ngrams._merged(some).tolist() == [expected[key] for key in sorted(expected)]


@settings(max_examples=300)
@given(st.lists(KEYS, max_size=9).map(sorted), st.lists(KEYS, max_size=9).map(sorted))
def test_both_ends_meet_whatever_is_equal(some: list[int], others: list[int]) -> None:
    """Keys that a table has several times are those of tables merged before; each keeps its own count."""
    tables = [np.array(each, np.int64) for each in (some, others)]
    counts = [np.arange(len(some)), 100 + np.arange(len(others))]
    keys, merged = np.full((2, len(some) + len(others)), -1)
    merge(frozen(tables[0]), frozen(counts[0]), frozen(tables[1]), frozen(counts[1]), keys, merged)
    pairs = [*zip(some, counts[0].tolist(), strict=True), *zip(others, counts[1].tolist(), strict=True)]
    assert keys.tolist() == sorted(some + others)
    assert sorted(zip(keys.tolist(), merged.tolist(), strict=True)) == sorted(pairs)


def test_both_ways_of_joining_agree_on_many_keys() -> None:
    rng = np.random.default_rng(0)
    some = [Histogram.of(rng.geometric(0.001, size)) for size in (10, 2000, 30_000, 200_000)]
    assert np.array_equal(ngrams._merged(some), ngrams._sorted_together(some))
