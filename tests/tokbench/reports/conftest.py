"""What tests of reports share."""

from __future__ import annotations

import pytest

from tokbench.reports.html.drawing import Drawings


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without figures, which take nearly all of the time: for tests of what is written."""
    monkeypatch.setattr(Drawings, "_draw", lambda drawings, plot: None)
