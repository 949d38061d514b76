"""The n best paths against all paths, listed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.unigram.lattice import best_paths, edges_from
from tokbench_subword.unigram.path_tokens import ids_of_paths, tokens_of_path
from tokbench_subword.unigram.paths import Node

PIECES = {
    "a": -1.0,
    "b": -1.5,
    "ab": -2.25,
    "ba": -2.0,
    "aab": -4.0,
    "日": -3.0,
    "日a": -3.25,
    "é": -2.5,
}
SCORES = np.array([*PIECES.values()])
UNKNOWN = -11.0

Path = list[list[int]]


@cache
def units() -> np.ndarray:
    return build_trie({piece.encode(): index for index, piece in enumerate(PIECES)})


def all_paths(data: bytes, start: int = 0) -> Iterator[tuple[Path, float]]:
    if start == len(data):
        yield [], 0.0
        return
    for end, piece in edges_from(data, start, units()):
        for rest, score in all_paths(data, end):
            yield [[start, end, piece], *rest], score + (float(SCORES[piece]) if piece >= 0 else UNKNOWN)


def paths_of(data: bytes, n: int) -> list[tuple[Any, float]]:
    rows, ends, scores = best_paths(data, units(), SCORES, UNKNOWN, n)
    assert ends == [] or ends[-1] == len(rows)
    return [(rows[start:end], score) for start, end, score in zip([0, *ends], ends, scores, strict=False)]


@settings(max_examples=200)
@given(st.text("abé日x", max_size=9), st.integers(1, 12))
def test_n_best_are_the_best_of_all(text: str, n: int) -> None:
    data = text.encode()
    every = sorted(all_paths(data), key=lambda it: -it[1])
    best = paths_of(data, n)
    # Scores are sums of quarters, exact in any order; paths of equal score may come in any.
    assert [score for _, score in best] == [score for _, score in every[:n]]
    found = [rows.tolist() for rows, _ in best]
    assert len({repr(rows) for rows in found}) == len(found)
    for rows, (_, score) in zip(found, best, strict=True):
        assert (rows, score) in every


def test_a_long_text_has_a_path_of_every_rank() -> None:
    best = paths_of(b"ab" * 5000, 20)
    assert len(best) == 20
    for rows, score in best:
        assert rows[0, 0] == 0
        assert rows[-1, 1] == 10_000
        assert (rows[1:, 0] == rows[:-1, 1]).all()
        assert SCORES[rows[:, 2]].sum() == pytest.approx(score)


@given(
    st.lists(st.lists(st.integers(-1, 2), max_size=5), max_size=4),
    st.sampled_from([None, 0]),
    st.sampled_from([0, 256]),
)
def test_ids_of_several_paths_are_those_of_each(
    pieces: list[list[int]], unk_id: int | None, n_byte_ids: int
) -> None:
    rules: Any = SimpleNamespace(unk_id=unk_id, byte_ids=np.arange(3, 3 + n_byte_ids), escaped=False)
    data = b"abcdefgh"
    paths = [[Node(at, at + 1, piece) for at, piece in enumerate(path)] for path in pieces]
    rows = np.array([node for path in paths for node in path], np.int32).reshape(-1, 3)
    found = ids_of_paths(rules, data, rows, np.cumsum([len(path) for path in paths], dtype=int).tolist())
    assert found == [[token.id for token in tokens_of_path(rules, data, path)] for path in paths]
