"""What tests of WordPiece share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.subword.wordpiece.small_vocabulary import TOKENS


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    return path
