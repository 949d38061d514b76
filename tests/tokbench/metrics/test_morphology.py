"""Gold segmentations and how boundaries agree with them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tokbench.errors import CorpusError, UnknownNameError
from tokbench.metrics.gold import GoldWord, from_morphemes, read_gold
from tokbench.metrics.morphology import score


@pytest.mark.parametrize(
    ("format", "text", "words", "skipped"),
    [
        (
            "morphscore",
            ",full_word,pt1,rest\n0,lighted,light,ed\n1,uploads,upload,s\n2,odd,x,y\n3,whole,whole,\n",
            [("lighted", (5,)), ("uploads", (6,))],
            2,
        ),
        (
            "sigmorphon",
            "unhappily\tun @@happy @@ly\t110\nuntied\tun @@tied\t010\ncat\tcat\t000\n",
            [("untied", (2,))],
            2,
        ),
        (
            "morphynet",
            "abandon\tabandoned\tV;PST\tabandon|ed\nhappy\tunhappy\tJ\tJ\tun\tprefix\nslow\tslowly\tJ\tR\tly\tsuffix\n"
            "go\twent\tV;PST\t-\n",
            [("abandoned", (7,)), ("unhappy", (2,)), ("slowly", (4,))],
            1,
        ),
        (
            "unimorph",
            "walk\twalked\tV;PST\nmachen\tgemacht\tV.PTCP\nzie\tverzie\tX\nlook\tlooking\tV\tlook|ing\n",
            [("walked", (4,)), ("verzie", (3,)), ("looking", (4,))],
            1,
        ),
    ],
)
def test_formats(tmp_path: Path, format: str, text: str, words: list, skipped: int) -> None:
    path = tmp_path / "gold"
    path.write_text(text, "utf-8")
    gold = read_gold(path, format)
    assert [(word.word, word.cuts) for word in gold.words] == words
    assert gold.skipped == skipped


def test_three_morphemes_have_two_boundaries() -> None:
    assert from_morphemes("unties", ["un", "tie", "s"]) == GoldWord("unties", (2, 5))


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("one\n", "utf-8")
    with pytest.raises(CorpusError, match="line 1: 1 columns"):
        read_gold(path, "unimorph")
    with pytest.raises(CorpusError, match="full_word"):
        read_gold(path, "morphscore")
    with pytest.raises(UnknownNameError, match="unimorph"):
        read_gold(path, "unimorf")
    with pytest.raises(CorpusError, match="nowhere"):
        read_gold(tmp_path / "nowhere", "unimorph")


def test_scores_by_hand(stand_ins) -> None:
    gold = [GoldWord("cats", (3,)), GoldWord("dogs", (3,)), GoldWord("untied", (2, 5)), GoldWord("ox", (1,))]
    counts = score(stand_ins.Pieces("cat", "dogs", "unt", "ied"), gold)
    # cat|s right, dogs whole, unt|ied wrong, o|x right
    assert (counts.words, counts.whole, counts.unplaced) == (4, 1, 0)
    assert (counts.gold, counts.gold_split, counts.made, counts.hits) == (5, 4, 3, 2)
    assert counts.recalls == 2


def test_after_a_space(stand_ins) -> None:
    tokenizer = stand_ins.Pieces(" cat", "cats")
    assert score(tokenizer, [GoldWord("cats", (3,))]).whole == 1
    assert score(tokenizer, [GoldWord("cats", (3,))], leading_space=True).recalls == 1


def test_boundaries_beyond_ascii_and_under_folding(stand_ins) -> None:
    assert score(stand_ins.Pieces("é", "t"), [GoldWord("éts", (2,))]).hits == 1
    assert score(stand_ins.Lowering("ete"), [GoldWord("ÉTÉs", (3,))]).hits == 1


def published(rows: list[dict[str, str]], tokenizer) -> float:
    """MorphScore as defined: 1 where pieces make up the first part; words of one piece left out."""
    points = []
    for row in rows:
        pieces = [tokenizer.decode([token]) for token in tokenizer.encode(row["full_word"])]
        if len(pieces) > 1:
            points.append(any("".join(pieces[:i]) == row["pt1"] for i in range(1, len(pieces))))
    return sum(points) / len(points)


def test_english_morphscore_of_gpt2(test_data: Path) -> None:
    """The published data of MorphScore (commit fb7d677) and its published definition, on GPT-2."""
    import tokbench

    path = test_data / "morphology" / "morphscore" / "english_morph_data.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    tokenizer = tokbench.load("tiktoken:gpt2")
    gold = read_gold(path, "morphscore")
    counts = score(tokenizer, gold.words)
    assert len(gold.words) > 1900
    assert counts.recalls / (counts.words - counts.whole) == pytest.approx(published(rows, tokenizer), abs=2e-3)
