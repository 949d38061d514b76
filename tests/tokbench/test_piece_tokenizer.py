"""Tokenizers that only cut words: what `tokbench.pieces` does for them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import regex

from tokbench.pieces import PieceTokenizer, count_words
from tokbench.training_corpus import TrainingCorpus


class Whole(PieceTokenizer):
    """Cuts nothing."""

    def cut(self, word: str) -> Iterable[str]:
        return [word]


@pytest.mark.parametrize("pattern", [r"'(?:s|t)| ?\w+|\W", r"'(s|t)| ?\w+|\W", r"('(s|t))|( ?\w+)|\W"])
def test_words_are_what_the_pattern_finds_with_groups_too(pattern: str) -> None:
    words = regex.compile(pattern)
    tokenizer = Whole("whole", pieces=["it", "'s", " so"], pattern=words)
    assert tokenizer.encode("it's so") == [256, 257, 258]
    counted = count_words(TrainingCorpus.of_texts(["it's so", "so"]), words, lambda share, doing: None)
    assert counted == {"it": 1, "'s": 1, " so": 1, "so": 1}
