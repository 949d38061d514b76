"""The word cache: gives back what it was given or nothing, grows to its bound, and replaces word by word."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_subword.words.cache import WordCache
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.slots import (
    LONGEST_WORD,
    NOTED,
    PART,
    SHIFT,
    SHORT_WORD,
    SLOTS,
    SPARE_IDS,
    STATE,
    WHOLE,
    grow_if_full,
    note_key,
    recall,
    remember,
)

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, i64_in, pointer, u64_in


@kernel
def _note(block, keys, text, length, flag):
    words = pointer(block)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    note_key(slots, state[SHIFT], pointer(keys), 0, pointer(text), 0, length, flag)


@kernel
def _recall(block, keys, text, out):
    words = pointer(block)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    return recall(words, slots, state, pointer(keys), 0, pointer(text), 0, pointer(out), np.int64(0))


@kernel
def _remember(block, keys, text, ids, count):
    words = pointer(block)
    remember(words, pointer(keys), 0, pointer(text), 0, pointer(ids), 0, count)
    grow_if_full(words)


class Words:
    """A cache as one would use it from Python; a key may be given, so that it may be that of several words."""

    def __init__(self, most: int = CACHE_BYTES) -> None:
        self.cache = WordCache(most)

    def key(self, word: bytes, flag: int) -> np.ndarray:
        keys = np.zeros(NOTED, np.uint64)
        _note(self.cache.block, keys, _padded(word), len(word), flag)
        return keys

    def get(self, word: bytes, flag: int = WHOLE, key: np.ndarray | None = None) -> list[int] | None:
        out = np.zeros(LONGEST_WORD + SPARE_IDS, np.int32)
        key = self.key(word, flag) if key is None else key
        count = _recall(self.cache.block, key, _padded(word), out)
        return None if count < 0 else out[:count].tolist()

    def put(self, word: bytes, ids: list[int], flag: int = WHOLE, key: np.ndarray | None = None) -> None:
        key, numbers = self.key(word, flag) if key is None else key, np.array([*ids, 0], np.int32)
        _remember(self.cache.block, key, _padded(word), numbers, len(ids))


def _padded(word: bytes) -> np.ndarray:
    return np.frombuffer(word + b"\xff" * PADDING, np.uint8)


_words = st.binary(min_size=1, max_size=40) | st.sampled_from([b"x" * n for n in (15, 16, 31, 32, 1023, 1024)])
_ids = st.lists(st.integers(0, 2**31 - 1), max_size=12)


@given(entries=st.lists(st.tuples(_words, st.sampled_from([WHOLE, PART]), _ids), max_size=60))
def test_what_was_entered_is_found_and_nothing_else(entries) -> None:
    words, known = Words(), {}
    for word, flag, ids in entries:
        if (word, flag) in known:
            assert words.get(word, flag) == known[word, flag]
            continue
        assert words.get(word, flag) is None
        words.put(word, ids, flag)
        known[word, flag] = ids
    for (word, flag), ids in known.items():
        assert words.get(word, flag) == ids
        for other in (word + b"\0", word[:-1], word[:-1] + bytes([word[-1] ^ 1]), b"\0" + word):
            if 0 < len(other) <= LONGEST_WORD and (other, flag) not in known:
                assert words.get(other, flag) is None


def test_words_of_one_key_are_told_apart() -> None:
    """Keys of long words are hashes: two words may have one, and the second replaces the first."""
    words = Words()
    key = words.key(b"a" * 20, WHOLE)
    words.put(b"a" * 20, [1, 2], key=key)
    assert words.get(b"a" * 19 + b"b", key=key) is None
    words.put(b"a" * 19 + b"b", [3], key=key)
    assert words.get(b"a" * 19 + b"b", key=key) == [3]
    assert words.get(b"a" * 20, key=key) is None


def test_a_key_noted_before_the_cache_grew_finds_its_word_or_none() -> None:
    words, early = Words(), [number.to_bytes(3, "little") for number in range(100)]
    keys = [words.key(word, WHOLE) for word in early]
    for number in range(100_000):
        words.put(number.to_bytes(3, "little"), [number])
    assert all(not np.array_equal(words.key(word, WHOLE), key) for word, key in zip(early, keys, strict=True))
    for number, (word, key) in enumerate(zip(early, keys, strict=True)):
        assert words.get(word, key=key) in (None, [number])
        words.put(word, [number], key=key)
        assert words.get(word) == [number]


@pytest.mark.parametrize("length", [3, SHORT_WORD, SHORT_WORD + 1, 200])
@pytest.mark.parametrize("most", [1, 1 << 17])
def test_beyond_its_bound_single_words_are_replaced(length: int, most: int) -> None:
    """Words by the ten thousand in a cache for some thousands: of those met lately many are still there."""
    words, rng = Words(most), random.Random(length)
    made = {}
    for _ in range(20_000):
        number = rng.randrange(1 << 20)
        word = (number.to_bytes(3, "little") * length)[:length]
        ids = [number] * (number % 7)
        found = words.get(word)
        assert found in (None, ids)
        if found is None:
            words.put(word, ids)
        made[word] = ids
    for word, ids in made.items():
        assert words.get(word) in (None, ids)
    latest = list(made)[-100:]
    assert sum(words.get(word) is not None for word in latest) > (20 if length > 100 else 60)
    assert words.cache.slots * 32 <= max(most // 2, 1 << 14)


def test_a_word_met_again_and_again_among_others_is_found_most_of_the_time() -> None:
    words, found = Words(1), 0
    for number in range(30_000):
        words.put(b"%08d" % number, [number])
        again = words.get(b"the")
        found += again is not None
        if again is None:
            words.put(b"the", [7])
    assert found > 20_000


def test_it_begins_small_and_grows_with_what_it_holds() -> None:
    words = Words()
    assert words.cache.slots * 32 <= 1 << 14
    for number in range(5000):
        words.put(b"%d" % number, [number])
    assert words.cache.slots >= words.cache.held >= 4900
    assert sum(words.get(b"%d" % number) == [number] for number in range(5000)) >= 4900


def test_words_of_more_ids_than_bytes_allow_are_left_out() -> None:
    words = Words()
    words.put(b"x", [1] * (LONGEST_WORD + 1))
    assert words.get(b"x") is None
