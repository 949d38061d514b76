"""What is counted of a text whatever the tokenizer, by hand."""

from __future__ import annotations

import pytest

from tokbench.corpus import Document
from tokbench.errors import CorpusError
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.prepare import prepare
from tokbench.tally.text import TextBatch


def batch(*texts: str, **facts: object) -> TextBatch:
    [only] = prepare([Document(text) for text in texts], facts=CorpusFacts(**facts))
    return only


def words(of: TextBatch) -> list[str]:
    data = of.data.tobytes()
    return [data[a:b].decode() for a, b in zip(of.words.start, of.words.end, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"bytes": 0, "chars": 0, "lines": 0, "words": 0, "graphemes": 0}),
        ("a", {"bytes": 1, "lines": 1, "words": 1, "letters": 1}),
        ("a\n", {"lines": 1}),
        ("a\nb", {"lines": 2}),
        ("\n\n", {"lines": 2, "words": 0, "spaces": 2}),
        ("Grüße, 25 %", {"bytes": 13, "chars": 11, "letters": 5, "digits": 2, "spaces": 2, "punctuation": 2}),
        ("e\u0301", {"chars": 2, "graphemes": 1, "letters": 2, "non_ascii": 1}),
        ("ไทย", {"words": 3, "unspaced_words": 3}),
        ("東京 Tokyo", {"words": 3, "unspaced_words": 2}),
        ("-- ... !", {"words": 0, "punctuation": 6}),
        ("1234567 12 1", {"numbers": 3, "digit_gold": 2, "digits": 10}),
        ("\ud800a", {"bytes": 4, "chars": 2}),
    ],
)
def test_by_hand(text: str, expected: dict[str, int]) -> None:
    counted = batch(text).counts
    assert {name: int(counted[name][0]) for name in expected} == expected


def test_gold_words_take_the_place_of_segments_without_punctuation() -> None:
    document = Document("don't go", words=((0, 2), (2, 5), (6, 8)))
    [marked] = prepare([document, Document("don't go")])
    assert words(marked) == ["do", "n't", "go", "don't", "go"]
    assert marked.counts["gold_words"].tolist() == [3, 0]
    [ignored] = prepare([document], facts=CorpusFacts(word_unit="segments"))
    assert words(ignored) == ["don't", "go"]


def test_gold_words_outside_the_text_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"\(0, 9\)"):
        list(prepare([Document("ab", words=((0, 9),))]))


def test_parallel_lines_share_a_group_in_every_language() -> None:
    facts = CorpusFacts(parallel=True)
    [one] = prepare([Document("hello", line=7)], facts=facts)
    [other] = prepare([Document("bonjour", line=7)], facts=facts)
    assert one.groups.tolist() == other.groups.tolist() == [7]
    assert one.keys.tolist() == other.keys.tolist()


def test_batches_are_cut_by_bytes() -> None:
    sizes = [len(each) for each in prepare([Document("x" * 10)] * 10, batch_bytes=25)]
    assert sizes == [3, 3, 3, 1]


@pytest.mark.parametrize(
    ("text", "pieces", "cuts", "hits", "gold"),
    [
        ("1234567 12", ["1", "234", "567"], 3, 2, 2),  # 1|234|567 1|2
        ("in 1999 and 2024", ["19"], 0, 0, 0),  # years: cut or not, nobody groups them
        ("5000 2100", ["5", "000"], 4, 2, 2),  # 5|000 2|1|0|0, of which 5|000 and 2|100 are right
        ("\u0661\u0662", [], 3, 0, 0),  # two Arabic digits of two bytes each, cut inside both and between
        ("\u0661\u0662\u0663\u0664\u0665", ["\u0661\u0662", "\u0663\u0664\u0665"], 1, 1, 1),
        ("\u0661\u0669\u0669\u0669", [], 0, 0, 0),  # 1999 in Arabic digits
    ],
)
def test_groups_of_digits(stand_ins, text: str, pieces: list[str], cuts: int, hits: int, gold: int) -> None:
    tally = collect(stand_ins.Pieces(*pieces), [Document(text)])
    found = (tally.totals["digit_cuts"], tally.totals["digit_hits"], tally.totals["digit_reach"])
    assert found == (cuts, hits, gold)
