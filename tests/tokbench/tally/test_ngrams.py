"""Pairs and triples of ids, against a plain loop that counts them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.tally import ngrams, prepare

HIGHEST = (1 << ngrams.ID_BITS) - 1
DOCUMENTS = st.lists(st.lists(st.sampled_from((0, 1, 2, HIGHEST - 1, HIGHEST)), max_size=12), max_size=6)


@settings(max_examples=100)
@given(DOCUMENTS)
def test_any_ids_in_any_documents(documents: list[list[int]]) -> None:
    counter = ngrams.NGramCounter()
    for batch in prepare([Document(f"text {number}") for number in range(len(documents))]):
        counter.add(batch, TokenBatch.of(documents))
    found = counter.result()
    bits = ngrams.ID_BITS
    pairs = Counter(a << bits | b for ids in documents for a, b in pairwise(ids))
    triples = Counter(
        a << 2 * bits | b << bits | c
        for ids in documents
        for a, b, c in zip(ids, ids[1:], ids[2:], strict=False)
    )
    for tables, expected in ((found.bigrams, pairs), (found.trigrams, triples)):
        together: Counter[int] = Counter()
        for table in tables.values():
            assert (np.diff(table.keys) > 0).all()
            together.update(dict(zip(table.keys.tolist(), table.counts.tolist(), strict=True)))
        assert together == expected
