"""Small tokenizers for the tests of this folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

STAND_INS = Path(__file__).parents[1] / "tally" / "stand_ins.py"


@pytest.fixture(scope="session")
def stand_ins() -> ModuleType:
    """Tokenizers whose ids can be worked out by hand: `Pieces`, `Lowering`, `Words`, `Broken`."""
    spec = importlib.util.spec_from_file_location("tally_stand_ins", STAND_INS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
