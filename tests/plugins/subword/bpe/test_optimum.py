"""The fewest tokens of a vocabulary against all segmentations, and the metric made of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.bpe.trainer import train_bpe

from tests.command import output
from tests.plugins.subword.strings import ENGLISH, hard_strings
from tokbench.errors import TokenizerError
from tokbench.metrics.optimum import distances
from tokbench.registry import build_registry

ROOT = Path(__file__).parents[4]


def fewest(word: bytes, tokens: set[bytes]) -> int:
    """The least number of tokens that spell a word: all beginnings are tried."""
    best = [0]
    for end in range(1, len(word) + 1):
        best.append(1 + min(best[start] for start in range(end) if word[start:end] in tokens))
    return best[-1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("abc ", max_size=30), max_size=5), st.lists(st.text("abcd .\0", max_size=20), max_size=5)
)
def test_shortest_paths_are_those_found_plainly(training: list[str], texts: list[str]) -> None:
    tokenizer = BpeTokenizer.of_model(train_bpe(training, vocab_size=280))
    tokens = set(tokenizer.model.vocabulary)
    expected = [sum(fewest(word.encode(), tokens) for word in tokenizer.pre_tokenize(text)) for text in texts]
    assert tokenizer.fewest_tokens(texts).tolist() == expected
    assert all(n <= len(tokenizer.encode(text)) for n, text in zip(expected, texts, strict=True))


def test_any_text_and_added_tokens() -> None:
    tokenizer = BpeTokenizer.of_model(train_bpe(ENGLISH, vocab_size=700))
    tokenizer.add_tokens(["<user>", "ABC"])
    tokens = set(tokenizer.model.vocabulary)
    texts = [*ENGLISH[:30], *hard_strings(80), "<user>ABC x<user>"]
    for text, n in zip(texts, tokenizer.fewest_tokens(texts).tolist(), strict=True):
        pieces = tokenizer.pre_tokenize(text)
        assert n == sum(1 if p in ("<user>", "ABC") else fewest(p.encode(), tokens) for p in pieces)


def test_the_metric_and_its_interval(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    BpeTokenizer.of_model(train_bpe(ENGLISH, vocab_size=900)).save(path)
    said = output("optimum", f"bpe:{path}", "-d", "bundled:parallel,languages=eng_Latn+deu_Latn", "--json")
    rows = json.loads(said)["languages"]
    assert {row["language"] for row in rows} == {"eng_Latn", "deu_Latn"}
    for row in rows:
        low, high = row["interval"]
        assert 1 <= low < row["ratio"] < high < 1.3
        assert row["ratio"] == row["tokens"] / row["fewest"]
    registry = build_registry()
    [found] = distances(registry.load(f"bpe:{path}"), registry.dataset("bundled:parallel,languages=eng_Latn"))
    tokenizer = BpeTokenizer.from_file(path)
    assert found.tokens == sum(len(tokenizer.encode(line)) for line in ENGLISH)
    assert found.fewest == int(np.sum(tokenizer.fewest_tokens(ENGLISH)))


def test_lines_that_follow_one_another_are_drawn_together(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(
        "\n".join(f"{line} {number}" for line in ENGLISH for number in range(100)), encoding="utf-8"
    )
    registry, tokenizer = build_registry(), BpeTokenizer.of_model(train_bpe(ENGLISH, vocab_size=900))
    widths = []
    for spec in (f"text:{path}", f"text:{path},cluster=document"):
        [found] = distances(tokenizer, registry.dataset(spec))
        assert found.interval is not None
        widths.append(found.interval[1] - found.interval[0])
    assert widths[0] > 3 * widths[1], "32 lines of a block say hardly more than one of them"


def test_copies_of_a_line_are_drawn_together(tmp_path: Path) -> None:
    registry, tokenizer = build_registry(), BpeTokenizer.of_model(train_bpe(ENGLISH, vocab_size=900))
    found = []
    for copies in (1, 5):
        path = tmp_path / f"{copies}.txt"
        path.write_text("\n".join(ENGLISH * copies), encoding="utf-8")
        found += distances(tokenizer, registry.dataset(f"text:{path},cluster=document"))
    assert found[0].interval == pytest.approx(found[1].interval)


def test_what_has_no_optimum_is_said() -> None:
    registry = build_registry()
    with pytest.raises(TokenizerError, match="does not tell the fewest"):
        distances(registry.load("bytes"), registry.dataset("bundled:prose"))
    characters = BpeTokenizer.of_model(train_bpe(["low lower"], vocab_size=30, level="char"))
    with pytest.raises(TokenizerError, match="byte-level"):
        characters.fewest_tokens(["low"])
