"""What the families share: the same from counts as from text, in whatever order; bounds; files of their own."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tokbench_subword.optimal import greedtok
from tokbench_subword.optimal.families import GREEDTOK, PICKYBPE

from tests.command import invoke
from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import ENGLISH
from tokbench import TokenizerFamily, TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.registry import build_registry
from tokbench.spec import Spec
from tokbench.testing import check_tokenizer
from tokbench.testing.trained import trained_failures


@pytest.mark.long
@pytest.mark.parametrize("family", ["pathpiece", "greedtok", "pickybpe"])
def test_training_from_counts_is_training_from_the_text(tmp_path: Path, family: str) -> None:
    text, counts = tmp_path / "text.txt", tmp_path / "counts.parquet"
    text.write_text("\n".join(ENGLISH), encoding="utf-8")
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

    counts = [(word, 1 + number % 5) for number, word in enumerate(dict.fromkeys(" ".join(ENGLISH).split()))]
    mixed = random.Random(0).sample(counts, len(counts))
    one, other = WordCounts.of(dict(counts)), WordCounts.of(dict(mixed))
    assert chosen_tokens(one, 300, longest=16) == chosen_tokens(other, 300, longest=16)
    first, second = (learn_picky(words, 500, ios=0.7) for words in (one, other))
    assert first.events == second.events


def test_more_substrings_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedtok, "MOST_CANDIDATES", 5)
    with pytest.raises(TokenizerError, match=r"6 substrings of up to 4 bytes, and the limit .* is 5: lower"):
        greedtok.chosen_tokens(WordCounts.of({"abcd": 1}), 1, longest=32)


def test_training_that_takes_back_what_it_makes_ends_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench_subword.optimal import pickybpe

    monkeypatch.setattr(pickybpe, "MOST_EVENTS", 0)
    with pytest.raises(TokenizerError, match=r"after 1 merges and removals.*raise ios above 0\.5"):
        pickybpe.learn_picky(WordCounts.of({"abcabd": 3}), 270, ios=0.5)


@pytest.mark.parametrize(
    ("family", "options", "why"),
    [
        (GREEDTOK, {}, "covers words by tokens in a given order"),
        (PICKYBPE, {"ios": 0.7}, "splits a token again after merging"),
    ],
    ids=["greedtok", "pickybpe"],
)
def test_it_conforms_and_only_its_own_file_gives_the_same(
    tmp_path: Path, family: TokenizerFamily, options: dict[str, float], why: str
) -> None:
    texts = ENGLISH[:200]
    asked = {"vocab_size": 500, "special_tokens": "<s> the", **options}
    registry, path = build_registry(), tmp_path / f"t.{family.name}"
    spec = Spec(family.name, None, asked)
    assert trained_failures(registry, spec, TrainingCorpus.of_texts(texts), tmp_path) == []
    ours = train_on(family, texts, threads=1, **asked)
    check_tokenizer(ours, examples=20)
    assert ours.vocab_size == 500
    assert ours.lossless
    assert b"the" not in {ours.token_bytes(index) for index in range(500)}
    ours.save(path)
    again = registry.load(Spec(family.name, str(path), {"match_special": True}))
    assert again.encode("a<s>")[-1] == 0
    assert registry.recognising(path)[0].name == family.name
    for name in ("tokenizer.json", "folder", "a.tiktoken"):
        with pytest.raises(TokenizerError, match=rf"{why}.*name FILE\.{family.name}"):
            ours.save(tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("family", [GREEDTOK, PICKYBPE])
def test_an_added_token_with_the_id_of_another_or_beyond_the_next_is_refused(
    tmp_path: Path, family: TokenizerFamily
) -> None:
    path = tmp_path / f"t.{family.name}"
    train_on(family, ["some words"], threads=1, vocab_size=260, special_tokens="<s>").save(path)
    content = json.loads(path.read_text())
    end = build_registry().load(Spec(family.name, str(path))).vocab_size
    for index, said in ((5, "which another token has"), (-1, "next free"), (end + 1, f"next free id is {end}")):
        content["added_tokens"][0]["id"] = index
        path.write_text(json.dumps(content))
        with pytest.raises(TokenizerError, match=f"the added token '<s>' has the id {index}, .*{said}"):
            build_registry().load(Spec(family.name, str(path)))
    content["added_tokens"][0]["id"] = end
    path.write_text(json.dumps(content))
    assert build_registry().load(Spec(family.name, str(path))).vocab_size == end + 1
