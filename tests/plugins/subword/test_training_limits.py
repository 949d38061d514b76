"""What every family that trains here must do at the limits: a clear error or a correct result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.bpe.family import BPE
from tokbench_subword.training import counting
from tokbench_subword.unigram.family import UNIGRAM
from tokbench_subword.wordpiece.family import WORDPIECE

import tokbench
from tokbench import TokenizerFamily, TrainingCorpus
from tokbench.errors import TokenizerError
from tokbench.spec import with_defaults

TEXTS = Path(__file__).read_text(encoding="utf-8").splitlines()
FAMILIES = pytest.mark.parametrize("family", [BPE, WORDPIECE, UNIGRAM], ids=lambda family: family.name)


def trained(family: TokenizerFamily, texts: list[str] = TEXTS, **options: Any) -> Any:
    assert family.train is not None
    corpus = TrainingCorpus.of_texts(texts)
    return family.train(corpus, with_defaults(family.options, options), lambda part, what: None)


@FAMILIES
@pytest.mark.parametrize("size", [0, -5])
def test_no_vocabulary_at_all_is_refused(family: TokenizerFamily, size: int) -> None:
    with pytest.raises(TokenizerError, match=r"vocab_size must (be at least 1|lie in 1\.\.)"):
        trained(family, vocab_size=size)


@FAMILIES
def test_less_than_the_alphabet_says_how_much_is_needed(family: TokenizerFamily) -> None:
    with pytest.raises(TokenizerError, match=r"at least (\d+)") as raised:
        trained(family, vocab_size=20)
    needed = int(str(raised.value).partition("at least ")[2].split(",")[0].split()[0])
    assert trained(family, vocab_size=needed).vocab_size == needed
    with pytest.raises(TokenizerError, match=f"at least {needed}"):
        trained(family, vocab_size=needed - 1)


@pytest.mark.parametrize("family", [BPE, WORDPIECE], ids=lambda family: family.name)
def test_more_than_the_corpus_supports_gives_what_there_is(family: TokenizerFamily) -> None:
    options = {"min_frequency": 1} if family is WORDPIECE else {}
    tokenizer = trained(family, ["abc abc abd"] * 3, vocab_size=1 << 20, **options)
    assert tokenizer.vocab_size == {"bpe": 256 + 5, "wordpiece": 5 + 4 + 3 + 3}[family.name]


def test_more_than_the_corpus_supports_is_said_by_unigram() -> None:
    with pytest.raises(TokenizerError, match="more than this text supports"):
        trained(UNIGRAM, vocab_size=100_000)


@FAMILIES
def test_any_number_of_threads_trains_the_same(
    family: TokenizerFamily, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting.blocks, "__defaults__", (300,))
    monkeypatch.setattr(counting, "BLOCKS_AT_ONCE", 3)
    files = []
    for threads in (1, 2, 5, None):
        trained(family, vocab_size=320, threads=threads).save(tmp_path / f"{threads}{family.trained_suffix}")
        files.append((tmp_path / f"{threads}{family.trained_suffix}").read_bytes())
    assert files == [files[0]] * 4


@FAMILIES
def test_threads_are_for_training_only(family: TokenizerFamily, tmp_path: Path) -> None:
    path = tmp_path / f"t{family.trained_suffix}"
    trained(family, vocab_size=320).save(path)
    assert tokbench.load(f"{family.name}:{path}").vocab_size == 320
    with pytest.raises(TokenizerError, match="threads is for training"):
        tokbench.load(f"{family.name}:{path},threads=2")


def test_rare_pairs_and_long_tokens_are_left_out() -> None:
    texts = ["low lower lowest " * 5 + "rare"]
    frequent = trained(BPE, texts, vocab_size=400, min_frequency=5)
    assert any(frequent.token_bytes(index) == b" lower" for index in range(frequent.vocab_size))
    assert not any(frequent.token_bytes(index) == b"are" for index in range(frequent.vocab_size))
    short = trained(BPE, texts, vocab_size=400, max_token_length=4)
    assert max(len(short.token_bytes(index)) for index in range(short.vocab_size)) == 3
    pieces = trained(WORDPIECE, texts, vocab_size=400, min_frequency=5)
    assert "lower" in pieces.model.vocabulary
    assert "rare" not in pieces.model.vocabulary
    words = trained(UNIGRAM, TEXTS, vocab_size=320, max_piece_length=3)
    assert max(len(words.token_bytes(index).decode()) for index in range(3, 320)) == 3
