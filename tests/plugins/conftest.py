"""What the tests of several plugins share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def hard_texts(test_data: Path) -> list[str]:
    """Strings that break things, special tokens spelled out, runs of spaces, rare characters, nothing."""
    naughty = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8")
    spelled = "<s> </s> <unk> <pad> [SEP] <|endoftext|> x"
    return [*naughty.split("\n"), spelled, "  a  b ▁ ", "漢龘龘x ﬁ", ""]
