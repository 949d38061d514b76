"""The three families learn the same from counts as from text, in whatever order, and know their bounds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tokbench_subword.optimal import greedtok

from tests.command import invoke
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError

ENGLISH = Path(__file__).parents[4] / "datasets" / "parallel" / "eng_Latn.txt"


@pytest.mark.long
@pytest.mark.parametrize("family", ["pathpiece", "greedtok", "pickybpe"])
def test_training_from_counts_is_training_from_the_text(tmp_path: Path, family: str) -> None:
    text, counts = tmp_path / "text.txt", tmp_path / "counts.parquet"
    text.write_bytes(ENGLISH.read_bytes())
    commands = [["count", "-d", f"text:{text}", "--for", f"{family}:pattern=o200k", "-o", str(counts)]]
    trained = [tmp_path / f"{name}{'.json' if family == 'pathpiece' else f'.{family}'}" for name in "ab"]
    for source, path in zip((f"text:{text}", f"counts:{counts}"), trained, strict=True):
        options = ["--option", "pattern=o200k", "--vocab-size", "450", "-o", str(path)]
        commands.append(["train", family, "-d", source, *options])
    for command in commands:
        done = invoke(*command)
        assert done.exit_code == 0, done.output
    assert trained[0].read_bytes() == trained[1].read_bytes()


def test_the_order_of_the_words_changes_nothing() -> None:
    from tokbench_subword.optimal.greedtok import chosen_tokens
    from tokbench_subword.optimal.pickybpe import learn_picky

    counts = [
        (word, 1 + number % 5) for number, word in enumerate(dict.fromkeys(ENGLISH.read_text("utf-8").split()))
    ]
    mixed = random.Random(0).sample(counts, len(counts))
    one, other = WordCounts.of(dict(counts)), WordCounts.of(dict(mixed))
    assert chosen_tokens(one, 300, longest=16) == chosen_tokens(other, 300, longest=16)
    first, second = (learn_picky(words, 500, ios=0.7) for words in (one, other))
    assert first.events == second.events


def test_more_substrings_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedtok, "MOST_CANDIDATES", 5)
    with pytest.raises(TokenizerError, match="6 substrings of up to 4 bytes, and greedtok holds 5: lower"):
        greedtok.chosen_tokens(WordCounts.of({"abcd": 1}), 1, longest=32)


def test_training_that_takes_back_what_it_makes_ends_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench_subword.optimal import pickybpe

    monkeypatch.setattr(pickybpe, "MOST_EVENTS", 0)
    with pytest.raises(TokenizerError, match=r"after 1 merges and removals.*raise ios above 0\.5"):
        pickybpe.learn_picky(WordCounts.of({"abcabd": 3}), 270, ios=0.5)
