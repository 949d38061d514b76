"""The WordPiece trainers against the algorithm written plainly."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.wordpiece.family import WORDPIECE
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokbench_subword.wordpiece.trainer import count_bert_pretokens, train_wordpiece

from tests.plugins.subword.training.plain_merges import merged
from tests.plugins.subword.wordpiece.references import words
from tokbench import TrainingCorpus
from tokbench.errors import TokenizerError
from tokbench.spec import with_defaults

_letters = st.sampled_from(["ab", "abc", "abcdefgh"]).flatmap(
    lambda letters: st.text(letters, min_size=1, max_size=24)
)
_texts = st.dictionaries(_letters, st.integers(1, 9), min_size=1, max_size=12)


def plain(counts: dict[str, int], n_tokens: int, *, likelihood: bool, minimum: int) -> list[str]:
    """The vocabulary, found by counting everything anew for each merge."""
    tokens = sorted({letter for word in counts for letter in word})
    tokens += ["##" + letter for letter in sorted({letter for word in counts for letter in word[1:]})]
    sequences = [
        (["##" * (at > 0) + letter for at, letter in enumerate(word)], n) for word, n in counts.items()
    ]
    while len(tokens) < n_tokens:
        pairs: Counter[tuple[str, str]] = Counter()
        singles: Counter[str] = Counter()
        for sequence, count in sequences:
            for token in sequence:
                singles[token] += count
            for pair in pairwise(sequence):
                pairs[pair] += count
        ranked = []
        for (left, right), count in pairs.items():
            score = float(count) / (float(singles[left]) * float(singles[right])) if likelihood else 0.0
            if count >= max(minimum, 1):
                ranked.append((-score, -count, tokens.index(left), tokens.index(right)))
        if not ranked:
            break
        left, right = (tokens[index] for index in min(ranked)[2:])
        new = left + right[2:]
        if new not in tokens:
            tokens.append(new)
        sequences = [(merged(sequence, (left, right), new), count) for sequence, count in sequences]
    return tokens


def tokens_of(model: WordPieceModel) -> list[str]:
    return [model.tokens[index] for index in range(model.size)]


@pytest.mark.parametrize("score", ["likelihood", "frequency"])
@settings(max_examples=100)
@given(counts=_texts, n_tokens=st.integers(17, 90), minimum=st.integers(0, 3))
def test_equals_plain_training(score: Any, counts: dict[str, int], n_tokens: int, minimum: int) -> None:
    texts = [" ".join([word] * count) for word, count in counts.items()]
    model = train_wordpiece(
        texts, vocab_size=n_tokens + 1, score=score, min_frequency=minimum, special_tokens=["[UNK]"]
    )
    assert tokens_of(model)[1:] == plain(counts, n_tokens, likelihood=score == "likelihood", minimum=minimum)


def test_a_merge_does_not_find_itself_in_what_it_made() -> None:
    # aaaa: the first two and the last two, not one inside the other.
    assert merged(["##a"] * 4, ("##a", "##a"), "##aa") == ["##aa", "##aa"]


def test_the_scores_prefer_what_they_say() -> None:
    texts = ["the " * 50 + "then " * 20 + "qu " * 6]
    frequent = tokens_of(train_wordpiece(texts, vocab_size=17, score="frequency"))
    likely = tokens_of(train_wordpiece(texts, vocab_size=17, score="likelihood"))
    assert frequent[15:] == ["th", "the"]
    assert "qu" in likely
    assert "qu" not in frequent


@settings(max_examples=100)
@given(st.lists(st.text(max_size=30), max_size=5))
def test_words_are_counted_as_the_normalizer_cuts_them(texts: list[str]) -> None:
    texts = [*texts, "a\u302e\ua9c0 b\u302e c", "x" * 200, "İstanbul 北京, ≠"]
    rules = BertRules()
    expected: Counter[str] = Counter()
    for text in texts:
        expected.update(word.text for word in words(text, rules))
    counted = count_bert_pretokens(texts, rules)
    assert [(word.decode(), count) for word, count in counted] == list(expected.items())


def test_tables_grow_and_any_number_of_workers_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench_subword.training import counting

    monkeypatch.setattr(counting.blocks, "__defaults__", (3000,))
    texts = [f"w{number * 7919 % 5003} common {number % 97}\u302e\ua9c0x y" for number in range(4_000)]
    expected: Counter[str] = Counter()
    for text in texts:
        expected.update(word.text for word in words(text, BertRules()))
    one = count_bert_pretokens(texts, BertRules())
    assert {word.decode(): count for word, count in one} == expected
    three = count_bert_pretokens(texts, BertRules(), workers=3)
    assert list(three) == list(one)


def test_special_tokens_alphabet_and_long_words() -> None:
    model = train_wordpiece(
        ["hello hello help zzz! " + "long" * 30],
        vocab_size=60,
        special_tokens=["<pad>", "<unk>"],
        unk_token="<unk>",
        limit_alphabet=5,
    )
    tokens = tokens_of(model)
    assert tokens[:2] == ["<pad>", "<unk>"]
    # h, e, l, o and p or z or !: five characters, and nothing of words that hold others.
    assert len([token for token in tokens if len(token) == 1]) <= 5
    assert model.special_tokens == {"<pad>": 0, "<unk>": 1}
    assert not any("long" in token for token in tokens)
    tokenizer = WordPieceTokenizer("t", model)
    assert tokenizer.tokenize("hello !") == ["hello", "<unk>"]
    alone = train_wordpiece(["a b"], vocab_size=10, special_tokens=(), unk_token="[UNK]")
    assert tokens_of(alone) == ["[UNK]", "a", "b"]


def test_a_merge_never_spells_a_special_token() -> None:
    model = train_wordpiece(["cls cls cls"], vocab_size=30, special_tokens=["[UNK]", "cls"], min_frequency=1)
    assert model.vocabulary["cls"] == 1
    assert list(model.vocabulary) == ["[UNK]", "cls", "c", "l", "s", "##l", "##s", "cl"]


@pytest.mark.parametrize("score", ["likelihood", "frequency"])
def test_without_a_prefix_no_token_is_learnt_twice(score: Any) -> None:
    """A character had one id at the beginning of words and another within, of which the first was lost."""
    model = train_wordpiece(["hug hug pug bugs"], vocab_size=20, prefix="", score=score, min_frequency=1)
    assert tokens_of(model)[5:11] == ["b", "g", "h", "p", "s", "u"]
    assert sorted(model.vocabulary.values()) == list(range(model.size))
    assert WordPieceTokenizer("t", model).tokenize("hug bugs shug") == ["hug", "bugs", "s", "hug"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 0}, "at least 1"),
        ({"vocab_size": 50, "limit_alphabet": -3}, "limit_alphabet must be at least 1; it is -3"),
        ({"vocab_size": 8}, "5 special tokens and 5 characters"),
        ({"vocab_size": 50, "score": "luck"}, "likelihood or frequency"),
        ({"vocab_size": 50, "special_tokens": ["", "[UNK]"]}, "must not be empty"),
        ({"vocab_size": 50, "special_tokens": ["[UNK]", "a"]}, "'a' is one of the characters"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        train_wordpiece(["abc"], **options)


def test_nothing_to_learn_is_no_error() -> None:
    assert train_wordpiece([], vocab_size=100).size == 5
    assert train_wordpiece(["", " \n"], vocab_size=5).size == 5


@pytest.mark.parametrize("score", ["likelihood", "frequency"])
def test_the_family_trains_saves_and_opens_in_tokenizers(tmp_path: Path, score: str) -> None:
    from tokenizers import Tokenizer

    text = Path(__file__).read_text(encoding="utf-8")
    options = with_defaults(WORDPIECE.options, {"vocab_size": 400, "score": score})
    seen: list[float] = []
    assert WORDPIECE.train is not None
    tokenizer = WORDPIECE.train(TrainingCorpus.of_texts([text]), options, lambda part, what: seen.append(part))
    assert tokenizer.vocab_size == 400
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    tokenizer.save(tmp_path / "t.json")  # type: ignore[attr-defined]
    theirs = Tokenizer.from_file(str(tmp_path / "t.json"))
    theirs.encode_special_tokens = True
    assert theirs.encode(text, add_special_tokens=False).ids == list(tokenizer.encode(text))


def test_training_is_the_same_every_time(test_data: Path) -> None:
    lines = (test_data / "corpora" / "pud" / "deu_Latn.txt").read_text("utf-8").split("\n")
    for score in ("likelihood", "frequency"):
        first = train_wordpiece(lines, vocab_size=3000, score=score)  # type: ignore[arg-type]
        again = train_wordpiece(lines, vocab_size=3000, score=score, workers=2)  # type: ignore[arg-type]
        assert first.vocabulary == again.vocabulary
        assert first.size == 3000
