"""Training: the exact size, the same result every time, likelihood, and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokbench_subword.files.sentencepiece_model import SpmModel, serialize
from tokbench_subword.sentencepiece.family import UNIGRAM, train
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.sentencepiece.trainer import TrainingOptions, train_unigram

import tokbench
from tokbench import TrainingCorpus
from tokbench.errors import TokenizerError

from .small_models import sentencepiece_of, trained_there

_WHO = ["cat", "bat", "rat", "hatter", "matron", "sailor", "tailor", "father", "mother", "brother"]
_DID = ["sat", "stood", "waited", "wanted", "walked", "talked", "shouted", "wandered", "listened", "rested"]
_WHERE = ["on the mat", "in the garden", "under the table", "near the station", "by the water", "at home"]
TEXTS = [
    f"The {who} {did} {where}, and then the {_WHO[(i * 7 + j) % 10]} {_DID[(i + 3 * j) % 10]} as well."
    for i, who in enumerate(_WHO)
    for j, did in enumerate(_DID)
    for where in _WHERE[(i + j) % 6 : (i + j) % 6 + 2]
]


def options(**changes: object) -> TrainingOptions:
    return TrainingOptions(**{"vocab_size": 60, **changes})  # type: ignore[arg-type]


def test_exact_size_and_opens_in_sentencepiece() -> None:
    for size in (45, 55, 65):
        model = train_unigram(TEXTS, options(vocab_size=size))
        theirs = sentencepiece_of(model)
        ours = SpmTokenizer("trained", model)
        assert theirs.GetPieceSize() == ours.vocab_size == size
        assert [theirs.encode(text) for text in TEXTS] == [ours(text) for text in TEXTS]
        assert ours.decode(ours(TEXTS[0])) == TEXTS[0]


def test_the_same_for_any_order_and_number_of_threads() -> None:
    first = serialize(train_unigram(TEXTS, options()))
    for threads in (2, 3, 5):
        assert serialize(train_unigram(TEXTS, options(threads=threads))) == first
    assert serialize(train_unigram(TEXTS[::-1], options())) == first


def test_special_pieces_come_first() -> None:
    model = train_unigram(
        TEXTS, options(vocab_size=315, byte_fallback=True, special_tokens=("<pad>",), user_symbols=("cat",))
    )
    assert [piece.text for piece in model.pieces[:6]] == ["<unk>", "<s>", "</s>", "<pad>", "cat", "<0x00>"]
    assert not any("cat" in piece.text for piece in model.pieces[5:])
    tokenizer = SpmTokenizer("trained", model)
    assert "cat" in tokenizer.tokenize("the cat")
    assert tokenizer.decode(tokenizer("日本")) == "日本"


def test_pieces_do_not_mix_scripts_unless_told() -> None:
    words = ["abc123", "абв1", "abcабв", "bca12", "cab3", "вба23", "авб", "acb31", "c1", "a1b2", "bac", "бав"]
    texts = [" ".join(words[i:] + words[:i]) for i in range(12)] * 3
    pieces = [piece.text for piece in train_unigram(texts, options(vocab_size=22)).pieces]
    assert not any("c1" in piece or "cа" in piece for piece in pieces)
    mixed = [piece.text for piece in train_unigram(texts, options(vocab_size=22, split_by_script=False)).pieces]
    assert any("c1" in piece or "cа" in piece for piece in mixed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vocab_size": 0}, "vocab_size must lie in"),
        ({"vocab_size": 10}, "less than the alphabet"),
        ({"shrinking_factor": 1.5}, "shrinking_factor"),
        ({"character_coverage": 2.0}, "character_coverage"),
        ({"special_tokens": ("<s>",)}, "twice"),
        ({"unk_token": ""}, "cannot be ''"),
    ],
)
def test_impossible_requests_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(TokenizerError, match=said):
        train_unigram(TEXTS, options(**changes))


@pytest.mark.parametrize("texts", [[], [""], ["   ", "\n"]])
def test_no_text_is_refused(texts: list[str]) -> None:
    with pytest.raises(TokenizerError, match="no text"):
        train_unigram(texts, options())


def test_hostile_training_text() -> None:
    texts = [*TEXTS, "\0\ud800", "▁▁", "a" * 20_000, "ab" * 5_000, "\u0301" * 50, "<unk><s>"]
    model = train_unigram(texts, options(vocab_size=90, normalizer="identity", character_coverage=1.0))
    assert len(model.pieces) == 90
    SpmTokenizer("trained", model)("a\0b")


def test_the_family_trains_saves_and_loads(tmp_path: Path) -> None:
    declared = {option.name: option.default for option in UNIGRAM.options}
    seen: list[float] = []
    tokenizer = train(
        TrainingCorpus.of_texts(TEXTS), {**declared, "vocab_size": 60}, lambda done, what: seen.append(done)
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    tokenizer.save(tmp_path / "mine.model")  # type: ignore[attr-defined]
    loaded = tokbench.load(f"unigram:{tmp_path / 'mine.model'}")
    assert list(loaded.encode(TEXTS[0])) == list(tokenizer.encode(TEXTS[0]))
    with pytest.raises(TokenizerError, match="trained already"):
        tokbench.load(f"unigram:{tmp_path / 'mine.model'},vocab_size=9")
    with pytest.raises(TokenizerError, match="there is no file"):
        tokbench.load("unigram:nowhere.model")


def test_characters_that_longer_pieces_took_over_score_as_the_least_of_the_others() -> None:
    text = [f"{who} quickly {did}" for who in _WHO for did in _DID]
    model = train_unigram(text, TrainingOptions(vocab_size=40))
    scores = {piece.text: piece.score for piece in model.pieces[3:]}
    assert not any("q" in token and "quick" not in token for token in scores if token != "q")
    assert scores["q"] >= min(score for token, score in scores.items() if len(token) > 1) - 1.0


def likelihood(model: SpmModel, lines: list[str]) -> float:
    """The mean log probability of a character under the best segmentation."""
    tokenizer = SpmTokenizer("held out", model)
    scores = tokenizer.vocabulary.scores.astype(np.float64)
    scores[tokenizer.unk_id] = scores[scores < 0].min() - 10.0
    total = scores[tokenizer.encode_batch(lines).ids].sum()
    return float(total) / sum(len(tokenizer.normalize(line)) for line in lines)


def compare(path: Path, size: int, limit: int) -> tuple[float, float]:
    lines = path.read_text(encoding="utf-8")[:limit].split("\n")
    held, seen = lines[::10], [line for index, line in enumerate(lines) if index % 10]
    ours = train_unigram(seen, TrainingOptions(vocab_size=size))
    limits = {"max_sentence_length": 1 << 20, "hard_vocab_limit": False}
    theirs = trained_there(seen, vocab_size=size, model_type="unigram", **limits)
    return likelihood(ours, held), likelihood(theirs, held)


@pytest.mark.parametrize(
    "name",
    [
        "pud/zho_Hant",
        pytest.param("novels/eng_Latn", marks=pytest.mark.long),
        pytest.param("novels/rus_Cyrl", marks=pytest.mark.long),
    ],
)
def test_held_out_likelihood(name: str, test_data: Path) -> None:
    ours, theirs = compare(test_data / f"corpora/{name}.txt", 4000, 600_000)
    assert ours >= theirs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["eng_Latn", "deu_Latn", "rus_Cyrl", "zho_Hans", "jpn_Jpan"])
def test_held_out_likelihood_of_long_text(name: str, test_data: Path) -> None:
    ours, theirs = compare(test_data / f"corpora/novels/{name}.txt", 8000, 10_000_000)
    assert ours >= theirs
