"""Gold segmentations and how boundaries agree with them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase

import pytest

import tokbench
from tokbench.corpus import Document
from tokbench.errors import CorpusError, UnknownNameError
from tokbench.metrics import CellKey
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.gold import GoldWord, from_morphemes, read_gold
from tokbench.metrics.measure import measure
from tokbench.metrics.morphemes import MorphCounts, score
from tokbench.metrics.morphology import METRICS
from tokbench.tally.collect import collect
from tokbench.tally.counters import GROUPS


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
            [("untied", (2,)), ("cat", ())],
            1,
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


@pytest.fixture
def short_fields() -> Iterator[None]:
    """Python's limit of a field, which reading CSV datasets raises."""
    limit = csv.field_size_limit(1 << 17)
    yield
    csv.field_size_limit(limit)


@pytest.mark.usefixtures("short_fields")
def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("one\n", "utf-8")
    with pytest.raises(CorpusError, match="line 1: 1 column where"):
        read_gold(path, "unimorph")
    with pytest.raises(CorpusError, match="full_word"):
        read_gold(path, "morphscore")
    for row, said in {
        "walking,walk": "line 3: 2 columns",
        '"walking,walk,ing': "line 3: unexpected end of data",
        f"{'a' * 140_000},a,a": "line 3: field larger",
    }.items():
        path.write_text(f"full_word,pt1,rest\ndogs,dog,s\n{row}\n", "utf-8")
        with pytest.raises(CorpusError, match=said):
            read_gold(path, "morphscore")
    with pytest.raises(UnknownNameError, match="unimorph"):
        read_gold(path, "unimorf")
    with pytest.raises(CorpusError, match="nowhere"):
        read_gold(tmp_path / "nowhere", "unimorph")


def test_scores_by_hand(stand_ins) -> None:
    gold = [GoldWord("cats", (3,)), GoldWord("dogs", (3,)), GoldWord("untied", (2, 5)), GoldWord("ox", (1,))]
    counts = score(stand_ins.Pieces("cat", "dogs", "unt", "ied"), gold)
    # cat|s right, dogs whole, unt|ied wrong, o|x right
    assert (counts.words, counts.cut, counts.cut_whole, counts.unplaced) == (4, 4, 1, 0)
    assert (counts.gold, counts.gold_split, counts.made, counts.hits) == (5, 4, 3, 2)
    assert counts.recalls == 2


def test_words_of_one_morpheme_cost_precision(stand_ins) -> None:
    gold = [GoldWord("cats", (3,)), GoldWord("dog", ()), GoldWord("ox", ())]
    counts = score(stand_ins.Pieces("cat", "dog"), gold)  # cat|s right, dog whole, o|x wrong
    assert (counts.words, counts.cut, counts.gold, counts.made, counts.hits) == (3, 1, 1, 2, 1)
    cells = {CellKey("t", "d", "eng"): collect(stand_ins.Pieces(), [Document("cats")])}
    context = MeasureContext(morphology={("t", "eng"): counts})
    found = {row.metric: row.value for row in measure(cells, METRICS, context=context) if row.language == "eng"}
    assert found["gold_words"] == 3
    assert found["morph_precision"] == 1 / 2
    assert found["morph_f1"] == pytest.approx(2 / 3)
    assert found["morph_score"] == 1  # of the words that have a boundary


def test_gold_words_of_all_languages_are_added_up_where_each_has_some(stand_ins) -> None:
    """Else there is no figure, and the sentence says where segmentations come from, not that none was given."""
    tokenizer = stand_ins.Pieces("cat", "hund")
    key = CellKey("t", "d", "eng")
    cells = {each: collect(tokenizer, [Document("cats")]) for each in (key, key._replace(language="deu"))}
    english = score(tokenizer, [GoldWord(f"cat{letter}", (3,)) for letter in ascii_lowercase])
    german = score(tokenizer, [GoldWord(f"hund{letter}", (2,)) for letter in ascii_lowercase])  # not hund|e

    def rows(**gold: MorphCounts) -> dict:
        context = MeasureContext(morphology={("t", language): counts for language, counts in gold.items()})
        found = measure(cells, METRICS, context=context)
        return {(row.metric, row.language): row for row in found}

    both, one = rows(eng=english, deu=german), rows(eng=english)
    assert both["gold_words", "all"].value == 52
    assert both["morph_precision", "eng"].value == one["morph_precision", "eng"].value == 1
    assert both["morph_precision", "all"].value == 1 / 2
    assert both["morph_precision", "all"].ci_low < 1 / 2 < both["morph_precision", "all"].ci_high
    assert one["morph_precision", "all"].value is None
    assert "a suite has one for a language, as [morphology.LANGUAGE]" in one["morph_precision", "all"].status


def test_what_cutting_everywhere_maximises_ranks_nothing() -> None:
    """Bytes as tokens have a recall and a MorphScore of 1: neither says who is better."""
    gold = [GoldWord("lighted", (5,)), GoldWord("uploads", (6,)), GoldWord("cat", ())]
    counts = score(tokbench.load("bytes"), gold)
    assert counts.recalls / counts.cut == 1
    better = {metric.name: metric.better for metric in METRICS}
    assert {name for name, each in better.items() if each == "higher"} == {"morph_f1", "morph_f1_split"}
    assert 2 * counts.hits / (counts.made + counts.gold) < 0.3


def test_a_word_of_one_token_is_alone_and_not_after_a_space(stand_ins) -> None:
    assert score(stand_ins.Pieces(" cat", "cats"), [GoldWord("cats", (3,))]).cut_whole == 1


def test_boundaries_beyond_ascii_and_under_folding(stand_ins) -> None:
    assert score(stand_ins.Pieces("é", "t"), [GoldWord("éts", (2,))]).hits == 1
    assert score(stand_ins.Lowering("ete"), [GoldWord("ÉTÉs", (3,))]).hits == 1


def test_intervals_are_over_the_gold_words(stand_ins) -> None:
    gold = [GoldWord(f"{'x' * (i % 7)}cat{i}s", (len(f"{'x' * (i % 7)}cat{i}"),)) for i in range(300)]
    tokenizer = stand_ins.Pieces("cat", "s", *(f"{i}s" for i in range(0, 300, 4)))
    counts = score(tokenizer, gold)
    again = counts.resampled(seed=0, n=1000)
    assert again.words.shape == (1000 + GROUPS + 1,)
    assert again.hits[-1] == counts.hits
    assert (counts.hits - again.hits[1000:-1]).sum() == counts.hits
    cells = {CellKey("t", "d", "eng"): collect(tokenizer, map(Document, ["cats", "dogs"]))}
    context = MeasureContext(morphology={("t", "eng"): counts})
    rows = {row.metric: row for row in measure(cells, METRICS, context=context) if row.language == "eng"}
    assert rows["morph_recall"].value == counts.hits / 300
    # independent words: the interval is about that of a binomial share
    share, width = counts.hits / 300, rows["morph_recall"].ci_high - rows["morph_recall"].ci_low
    assert width == pytest.approx(2 * 1.96 * (share * (1 - share) / 300) ** 0.5, rel=0.15)
    assert rows["morph_score"].ci_low < rows["morph_score"].value < rows["morph_score"].ci_high


def test_gold_words_have_intervals_however_few_the_documents(stand_ins) -> None:
    gold = [GoldWord(f"cat{i}s", (len(f"cat{i}"),)) for i in range(300)]
    tokenizer = stand_ins.Pieces("cat", "s", *(f"{i}s" for i in range(0, 300, 4)))
    context = MeasureContext(morphology={("t", "eng"): score(tokenizer, gold)})

    def found(*texts: str) -> list:
        cells = {CellKey("t", "d", "eng"): collect(tokenizer, map(Document, texts))}
        return [
            (row.metric, row.value, row.ci_low, row.ci_high)
            for row in measure(cells, METRICS, context=context)
            if row.language == "eng"
        ]

    assert found("cats and dogs") == found("cats", "dogs")
    limits = {metric: low for metric, _, low, _ in found("cats and dogs")}
    assert limits["morph_recall"] is not None


def test_no_gold_words_at_all(stand_ins) -> None:
    assert score(stand_ins.Pieces(), []) == MorphCounts()


def by_the_script(row: dict[str, str], pieces: list[str]) -> bool | None:
    """The authors' rule (github.com/catherinearnett/morphscore at fb7d677).

    True where the pieces, decoded one by one, are cut into the two parts just as they are written; None for
    words of one piece, which are left out.
    """
    if len(pieces) == 1:
        return None
    return any(
        ("".join(pieces[:i]), "".join(pieces[i:])) == (row["pt1"], row["rest"]) for i in range(1, len(pieces))
    )


@pytest.mark.parametrize(
    ("spec", "hits", "words"),
    [("tiktoken:gpt2", 318, 1723), ("tiktoken:cl100k_base", 345, 1586), ("tiktoken:o200k_base", 315, 1579)],
)
def test_english_morphscore_is_that_of_the_script(test_data: Path, spec: str, hits: int, words: int) -> None:
    """On the published English data the score equals what the authors' rule gives, word for word.

    The scores they print are of tokenizers that are not published with them, so the rule stands for them.
    """
    path = test_data / "morphology" / "morphscore" / "english_morph_data.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    tokenizer = tokbench.load(spec)
    points = [
        by_the_script(row, [tokenizer.decode([token]) for token in tokenizer.encode(row["full_word"])])
        for row in rows
    ]
    points = [point for point in points if point is not None]
    assert (sum(points), len(points)) == (hits, words)
    gold = read_gold(path, "morphscore")
    assert len(gold.words) == len(rows) == 2000
    counts = score(tokenizer, gold.words)
    assert (counts.recalls, counts.cut - counts.cut_whole) == (hits, words)


@pytest.mark.parametrize(
    ("spec", "script", "ours"),
    [
        ("sentencepiece:{}/t5-base/spiece.model", 0.669, 0.780),
        ("wordpiece:{}/bert-base-uncased/vocab.txt", 0.006, 0.613),
    ],
)
def test_where_tokens_do_not_spell_the_word_the_script_gives_less(
    test_data: Path, spec: str, script: float, ours: float
) -> None:
    """T5 begins words with a token for the space, BERT marks what goes on: the metric's caveat says so."""
    path = test_data / "morphology" / "morphscore" / "english_morph_data.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    tokenizer = tokbench.load(spec.format(test_data / "vocabs"))
    decoded = [[tokenizer.decode([token]) for token in tokenizer.encode(row["full_word"])] for row in rows]
    points = [by_the_script(row, pieces) for row, pieces in zip(rows, decoded, strict=True)]
    points = [point for point in points if point is not None]
    assert sum(points) / len(points) == pytest.approx(script, abs=5e-4)
    counts = score(tokenizer, read_gold(path, "morphscore").words)
    assert counts.recalls / (counts.cut - counts.cut_whole) == pytest.approx(ours, abs=5e-4)
    assert f"{script:.3f} against {ours:.3f}" in next(m.caveat for m in METRICS if m.name == "morph_score")


@pytest.mark.long
def test_other_languages_differ_from_the_script_only_where_it_cannot_tell(test_data: Path) -> None:
    """In all 22 languages: rows that do not spell the word, and words with a token that is no whole UTF-8."""
    tokenizer = tokbench.load("tiktoken:gpt2")
    files = sorted((test_data / "morphology" / "morphscore").glob("*.csv"))
    assert len(files) == 22
    for path in files:
        with path.open(encoding="utf-8", newline="") as stream:
            every = list(csv.DictReader(stream))
        spelt = [
            row for row in every if row["pt1"] + row["rest"] == row["full_word"] and row["pt1"] and row["rest"]
        ]
        rows = {row["full_word"]: row for row in reversed(spelt)}
        gold = read_gold(path, "morphscore")
        assert {word.word for word in gold.words} == set(rows)
        assert gold.skipped == len(every) - len(rows)
        told = []
        for word in gold.words:
            pieces = [tokenizer.decode([token]) for token in tokenizer.encode(word.word)]
            if not any("\ufffd" in piece for piece in pieces):
                told.append((word, by_the_script(rows[word.word], pieces)))
        counts = score(tokenizer, [word for word, _ in told])
        points = [point for _, point in told if point is not None]
        assert (counts.recalls, counts.cut - counts.cut_whole) == (sum(points), len(points)), path.name


def test_a_file_of_gold_that_is_not_there_is_named_once(tmp_path):
    with pytest.raises(CorpusError, match=r"^gold segmentations \S*none\.csv: No such file or directory$"):
        read_gold(tmp_path / "none.csv", "morphscore")
