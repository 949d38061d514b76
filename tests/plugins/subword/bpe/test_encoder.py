"""One text by itself has the ids that it has in a batch, whatever its encoder did before."""

from __future__ import annotations

import gc
import inspect
import os
import random
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.words.layout import HEADS, TEXT_CHARACTERS, TEXT_SIZE
from tokbench_subword.words.slots import LONGEST_WORD
from tokbench_subword.words.workspace import Workspace

from tokbench.errors import TokenizerError
from tokbench.kernels.text import measured

WORDS = [*"日👩\u200d👩\x00\ud800", "the", " low", "lower ", "est", "né", "\n\n", "  ", "1234", "don't"]
Alone = Callable[[str], NDArray[np.int32]]
WORDS.append("ab" * 40)


def _one_by_one(encoder):
    """Its functions for short texts, which leave others to the call for a batch."""
    return encoder.one_by_one((), (encoder.encode, lambda text: encoder.encode(text).tolist()))


@pytest.fixture(scope="module")
def encoder() -> BpeEncoder:
    return BpeEncoder(train_bpe(["the lowest of the lower, née 日本 1234 don't"] * 9, vocab_size=300))


@pytest.fixture(scope="module")
def alone(encoder: BpeEncoder) -> Alone:
    return _one_by_one(encoder)[0]


def random_text(rng: random.Random, most: int) -> str:
    return "".join(rng.choices(WORDS, k=rng.randrange(most)))


def test_alone_as_in_a_batch(encoder: BpeEncoder, alone: Alone) -> None:
    rng = random.Random(3)
    # short after long ones: what an earlier text left behind is not of the next
    texts = [random_text(rng, most) for most in (4000, 2, 40, 9000, 3, 1) * 40]
    together = encoder.encode_batch(texts)
    for text, expected in zip(texts, together, strict=True):
        assert alone(text).tolist() == expected.tolist()


@pytest.mark.parametrize("most", [8, 400])
@pytest.mark.parametrize(
    "words", [WORDS, [word for word in WORDS if word != "\ud800"], ["the ", "low"], ["日", "né"]]
)
def test_many_as_each_alone(encoder: BpeEncoder, alone: Alone, words: list[str], most: int) -> None:
    """Whether short or long, with surrogates or without, in ASCII or not, and in any kind of sequence."""
    rng = random.Random(7)
    texts = deque("".join(rng.choices(words, k=rng.randrange(most))) for _ in range(3000))
    together = encoder.encode_batch(texts)
    assert together.to_lists() == [alone(text).tolist() for text in texts]


def test_the_words_of_a_first_batch_are_all_known_to_the_second() -> None:
    """The cache grows in the midst of a batch; it did behind it, and most words of the first were gone."""
    encoder = BpeEncoder(train_bpe(["the lowest of the lower"] * 9, vocab_size=300))
    texts = [f"w{number}" for number in range(10_000)]
    first = encoder.encode_batch(texts).to_lists()
    (work,) = encoder._idle
    assert work.words.held >= 9_900
    assert encoder.encode_batch(texts).to_lists() == first
    assert BpeEncoder(encoder.model, cache=0).encode_batch(texts).to_lists() == first


@pytest.mark.parametrize("size", [0, 1, TEXT_SIZE - 1, TEXT_SIZE, TEXT_SIZE + 1, 3 * TEXT_SIZE])
@pytest.mark.parametrize("unit", ["a", " ", "a b ", "\n"])
def test_of_every_size(encoder: BpeEncoder, alone: Alone, size: int, unit: str) -> None:
    text = (unit * size)[:size]
    ids = alone(text)
    assert ids.dtype == np.int32
    assert ids.tolist() == encoder.encode_batch([text, "x"])[0].tolist()


def test_short_lists_as_long_ones(encoder: BpeEncoder, alone: Alone) -> None:
    rng = random.Random(4)
    texts = [random_text(rng, 30) for _ in range(300)]
    texts += ["\ud83d", "\ude00", "\ud83d\ude00", "\ude00", "", "x"]  # halves of a pair apart, and a pair
    expected = [alone(text).tolist() for text in texts]
    for first in (0, 1, 299, 304, 306):
        assert encoder.encode_batch(texts[first:]).to_lists() == expected[first:]
    assert encoder.encode_batch([*texts, "ab" * TEXT_SIZE]).to_lists()[:-1] == expected


@pytest.mark.parametrize("size", [TEXT_SIZE + 1, TEXT_SIZE + 30, 2 * TEXT_SIZE])
def test_texts_that_are_changed_meanwhile_have_no_more_ids_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    model, texts = train_bpe(["the lowest of the lower"] * 9, vocab_size=300), ["x"] * 20
    tokenizer = BpeTokenizer.of_model(model)

    def then_changed(measured_texts: list[str], **named: Any) -> Any:
        found = measured(measured_texts, **named)
        texts[0] = "x" * (size - 19)  # as another thread might
        return found

    monkeypatch.setattr("tokbench_subword.words.prepared.measured", then_changed)
    with pytest.raises(TokenizerError, match="was changed"):
        tokenizer.encode_batch(texts)


@pytest.mark.parametrize("wrong", [None, 5, b"abc", ["abc"]])
def test_what_is_no_text_is_refused(encoder: BpeEncoder, alone: Alone, wrong: Any) -> None:
    with pytest.raises(TokenizerError, match="must be a str"):
        alone(wrong)
    with pytest.raises(TokenizerError, match="must be a str"):
        encoder.encode_batch([wrong])


def test_a_kind_of_string(alone: Alone) -> None:
    class Text(str):
        __slots__ = ()

    assert alone(Text("the lowest é")).tolist() == alone("the lowest é").tolist()


@pytest.mark.parametrize("size", [0, 1, HEADS - 1, HEADS, HEADS + 1, TEXT_CHARACTERS, TEXT_CHARACTERS + 1])
def test_to_lists(encoder: BpeEncoder, size: int) -> None:
    to_array, to_list = _one_by_one(encoder)
    for text in ("1" * size, "é" * size, "日" * size):
        ids = to_list(text)
        assert type(ids) is list
        assert ids == to_array(text).tolist() == encoder.encode_batch([text]).ids.tolist()


def test_arguments_as_of_any_function(encoder: BpeEncoder) -> None:
    expected = encoder.encode_batch(["a b"]).ids.tolist()
    for function in _one_by_one(encoder):
        assert list(function(text="a b")) == expected  # type: ignore[call-arg]
        for arguments in ((), ("a", "b")):
            with pytest.raises(TypeError, match="argument"):
                function(*arguments)
        assert [*inspect.signature(function).parameters] == ["text"]


def test_nothing_waits_for_a_collection_of_garbage(encoder: BpeEncoder) -> None:
    tokenizer = BpeTokenizer.of_model(encoder.model)
    assert tokenizer.decode(tokenizer("the lowest")) == tokenizer.decode(tokenizer.encode("the lowest"))
    encode, freed = tokenizer.encode, [weakref.ref(tokenizer), weakref.ref(tokenizer._encoder)]
    gc.disable()
    try:
        del tokenizer
        assert freed[0]() is None
        assert encode("the lowest").tolist() == encoder.encode("the lowest").tolist()
        del encode
        assert freed[1]() is None
    finally:
        gc.enable()


def test_a_text_in_the_midst_of_another(encoder: BpeEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """As may happen where garbage is collected while ids are copied: the second text goes elsewhere."""
    texts, inner = ["12 " * HEADS, "the lower", "34 " * HEADS], "the lowest"
    expected = encoder.encode_batch([*texts, inner]).to_lists()
    waiting: list[Callable[[str], list[int]]] = []
    found: list[list[int]] = []
    last = Workspace.last

    def interrupted(work: Workspace) -> NDArray[np.int32]:
        if waiting:
            found.append(waiting.pop()(inner))
        return last(work)

    monkeypatch.setattr(Workspace, "last", interrupted)
    to_array, to_list = _one_by_one(encoder)
    waiting.append(to_list)
    assert [to_array(text).tolist() for text in texts] == expected[:-1]
    assert found == expected[-1:]


def test_from_several_threads_at_once(encoder: BpeEncoder, alone: Alone) -> None:
    rng = random.Random(5)
    texts = [random_text(rng, 400) for _ in range(2000)]
    expected = [ids.tolist() for ids in encoder.encode_batch(texts)]
    with ThreadPoolExecutor(4) as pool:
        assert [ids.tolist() for ids in pool.map(alone, texts)] == expected


def test_ids_are_not_written_over_by_the_next_text(alone: Alone) -> None:
    first = alone("the lowest")
    kept = first.tolist()
    alone("日本 née")
    assert first.tolist() == kept


FIRST_USE = """
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.patterns import Pattern
import numpy as np
vocabulary, merges = tuple(bytes([byte]) for byte in range(256)), np.empty((0, 3), np.int32)
encoder = BpeEncoder(BpeModel(vocabulary=vocabulary, merges=merges, pattern=Pattern.of("gpt2")))
alone = encoder.one_by_one((), (encoder.encode, lambda text: encoder.encode(text).tolist()))[1]
print(alone("a") + encoder.encode_batch(["b" * 9000]).ids[:1].tolist())
"""


@pytest.mark.slow
def test_the_first_process_says_that_it_compiles_and_the_second_does_not(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", FIRST_USE], env=env, capture_output=True, text=True, timeout=600, check=True
        )
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["[97, 98]"] * 2
    assert [run.stderr.count("compiling kernels") for run in runs] == [1, 0]


def test_ids_are_the_same_each_time_at_every_length_of_word(encoder: BpeEncoder) -> None:
    rng = random.Random(2)
    units = ["日本", "語", "の長い", "文章", "ไม่มี", "เว้น", "é", "-", "=", "ab"]
    texts = []
    for length in [*range(15, 50), 60, 64, 127, 128, LONGEST_WORD - 1, LONGEST_WORD, 3 * LONGEST_WORD] * 5:
        some = rng.sample(units, rng.choice([1, 2, 4]))
        texts.append("".join(rng.choices(some, k=length))[: rng.choice([length, length // 3 + 5])])
    encoder.forget()
    once = [encoder.encode(text).tolist() for text in texts]
    for _ in range(3):
        assert encoder.encode_batch(texts).to_lists() == once
        assert [encoder.encode(text).tolist() for text in texts] == once
    encoder.forget()
    assert encoder.encode_batch(texts[::-1]).to_lists() == once[::-1]
    small = BpeEncoder(encoder.model, cache=1)
    for _ in range(2):
        assert small.encode_batch(texts).to_lists() == once
