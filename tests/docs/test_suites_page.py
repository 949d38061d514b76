"""The page of suites names every key that a suite may have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokbench.runner.planning.suite_keys import SpeedSettings, Suite

PAGE = (Path(__file__).parents[2] / "docs" / "suites.md").read_text("utf-8")


@pytest.mark.parametrize("key", [*Suite.model_fields, *SpeedSettings.model_fields])
def test_every_key_is_there(key: str) -> None:
    assert re.search(rf"(^|`\[?|\[){key}\b(`| =|\.|\])", PAGE, re.MULTILINE)
