"""PathPiece against the paper's two algorithms in plain Python, and its files against `tokenizers`."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.optimal.families import PATHPIECE
from tokbench_subword.optimal.pathpiece import ROUND, chosen_tokens, first_tokens

from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import ENGLISH, GPT2, hard_strings
from tokbench import TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.registry import build_registry
from tokbench.spec import Spec
from tokbench.testing import check_tokenizer
from tokbench.testing.trained import trained_failures


def shortest(word: bytes, tokens: set[bytes], without: int = -1, until: int = -1) -> list[bytes]:
    """The fewest tokens of a word, the last ones the longest; none stands from `without` to `until`."""
    best: list[list[bytes]] = [[]]
    for end in range(1, len(word) + 1):
        paths = [
            [*best[start], word[start:end]]
            for start in range(end)
            if (end - start == 1 or word[start:end] in tokens) and (start, end) != (without, until)
        ]
        best.append(min(paths, key=len))  # of equals the first, that of the longest last token
    return best[-1]


def dropped_one_by_one(words: Counter[bytes], tokens: list[bytes], size: int) -> list[bytes]:
    """Top-down training: every round, each token's places are spelled without it, and the cheapest ones go."""
    kept = list(tokens)
    while len(kept) > size:
        charges = dict.fromkeys(kept, 0)
        for word, count in words.items():
            path, start = shortest(word, set(kept)), 0
            for token in path:
                end = start + len(token)
                if len(token) > 1:
                    other = shortest(word, set(kept), start, end)
                    charges[token] += count * (len(other) - len(path))
                start = end
        order = sorted(range(len(kept)), key=lambda index: (charges[kept[index]], -index))
        gone = order[: min(len(kept) - size, max(1, (len(kept) + 256) // ROUND))]
        kept = [token for index, token in enumerate(kept) if index not in gone]
    return kept


trained = partial(train_on, PATHPIECE, threads=1)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text("abn", min_size=1, max_size=9), st.integers(1, 20), min_size=1, max_size=8),
    st.integers(0, 6),
)
def test_the_tokens_are_those_of_the_paper(words: dict[str, int], size: int) -> None:
    counts = Counter({word.encode(): count for word, count in words.items()})
    every = sorted({w[i:j] for w in counts for i in range(len(w)) for j in range(i + 2, len(w) + 1)})
    assert chosen_tokens(WordCounts.of(counts), every, size) == dropped_one_by_one(counts, every, size)


def test_a_training_is_the_same_by_hand_and_in_any_number_of_threads() -> None:
    texts = ENGLISH[:20]
    words = Counter(piece.encode() for text in texts for piece in regex.findall(GPT2, text))
    counted = WordCounts.of(words)
    by_hand = dropped_one_by_one(words, first_tokens(counted, 500, 16), 400 - 256)
    for threads in (1, 3):
        tokenizer = trained(texts, vocab_size=400, initial_size=500, threads=threads)
        assert [tokenizer.token_bytes(index) for index in range(256, 400)] == by_hand
    kept = {tokenizer.token_bytes(index) for index in range(400)}
    for word in list(words)[:200]:
        found = [tokenizer.token_bytes(index) for index in tokenizer(word.decode())]
        assert found == shortest(word, kept)


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "none"])
def test_tokenizers_opens_the_file_with_equal_ids(tmp_path: Path, pattern: str) -> None:
    from tokenizers import Tokenizer

    ours = trained(ENGLISH[:150], vocab_size=500, pattern=pattern, special_tokens="<s> <|endoftext|>")
    ours.save(tmp_path / "t.json")
    theirs = Tokenizer.from_file(str(tmp_path / "t.json"))
    assert ours.vocab_size == theirs.get_vocab_size() == 500
    plain = [
        text for text in [*ENGLISH, *hard_strings(300), "", "a" * 900] if "<s>" not in text and "<|" not in text
    ]
    assert [list(ids) for ids in ours.encode_batch(plain)] == [
        each.ids for each in theirs.encode_batch(plain, add_special_tokens=False)
    ]
    assert ours.lossless
    assert ours.decode_batch(ours.encode_batch(plain)) == plain
    assert list(ours.fewest_tokens(plain)) == [len(ids) for ids in ours.encode_batch(plain)]
    assert b"".join(ours.token_bytes(index) for index in ours("the thé")) == "the thé".encode()


@pytest.mark.long  # three trainings, and all checks of the kit
def test_it_conforms_and_is_trained_as_it_is_loaded(tmp_path: Path) -> None:
    texts = ENGLISH[:60]
    spec = Spec("pathpiece", None, {"vocab_size": 400, "special_tokens": "<s>"})
    assert trained_failures(build_registry(), spec, TrainingCorpus.of_texts(texts), tmp_path) == []
    check_tokenizer(trained(texts, vocab_size=300, special_tokens="<s>"), examples=20)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"vocab_size": 256, "special_tokens": "<s>"}, "vocab_size=256 is less than.*at least 257"),
        ({"vocab_size": 500, "initial_size": 400}, "initial_size must be at least 500; it is 400"),
        ({"max_token_length": 1}, "max_token_length must be at least 2; it is 1"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(options: dict[str, object], said: str) -> None:
    with pytest.raises(TokenizerError, match=said):
        trained(["text"], **options)
