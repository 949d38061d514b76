"""The parts of training, each against what it does written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_subword.bpe.train_words import WordCounts
from tokbench_subword.unigram import train_edges
from tokbench_subword.unigram.train_counts import _sorted
from tokbench_subword.unigram.train_edges import Edges, find_edges, thin
from tokbench_subword.unigram.train_seeds import Pieces, lay_out, points_of
from tokbench_subword.unigram.train_suffixes import sorted_suffixes

_letters = st.sampled_from(["ab", "aé日𝄞", "abcdefghijklmnop", "\0a"]).flatmap(
    lambda letters: st.text(letters, min_size=1, max_size=40)
)
_words = st.dictionaries(_letters, st.integers(1, 4), min_size=1, max_size=30)


@given(_words)
def test_words_are_sorted_by_count_and_bytes(words: dict[str, int]) -> None:
    expected = sorted(((word.encode(), count) for word, count in words.items()), key=lambda it: (-it[1], it[0]))
    for threads in (1, 2):
        assert list(_sorted(WordCounts.of(words), threads)) == expected


@given(_words, st.integers(1, 20), st.sampled_from([1, 3]))
def test_suffixes_are_sorted(words: dict[str, int], length: int, threads: int) -> None:
    text = lay_out(points_of(WordCounts.of(words)), np.array(sorted(map(ord, "aébcd日𝄞")), np.uint32), length)
    n = len(text.symbols) - length - 1
    parts = sorted_suffixes(text.symbols, n, length, len(text.alphabet) + 1, threads)
    suffixes = []
    for place in np.concatenate(parts).tolist():
        suffix = text.symbols[place : place + length].tolist()
        suffixes.append(suffix[: suffix.index(0)] if 0 in suffix else suffix)
    assert suffixes == sorted(suffixes)
    assert sorted(np.concatenate(parts).tolist()) == np.flatnonzero(text.symbols[:n]).tolist()
    heads = [{suffix[0] for suffix in _cut(suffixes, parts, index)} for index in range(len(parts))]
    assert sum(map(len, heads)) == len(set().union(*heads))


def _cut(suffixes: list[list[int]], parts: list[np.ndarray], index: int) -> list[list[int]]:
    begin = sum(map(len, parts[:index]))
    return suffixes[begin : begin + len(parts[index])]


def _listed(edges: Edges, in_words: list[bool]) -> list[list[tuple[int, int]]]:
    limits = zip(edges.bounds[:-1].tolist(), edges.bounds[1:].tolist(), in_words, strict=True)
    found = list(zip(edges.lengths.tolist(), edges.pieces.tolist(), strict=True))
    return [found[low:high] if in_word else [] for low, high, in_word in limits]


@pytest.mark.parametrize("threads", [1, 3])
def test_edges_are_found_and_thinned(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lay_out(points_of(WordCounts.of({"abab": 1, "ba": 2, "bbbaa": 3})), np.array([97, 98], np.uint32), 4)
    starts, lengths = np.array([0, 1, 0, 0]), np.array([1, 1, 2, 3])  # a, b, ab, aba
    pieces = Pieces(starts, lengths, np.zeros(4))
    assert pieces.spelled(text) == ["a", "b", "ab", "aba"]
    expected = [
        [(int(length), piece) for piece, (start, length) in enumerate(zip(starts, lengths, strict=True))
         if text.symbols[place : place + length].tolist() == text.symbols[start : start + length].tolist()]
        for place in range(len(text.symbols) - 5)
    ]  # fmt: skip
    in_words = (text.symbols[: len(expected)] > 0).tolist()
    for room in (8, 0):
        monkeypatch.setattr(train_edges, "_EDGES_A_PLACE", room)
        edges = find_edges(text, pieces, 4, threads)
        assert _listed(edges, in_words) == expected
    thin(edges, np.array([True, False, True, False]), threads)
    assert _listed(edges, in_words) == [
        [(length, piece // 2) for length, piece in row if piece % 2 == 0] for row in expected
    ]
