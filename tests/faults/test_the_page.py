"""The page of what was tried names tests that are there, and leaves none of this folder out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_of_the_page_is_there_and_every_one_of_this_folder_on_it() -> None:
    page = (ROOT / "docs" / "faults.md").read_text("utf-8")
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", page))
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []
    own = {f"tests/faults/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert own - named == {"tests/faults/test_the_page.py"}
