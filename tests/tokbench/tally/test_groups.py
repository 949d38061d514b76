"""The bootstrap: its weights, and the sums of its groups."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from tokbench.corpus import Document, TextBlock
from tokbench.metrics.resampling import poisson_weights
from tokbench.tally.collect import collect
from tokbench.tally.counters import GROUPS, NAMES, CorpusFacts, GroupSums
from tokbench.tally.grouping import BLOCK_DOCUMENTS, Grouping
from tokbench.tally.prepare import prepare
from tokbench.tally.tally import Tally


def test_weights_are_poisson() -> None:
    weights = poisson_weights(3, 1000)
    assert weights.shape == (GROUPS, 1000)
    shares = np.bincount(weights.astype(int).ravel(), minlength=5)[:5] / weights.size
    expected = np.exp(-1) / np.array([1, 1, 2, 6, 24])
    assert np.abs(shares - expected).max() < 2e-3
    assert not np.array_equal(weights, poisson_weights(4, 1000))


def test_sums_add_up() -> None:
    dense = np.zeros((GROUPS, len(NAMES)), np.int64)
    dense[[3, 900], NAMES.index("bytes")] = 100_000, 300_000
    sums = GroupSums.of_dense(dense)
    assert GroupSums.sum([sums, sums]).totals()["bytes"] == 800_000


LINES = [f"line {number} of a book that goes on" for number in range(4000)]


def group_of(tally: Tally) -> dict[int, int]:
    """The documents of each group."""
    documents = tally.groups.dense(["documents"])[0]
    return {int(group): int(documents[group]) for group in np.flatnonzero(documents)}


@pytest.fixture(scope="module")
def alone(stand_ins) -> Tally:
    """The tally of lines that have nothing to do with one another."""
    return collect(stand_ins.Pieces(), map(Document, LINES))


@pytest.mark.parametrize("size", [1000, 5000, 1 << 20])
def test_documents_that_follow_one_another_are_drawn_in_blocks(stand_ins, alone: Tally, size: int) -> None:
    facts = CorpusFacts(consecutive=True)
    tally = collect(stand_ins.Pieces(), map(Document, LINES), facts=facts, batch_bytes=size)
    assert alone.clusters > 900
    assert len(LINES) / (2 * BLOCK_DOCUMENTS) < tally.clusters < 2 * len(LINES) / BLOCK_DOCUMENTS
    assert tally.totals == alone.totals
    # by hand: a document begins a block where bits 10 to 14 of its key are zero; its key says which group
    expected: Counter[int] = Counter()
    [batch] = prepare(map(Document, LINES))
    group = None
    for key in batch.keys.tolist():
        if group is None or key >> 10 & 31 == 0:
            group = key % GROUPS
        expected[group] += 1
    assert group_of(tally) == expected
    blocks = collect(stand_ins.Pieces(), [TextBlock.of(LINES)], facts=facts, batch_bytes=size)
    assert blocks == tally


def test_documents_of_a_cluster_are_drawn_together(stand_ins) -> None:
    documents = [Document(line, cluster=f"article {number % 7}") for number, line in enumerate(LINES[:70])]
    assert sorted(group_of(collect(stand_ins.Pieces(), documents)).values()) == [10] * 7
    lines = [Document(text, line=n, cluster="one") for n, text in enumerate(LINES[:9])]
    assert collect(stand_ins.Pieces(), lines, facts=CorpusFacts(parallel=True)).clusters == 9
    assert collect(stand_ins.Pieces(), lines).clusters == 1


@pytest.mark.long
def test_intervals_of_blocks_hold_the_whole_book_more_often() -> None:
    """A book whose lines are long in one chapter and short in the next: what chance alone cannot tell."""
    rng = np.random.default_rng(0)
    sizes = np.repeat(rng.integers(1, 30, 100), 100)  # a hundred chapters of a hundred lines
    book = [f"{'é' * int(size)}{'a' * 20} {number}" for number, size in enumerate(sizes)]
    ratio = sum(len(line.encode()) for line in book) / sum(map(len, book))

    def covered(facts: CorpusFacts) -> int:
        hits = 0
        for first in range(0, 9000, 300):
            [batch] = prepare(map(Document, book[first : first + 800]), facts=facts)
            sums = [np.bincount(batch.groups, batch.counts[name], GROUPS) for name in ("bytes", "chars")]
            drawn = np.stack(sums) @ poisson_weights(0, 400)
            low, high = np.quantile(drawn[0] / drawn[1], [0.025, 0.975])
            hits += low <= ratio <= high
        return hits

    assert covered(CorpusFacts()) < 0.6 * covered(CorpusFacts(consecutive=True))


@pytest.mark.parametrize("facts", [CorpusFacts(), CorpusFacts(consecutive=True), CorpusFacts(parallel=True)])
def test_documents_that_are_not_counted_fall_into_the_groups_of_those_that_are(facts: CorpusFacts) -> None:
    documents = [
        Document(line, line=number if number % 2 else None, cluster="one" if number % 5 == 0 else None)
        for number, line in enumerate([*LINES, "", "\ud800", *LINES[:9]])
    ]
    [batch] = prepare(documents, facts=facts)
    grouping, cuts = Grouping(facts), (0, 1, 700, len(documents))
    parts = [grouping.of_documents(documents[cut:end]) for cut, end in pairwise(cuts)]
    assert np.concatenate(parts).tolist() == batch.groups.tolist()
