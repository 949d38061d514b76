"""The hash of documents and words against a plain formulation and against chance, and what it picks."""

from __future__ import annotations

import random
import string
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tokbench.tally.test_text import batch, words
from tokbench.kernels.hashing import hash_spans
from tokbench.kernels.pointers import padded
from tokbench.tally.grouping import document_keys
from tokbench.tally.wordsample import LARGEST, WORDS, WordSampler, lowest_words

PINNED = {
    "": 0xCE7CBCDE1F9BD005,
    "a": 0x763A7176EA9838F8,
    "tokenization": 0xE39258C4FF1FF751,
    "sixteen letters!": 0xDC37B271A7D731B9,
    "Donaudampfschifffahrtsgesellschaft": 0xC5FECDE6CA5DA773,
    "東京": 0xC03ECB6BB2552517,
}


def plain_hash(data: bytes) -> int:
    """The hash in whole numbers of any size."""

    def folded(one: int, other: int) -> int:
        return (one * other ^ one * other >> 64) & LARGEST

    state, filled = 0x243F6A8885A308D3, data + bytes(16 - len(data) % 16)
    for place in range(0, len(filled), 16):
        first, second = filled[place : place + 8], filled[place + 8 : place + 16]
        state = folded(
            int.from_bytes(first, "little") ^ 0x9E3779B97F4A7C15, int.from_bytes(second, "little") ^ state
        )
    return folded(state ^ len(data), 0xBB67AE8584CAA73B)


def hashes_of(parts: list[bytes]) -> NDArray[np.uint64]:
    ends = np.cumsum([0, *map(len, parts)])
    found = np.empty(len(parts), np.uint64)
    hash_spans(padded(b"".join(parts)), ends[:-1].copy(), ends[1:].copy(), found)
    return found


@given(st.lists(st.binary(max_size=70)))
@example([bytes(size) for size in range(40)])
def test_hashes_are_those_of_the_plain_formulation(parts: list[bytes]) -> None:
    assert hashes_of(parts).tolist() == list(map(plain_hash, parts))


def test_hashes_stay_what_they_are() -> None:
    """Where they change, so do samples and intervals: another `TALLY_VERSION`."""
    assert dict(zip(PINNED, hashes_of([text.encode() for text in PINNED]).tolist(), strict=True)) == PINNED


@pytest.mark.parametrize("size", [5, 8, 11, 15, 16, 17, 31, 48])
def test_a_bit_of_the_text_turns_every_bit_of_the_hash_in_one_case_of_two(size: int) -> None:
    letters = np.random.default_rng(size).integers(ord("a"), ord("z") + 1, (2_000, size)).astype(np.uint8)
    before = hashes_of([row.tobytes() for row in letters])
    deviations = []
    for bit in range(8 * size):
        letters[:, bit // 8] ^= np.uint8(1 << bit % 8)
        turned = before ^ hashes_of([row.tobytes() for row in letters])
        letters[:, bit // 8] ^= np.uint8(1 << bit % 8)
        shares = np.unpackbits(turned.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
        deviations.append((shares - 0.5) * 2 * np.sqrt(len(letters)))
    assert abs(np.std(deviations) - 1) < 0.1
    assert np.abs(deviations).max() < 6


ALIKE = {
    "numbers": [f"{number}" for number in range(40_000)],
    "numbered lines": [f"This is line number {number} of a file." for number in range(40_000)],
    "three letters": ["".join(letters) for letters in product(string.ascii_lowercase, repeat=3)],
    "cases": ["".join(letters) for letters in product(*zip("abcdefghijklmno", "ABCDEFGHIJKLMNO", strict=True))],
    "one letter, again and again": ["a" * size for size in range(20_000)],
    "two ideographs": [chr(0x4E00 + one) + chr(0x4E00 + two) for one in range(200) for two in range(200)],
    "of a long stem": ["Donaudampfschifffahrts" + "".join(end) for end in product("aeinrst", repeat=5)],
    "zeros": ["\0" * size + end for size in range(2_000) for end in ("", "a", "b")],
}


@pytest.mark.parametrize("kind", ALIKE)
def test_hashes_of_similar_texts_are_spread_as_by_chance(kind: str) -> None:
    found = hashes_of([text.encode() for text in ALIKE[kind]])
    assert len(np.unique(found)) == len(found)
    bins = 512
    for shift in (0, 16, 23, 32, 55):
        met = np.bincount((found >> np.uint64(shift) & np.uint64(bins - 1)).astype(np.int64), minlength=bins)
        chi_squared = ((met - len(found) / bins) ** 2).sum() / (len(found) / bins)
        assert abs(chi_squared - (bins - 1)) < 4.5 * np.sqrt(2 * (bins - 1))


def test_words_are_sampled_whatever_their_length() -> None:
    """The mean length of 256 of 2,000 words against that of all, in 100 texts: as often off as by chance."""
    rng = random.Random(0)
    known = sorted({"".join(rng.choices("abcdeé漢", k=rng.randint(3, 12))).encode() for _ in range(300_000)})
    rng.shuffle(known)
    deviations = []
    for first in range(0, 200_000, 2_000):
        some = known[first : first + 2_000]
        sizes = np.array([len(word) for word in some])
        sample = sizes[np.argsort(hashes_of(some))[:WORDS]]
        error = sizes.std() / np.sqrt(WORDS) * np.sqrt(1 - WORDS / len(sizes))
        deviations.append((sample.mean() - sizes.mean()) / error)
    assert abs(np.mean(deviations)) < 0.3
    assert 0.8 < np.std(deviations) < 1.2


def test_keys_are_of_the_text_or_of_the_line() -> None:
    texts = [b"one", b"", b"three times as long as a window"]
    data, ends = padded(b"\n".join(texts)), np.cumsum([len(text) + 1 for text in texts]) - 1
    starts = np.append(0, ends[:-1] + 1)
    own = [plain_hash(text) & 0xFFFFFFFF for text in texts]
    assert document_keys(data, starts, ends).tolist() == own
    of_line = plain_hash((1_000).to_bytes(8, "little")) & 0xFFFFFFFF
    assert document_keys(data, starts, ends, [None, 1_000, None]).tolist() == [own[0], of_line, own[2]]


@given(st.text(alphabet="abäж ", max_size=60))
def test_words_of_low_hash_are_found_once(text: str) -> None:
    some = batch(text)
    own = {word: plain_hash(word.encode()) for word in words(some)}
    for limit in (LARGEST, LARGEST // 2):
        found = lowest_words(some, limit)
        assert [own[words(some)[index]] for index in found.values()] == [*found]
        assert [*found] == sorted(key for key in own.values() if key <= limit)


@pytest.mark.parametrize("sizes", [[60_000], [50, 200, 30_000, 100], [20_000] * 3], ids=str)
def test_the_sample_is_the_words_of_lowest_hash_in_batches_of_any_size(sizes: list[int]) -> None:
    rng = random.Random(len(sizes))
    known = ["".join(rng.choices("abcdé漢123", k=rng.randint(1, 12))) for _ in range(9_000)]
    seen: set[str] = set()
    sampler = WordSampler()
    for size in sizes:
        some = batch(" ".join(rng.choices(known[: size // 2], k=size)))
        seen.update(words(some))
        sampler.add(some)
        assert [*sampler.words.items()] == sorted((plain_hash(word.encode()), word) for word in seen)[:WORDS]
