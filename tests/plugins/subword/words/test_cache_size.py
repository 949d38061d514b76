"""The option `cache` of the in-house families: read, told, and held to."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokbench_subword.files.sentencepiece_model import UNKNOWN, Piece, SpmModel, TrainerSpec
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.words.cache_size import CACHE_BYTES, cache_bytes

import tokbench

TEXTS = ["un undo [CLS] un", "und " * 40]


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\nun\n##do\n##d\n[\n]\ncl\n##s\n")
    return path


@pytest.mark.parametrize(("size", "expected"), [("0", 0), ("512", 512), ("1.5 kB", 1536), ("2gb", 2 << 30)])
def test_sizes_are_read(size: str, expected: int) -> None:
    assert cache_bytes(size, where="bpe") == expected


def test_what_is_no_size_is_refused(vocabulary: Path) -> None:
    with pytest.raises(tokbench.TokenizerError, match="cache='much' is no size; write a number with kB"):
        tokbench.load(f"wordpiece:{vocabulary},cache=much")


def test_ids_do_not_depend_on_the_cache_and_none_keeps_no_word(vocabulary: Path) -> None:
    found = []
    for size in ("0", "1kB", "64MB"):
        tokenizer = tokbench.load(f"wordpiece:{vocabulary},cache={size}")
        assert tokenizer.facts()["word_cache_bytes"] == cache_bytes(size, where="")
        found.append([tokenizer.encode_batch(TEXTS).to_lists(), tokenizer.encode_batch(TEXTS).to_lists()])
        tokenizer.encode_batch(TEXTS * 10)
        held = [work.words.held for work in tokenizer._encoder._idle]
        assert all(held) != (size == "0"), size
    assert found[0] == found[1] == found[2]
    assert found[0][0] == found[0][1] == [[2, 2, 3, 5, 7, 8, 6, 2], [2, 4] * 40]
    assert tokbench.load(f"wordpiece:{vocabulary}").facts()["word_cache_bytes"] == CACHE_BYTES


@pytest.mark.parametrize("family", ["unigram", "bpe"])
@pytest.mark.parametrize("ending", [".model", ".json"])
def test_so_it_is_with_sentencepiece_models(family: str, ending: str, tmp_path: Path) -> None:
    pieces = (
        Piece("<unk>", 0.0, UNKNOWN),
        Piece("▁", -2.0),
        Piece("u", -3.0),
        Piece("n", -3.5),
        Piece("un", -4.0),
    )
    path = tmp_path / f"small{ending}"
    SpmTokenizer("small", SpmModel(pieces, TrainerSpec(model_type=family))).save(path)
    found = []
    for size in ("0", "1kB", "64MB"):
        tokenizer = tokbench.load(f"{family}:{path},cache={size}")
        assert tokenizer.facts()["word_cache_bytes"] == cache_bytes(size, where="")
        found.append([tokenizer.encode_batch(TEXTS).to_lists(), tokenizer(TEXTS[0])])
    assert found[0] == found[1] == found[2]


def test_special_tokens_are_matched_where_that_is_asked_for(vocabulary: Path) -> None:
    tokenizer = tokbench.load(f"wordpiece:{vocabulary},match_special=true")
    assert tokenizer.encode_batch(TEXTS[:1]).to_lists() == [[2, 2, 3, 1, 2]]
    assert tokenizer("[CLS]un") == [1, 2]
    assert tokenizer.offsets("un [CLS]un").tolist() == [[0, 2], [3, 8], [8, 10]]
