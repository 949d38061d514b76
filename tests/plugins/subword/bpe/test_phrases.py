"""The cache of phrases: kept from the second time on, never taken for another, all forgotten when full."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.encoder import Encoder
from tokbench_subword.bpe.phrases import PHRASE, note_phrase, recall_phrase
from tokbench_subword.bpe.trainer import train_bpe

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, pointer


@kernel
def _recall(arrays, text, length, hashed, out):
    return recall_phrase(pointer(arrays), pointer(text), 0, length, hashed, pointer(out), 0)


@kernel
def _note(arrays, text, length, hashed, ids, count):
    note_phrase(pointer(arrays), pointer(text), 0, length, hashed, pointer(ids), 0, count)


class Phrases:
    """The cache of one workspace; hashes are given, so that they may be equal for different phrases."""

    def __init__(self, encoder: Encoder) -> None:
        encoder.forget()
        self.work = encoder._new()

    def recall(self, text: bytes, hashed: int) -> list[int] | None:
        data, out = np.frombuffer(text + bytes(PADDING), np.uint8), np.zeros(2048, np.uint32)
        count = _recall(self.work.block, data, len(text), np.uint64(hashed), out)
        return None if count < 0 else out[:count].tolist()

    def note(self, text: bytes, hashed: int, ids: list[int]) -> None:
        data = np.frombuffer(text + bytes(PADDING), np.uint8)
        _note(self.work.block, data, len(text), np.uint64(hashed), np.array(ids, np.uint32), len(ids))


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(train_bpe(["日本語の長い文章 ไม่มีเว้นวรรค ------ the lowest"] * 9, vocab_size=290))


@pytest.fixture
def phrases(encoder: Encoder) -> Phrases:
    return Phrases(encoder)


@pytest.mark.parametrize("hashed", [0, 1, 0xFFFFFFFF, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0])
def test_kept_from_the_second_time(phrases: Phrases, hashed: int) -> None:
    ids = list(range(700, 731))
    assert phrases.recall(b"x" * 40, hashed) is None
    phrases.note(b"x" * 40, hashed, ids)
    if hashed & 0xFFFFFFFF:  # half a hash of zeros is that of a free slot
        assert phrases.recall(b"x" * 40, hashed) is None
    phrases.note(b"x" * 40, hashed, ids)
    assert phrases.recall(b"x" * 40, hashed) == ids


def test_of_equal_hashes_none_is_taken_for_another(phrases: Phrases) -> None:
    for text in (b"a" * 40, b"a" * 39 + b"b", b"a" * 41):
        phrases.note(text, 77, [len(text), text[-1]])
        phrases.note(text, 77, [len(text), text[-1]])
        assert phrases.recall(text, 77) == [len(text), text[-1]]
    assert phrases.recall(b"b" * 40, 77) is None
    assert phrases.recall(b"a" * 40, 77) == [40, ord("a")]


def test_a_crowded_line_forgets_and_is_never_wrong(phrases: Phrases) -> None:
    rng = random.Random(1)
    words = {(b"%06d" % number) * 7: number for number in range(40)}
    kept = 0
    for text in rng.choices(list(words), k=3000):
        hashed = (5 << 50) | (words[text] + 1)  # one line for all
        found = phrases.recall(text, hashed)
        kept += found is not None
        assert found in (None, [words[text]])
        if found is None:
            phrases.note(text, hashed, [words[text]])
    assert kept > 100


@pytest.mark.parametrize(("size", "n_ids"), [(PHRASE, 2), (20, 1000)])
def test_all_is_forgotten_when_full(phrases: Phrases, size: int, n_ids: int) -> None:
    counters = phrases.work.arrays[at.COUNTERS]
    most = min(at.PHRASE_BYTES_SIZE // size, at.PHRASE_IDS_SIZE // n_ids)
    first = b"%020d" % 0 + b"." * (size - 20)
    used = []
    for number in range(most + 10):
        text, hashed = b"%020d" % number + b"." * (size - 20), (number << 47) | (number + 1)
        phrases.note(text, hashed, [number] * n_ids)
        phrases.note(text, hashed, [number] * n_ids)
        assert phrases.recall(text, hashed) == [number] * n_ids
        used.append(int(counters[at.PHRASE_BYTES_USED]))
    assert min(used[-20:]) < max(used) <= at.PHRASE_BYTES_SIZE
    assert phrases.recall(first, 1) is None


def test_ids_are_the_same_each_time(encoder: Encoder) -> None:
    rng = random.Random(2)
    units = ["日本", "語", "の長い", "文章", "ไม่มี", "เว้น", "é", "-", "=", "ab"]
    texts = []
    for length in [*range(15, 50), 60, 64, 127, 128, PHRASE - 1, PHRASE, PHRASE + 1, 3 * PHRASE] * 5:
        some = rng.sample(units, rng.choice([1, 2, 4]))
        texts.append("".join(rng.choices(some, k=length))[: rng.choice([length, length // 3 + 5])])
    encoder.forget()
    once = [encoder.encode(text).tolist() for text in texts]
    for _ in range(3):
        assert encoder.encode_batch(texts).to_lists() == once
        assert [encoder.encode(text).tolist() for text in texts] == once
    encoder.forget()
    assert encoder.encode_batch(texts[::-1]).to_lists() == once[::-1]
