"""The figures of docs/algorithms.md are what the algorithms draw now."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "trace_figures.py"))


@pytest.mark.parametrize(("family", "text"), TOOL["FIGURES"].items())
def test_the_figure_is_current(family: str, text: str) -> None:
    drawn = (ROOT / "docs" / "figures" / f"{family}.svg").read_text(encoding="utf-8")
    assert drawn == TOOL["figure"](family, text), "run: python tools/trace_figures.py"
