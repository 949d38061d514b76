"""Sequences cut at rare borders teach the merges of sequences that are whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.training import chunks
from tokbench_subword.training.chunks import learn_from_sequences
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.ties import BYTES, HF

from tokbench.batch import TokenBatch

# With "ab" there from the start, tokens come up that two merges spell: borders of two kinds are then one pair.
TOKENS = [b"a", b"b", b"ab", b"c", b" "]
_sequences = st.lists(st.lists(st.integers(0, len(TOKENS) - 1), max_size=12), min_size=1, max_size=12)


def arrays(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([token for sequence in sequences for token in sequence], np.int32)
    return ids, np.cumsum([0, *map(len, sequences)]).astype(np.int64)


def batches(sequences: list[list[int]]) -> list[TokenBatch]:
    """The sequences in two batches."""
    return [TokenBatch(*arrays(some)) for some in (sequences[:1], sequences[1:])]


def whole(sequences: list[list[int]], **options: int) -> list[list[int]]:
    """The merges without any cut."""
    ids, starts = arrays(sequences)
    return MergeSession(ids, starts, np.ones(len(sequences), np.int64), tokens=TOKENS, **options).run().tolist()


@settings(max_examples=40, deadline=None)
@given(_sequences, st.integers(1, 12), st.integers(0, 4), st.sampled_from([HF, BYTES]), st.integers(0, 4))
def test_merges_are_those_of_whole_sequences(
    sequences: list[list[int]], more: int, minimum: int, rule: int, guess: int
) -> None:
    options = {"n_wanted": len(TOKENS) + more, "rule": rule, "minimum": minimum}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_BORDERS_A_MERGE", guess)  # 0: nothing but the most frequent border is left
        found = learn_from_sequences(batches(sequences), tokens=TOKENS, **options)
    assert found.tolist() == whole(sequences, **options)


def test_text_is_cut_at_borders_that_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    sequences = [[0, 3, 1], [0, 3, 4], [1, 0, 3, 4, 1], [4, 4]]
    given_: list[tuple[list[int], list[int]]] = []
    make = chunks.MergeSession

    def noting(ids: np.ndarray, starts: np.ndarray, *rest: object, **options: object):  # type: ignore[no-untyped-def]
        given_.append((ids.tolist(), starts.tolist()))
        return make(ids, starts, *rest, **options)

    monkeypatch.setattr(chunks, "MergeSession", noting)
    learn_from_sequences(batches(sequences), tokens=TOKENS, n_wanted=6, minimum=3, rule=BYTES)
    assert given_ == [([0, 3] * 3, [0, 2, 4, 6])]


def test_a_wrong_guess_costs_another_round(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = []
    session = chunks._session
    monkeypatch.setattr(chunks, "_BORDERS_A_MERGE", 0)
    monkeypatch.setattr(
        chunks,
        "_session",
        lambda *given, **options: rounds.append(options["minimum"]) or session(*given, **options),
    )
    sequences = [[0, 3]] * 9 + [[1, 4, 1, 4]] * 2
    options = {"n_wanted": len(TOKENS) + 3, "rule": HF}
    found = learn_from_sequences(batches(sequences), tokens=TOKENS, minimum=0, **options)
    assert (rounds, found.tolist()) == ([9, 2], whole(sequences, **options))
