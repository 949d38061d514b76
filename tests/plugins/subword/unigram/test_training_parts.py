"""The parts of training, each against what it does written plainly."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_subword.sentencepiece.trainer import sorted_words
from tokbench_subword.unigram.train_edges import Edges, find_edges, thin
from tokbench_subword.unigram.train_seeds import SeedPieces, find_seeds
from tokbench_subword.unigram.train_suffixes import sorted_suffixes
from tokbench_subword.unigram.train_text import Text, Words, character_counts, covering, lay_out, summed

from tokbench.counts import WordCounts

_letters = st.sampled_from(["ab", "aé日𝄞", "abcdefghijklmnop", "\0a"]).flatmap(
    lambda letters: st.text(letters, min_size=1, max_size=40)
)
_words = st.dictionaries(_letters, st.integers(1, 4), min_size=1, max_size=30)


_long_words = st.lists(st.text("ab\0", min_size=60, max_size=80), max_size=8, unique=True)


@given(_words, _long_words, st.sampled_from([1, 2, 2**60]))
def test_words_are_sorted_by_count_and_bytes(words: dict[str, int], long_words: list[str], times: int) -> None:
    counts = {word: count * times for word, count in words.items()} | dict.fromkeys(long_words, 1)
    expected = sorted(
        ((word.encode(), count) for word, count in counts.items()), key=lambda it: (-it[1], it[0])
    )
    assert list(sorted_words(WordCounts.of(counts))) == expected


@given(_words, st.integers(1, 20))
def test_characters_are_counted_and_words_laid_out(words: dict[str, int], length: int) -> None:
    points, totals = character_counts(WordCounts.of(words))
    expected: Counter[str] = Counter()
    for word, count in words.items():
        expected.update({character: count * times for character, times in Counter(word).items()})
    expected["\uffff"] = expected.pop("\0", 0)  # stands for NUL
    assert dict(zip(map(chr, points.tolist()), totals.tolist(), strict=True)) == +expected
    alphabet = np.array(sorted(map(ord, "abé日")), np.uint32)
    text = lay_out(WordCounts.of(words), alphabet, length)
    known = {ord(character) for character in "abé日"}
    written = [chr(text.alphabet[symbol - 1]) if symbol else "\0" for symbol in text.symbols]
    plain = "".join("".join(one if ord(one) in known else "\0" for one in word) + "\0" for word in words)
    assert "".join(written) == plain + "\0" * (length + 1)
    runs = [(part, count) for word, count in words.items() for part in re.findall("[abé日]+", word)]
    found = zip(text.starts.tolist(), (text.starts + text.sizes).tolist(), text.counts.tolist(), strict=True)
    assert [("".join(written[start:end]), count) for start, end, count in found] == runs


def test_the_alphabet_covers_what_is_asked_for() -> None:
    points, totals = np.array([97, 98, 99, 0xFFFF], np.uint32), np.array([1, 6, 1, 2])
    for coverage, kept in ((0.5, "b"), (0.6, "b"), (0.7, "b"), (0.81, "ab"), (1.0, "abc")):
        chosen, counts = covering(points, totals, coverage)
        assert "".join(map(chr, chosen.tolist())) == kept
        assert counts.tolist() == [totals[ord(one) - 97] for one in kept]


@given(_words, st.integers(1, 40), st.sampled_from([8, 1 << 14]), st.sampled_from([1, 3]))
def test_suffixes_are_sorted(words: dict[str, int], length: int, n_symbols: int, threads: int) -> None:
    text = lay_out(WordCounts.of(words), np.array(sorted(map(ord, "aébcd日𝄞")), np.uint32), length)
    n = len(text.symbols) - length - 1
    parts = sorted_suffixes(text.symbols, n, length, n_symbols, threads)  # of 2**14, four fit in a number
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


@given(_words, st.integers(1, 9), st.sampled_from([5, 1000]), st.sampled_from([1, 3]), st.randoms())
def test_seeds_are_all_repeated_substrings_and_their_edges(
    words: dict[str, int], length: int, seed_size: int, threads: int, random: Random
) -> None:
    counted = WordCounts.of(words)
    points, totals = covering(*character_counts(counted), 1.0)
    if not len(points):
        return
    text = lay_out(counted, points, length)
    pieces, occurrences = find_seeds(text, totals, np.ones(len(points), np.int32), length, seed_size, threads)
    expected = _repeated_substrings(text, length)
    masses = sorted((len(one) * times for one, times in expected.items()), reverse=True)[:seed_size]
    found = [_symbols_of(text, start, size) for start, size in zip(pieces.starts, pieces.lengths, strict=True)]
    assert found[: len(points)] == [(symbol,) for symbol in range(1, len(points) + 1)]
    learnt = found[len(points) :]
    assert sorted((len(one) * expected[one] for one in learnt), reverse=True) == masses
    weights = np.array([*totals.tolist(), *(len(one) * expected[one] for one in learnt)])
    assert np.allclose(np.exp(pieces.scores), weights / weights.sum())

    edges = find_edges(text, pieces, occurrences, threads)
    listed = _plain_edges(text, found, length)
    in_words = (text.symbols[: len(listed)] > 0).tolist()
    assert _listed(edges, in_words) == listed
    kept = np.array([random.random() < 0.5 for _ in found])
    done: list[int] = []
    thin(edges, kept, threads, [lambda: done.append(1), lambda: done.append(2)])
    numbers = (np.cumsum(kept) - 1).tolist()
    thinned = [[(size, numbers[piece]) for size, piece in row if kept[piece]] for row in listed]
    assert _listed(edges, in_words) == thinned
    assert sorted(done) == [1, 2]


def _symbols_of(text: Text, start: int, size: int) -> tuple[int, ...]:
    return tuple(text.symbols[start : start + size].tolist())


def _repeated_substrings(text: Text, max_length: int) -> dict[tuple[int, ...], int]:
    """Substrings of two characters and more that occur twice, with how often they do; none of them is always
    followed by the same character, unless it is of the greatest length.
    """
    followers: dict[tuple[int, ...], list[int]] = {}
    times: Counter[tuple[int, ...]] = Counter()
    whole: set[tuple[int, ...]] = set()
    for start, size, count in zip(text.starts.tolist(), text.sizes.tolist(), text.counts.tolist(), strict=True):
        whole.add(_symbols_of(text, start, size))
        for place in range(start, start + size):
            for length in range(2, min(max_length, start + size - place) + 1):
                part = _symbols_of(text, place, length)
                followers.setdefault(part, []).append(int(text.symbols[place + length]))
                times[part] += int(count)
    return {
        part: times[part]
        for part, behind in followers.items()
        if times[part] >= 2
        and (
            part in whole
            if len(behind) == 1
            else len(part) == max_length or 0 in behind or len(set(behind)) > 1
        )
    }


def _plain_edges(text: Text, pieces: list[tuple[int, ...]], max_length: int) -> list[list[tuple[int, int]]]:
    """At each place the pieces that begin there, the shortest first."""
    numbers = {piece: number for number, piece in enumerate(pieces)}
    return [
        [(size, numbers[_symbols_of(text, place, size)]) for size in range(1, max_length + 1)
         if _symbols_of(text, place, size) in numbers]
        for place in range(int(text.starts[-1] + text.sizes[-1]) + 1)
    ]  # fmt: skip


def test_pieces_are_spelled() -> None:
    text = lay_out(WordCounts.of({"abab": 1, " ba": 2}), np.array([32, 97, 98], np.uint32), 4)
    pieces = SeedPieces(np.array([0, 1, 5]), np.array([1, 3, 2]), np.zeros(3))
    assert pieces.spelled(text) == ["a", "bab", " b"]
    assert pieces.kept(np.array([2, 0])).spelled(text, np.array([95, 97, 98], np.uint32)) == ["_b", "a"]


def test_sums_are_added_in_order_by_any_number_of_threads() -> None:
    words = {"ab" * (1 + number % 3) + chr(97 + number % 7) * number: 1 for number in range(50)}
    text = lay_out(WordCounts.of(words), np.arange(97, 105, dtype=np.uint32), 4)

    def part(words: Words, row: np.ndarray) -> None:
        row += 0.1 * words[1].sum()
        row[0] += len(words[0])

    results = [summed(part, text, 5, threads) for threads in (1, 2, 20)]
    for total in results:
        assert len(total) == 5
        assert total[0] == pytest.approx(len(text.sizes) + total[1])
        assert total.tolist() == results[0].tolist()
