"""Pairs and triples of ids, against a plain loop that counts them."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.tally import histogram, ngrams
from tokbench.tally.histogram import Histogram
from tokbench.tally.prepare import prepare

HIGHEST = (1 << ngrams.ID_BITS) - 1
DOCUMENTS = st.lists(st.lists(st.sampled_from((0, 1, 2, HIGHEST - 1, HIGHEST)), max_size=12), max_size=6)


@settings(max_examples=100)
@given(DOCUMENTS)
def test_any_ids_in_any_documents(documents: list[list[int]]) -> None:
    counter = ngrams.NGramCounter()
    for batch in prepare([Document(f"text {number}") for number in range(len(documents))]):
        counter.add(batch, TokenBatch.of(documents))
    found = counter.result()
    for tables, expected in zip((found.bigrams, found.trigrams), plain_ngrams(documents), strict=True):
        together: Counter[int] = Counter()
        for table in tables.values():
            assert (np.diff(table.keys) > 0).all()
            together.update(dict(zip(table.keys.tolist(), table.counts.tolist(), strict=True)))
        assert together == expected


def plain_ngrams(documents: list[list[int]]) -> tuple[Counter[int], Counter[int]]:
    bits = ngrams.ID_BITS
    pairs = Counter(a << bits | b for ids in documents for a, b in pairwise(ids))
    triples = Counter(
        a << 2 * bits | b << bits | c
        for ids in documents
        for a, b, c in zip(ids, ids[1:], ids[2:], strict=False)
    )
    return pairs, triples


@pytest.mark.parametrize("room", [0, 50, 600, 1_000_000])
@pytest.mark.parametrize("batch_bytes", [1, 700, 1 << 20])
def test_sampled_are_documents_of_high_levels_and_the_first_part_of_long_ones(
    monkeypatch: pytest.MonkeyPatch, room: int, batch_bytes: int
) -> None:
    monkeypatch.setattr(histogram, "SAMPLE_BYTES", room)
    monkeypatch.setattr(ngrams, "DOCUMENT_BYTES", 25)
    rng = random.Random(room)
    texts = [f"{number}" + "x" * rng.randint(0, 40) for number in range(300)]
    ids = [[rng.randrange(3) for _ in text] for text in texts]
    counter, at, levels = ngrams.NGramCounter(), 0, []
    for batch in prepare(map(Document, texts), batch_bytes=batch_bytes):
        counter.add(batch, TokenBatch.of(ids[at : at + len(batch)]))
        levels += [32 - key.bit_length() for key in batch.keys.tolist()]
        at += len(batch)
    found = counter.result()
    sizes = [min(len(text), 25) for text in texts]
    lowest = 0
    while sum(size for size, level in zip(sizes, levels, strict=True) if level >= lowest) > room:
        lowest += 1
    assert found.level == lowest
    for level in range(lowest, 33):
        some = [own[:25] for own, each in zip(ids, levels, strict=True) if each == level]
        for tables, expected in zip((found.bigrams, found.trigrams), plain_ngrams(some), strict=True):
            table = tables.get(level, Histogram.of_dense(np.zeros(0, np.int64)))
            assert dict(zip(table.keys.tolist(), table.counts.tolist(), strict=True)) == expected
