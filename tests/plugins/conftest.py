"""What the tests of several plugins share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tokbench import TokenizerFamily, TrainingCorpus
from tokbench.spec import with_defaults


@pytest.fixture(scope="session")
def hard_texts(test_data: Path) -> list[str]:
    """Strings that break things, special tokens spelled out, runs of spaces, rare characters, nothing."""
    naughty = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8")
    spelled = "<s> </s> <unk> <pad> [SEP] <|endoftext|> x"
    return [*naughty.split("\n"), spelled, "  a  b ▁ ", "漢龘龘x ﬁ", ""]


def check_forms(tokenizer: Any, texts: Sequence[str], expected: list[list[int]]) -> None:
    """Ids are the `expected` ones, and spans are of as many tokens, in every form one can ask for them."""
    assert [list(tokenizer.encode(text)) for text in texts] == expected
    assert tokenizer.encode_batch(texts).to_lists() == expected
    single = [tokenizer.offsets(text).tolist() for text in texts]
    assert list(map(len, single)) == list(map(len, expected))
    spans, limits = tokenizer.offsets_batch(texts)
    assert [spans[a:b].tolist() for a, b in pairwise(limits.tolist())] == single
    assert [len(each) for each in tokenizer.offsets_batch([])] == [0, 1]
    tokens, together = tokenizer.encode_with_offsets(texts)
    assert tokens.ids.dtype == np.int32
    assert tokens.to_lists() == expected
    assert together.tolist() == spans.tolist()


def train_on(family: TokenizerFamily, texts: Sequence[str], **options: Any) -> Any:
    """What a family makes of some texts, with the options that are not given at their defaults."""
    assert family.train is not None
    settings = with_defaults(family.options, options)
    return family.train(TrainingCorpus.of_texts(texts), settings, lambda part, what: None)
