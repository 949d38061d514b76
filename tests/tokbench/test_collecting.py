"""No garbage is looked for while a tokenizer is loaded; afterwards it is, whatever became of it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tokbench.collecting import uncollected
from tokbench.errors import TokenizerError
from tokbench.registry import build_registry

FAILS = """
import gc, tokbench

def load(spec, context):
    raise tokbench.TokenizerError(f"looked for: {gc.isenabled()}")

@tokbench.hookimpl
def tokbench_tokenizers():
    yield tokbench.TokenizerFamily(name="fails", summary="", load=load)
"""


def test_what_stays_is_not_looked_through() -> None:
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()  # the outer one goes on
    assert gc.isenabled()


def test_while_a_tokenizer_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "fails.py"
    file.write_text(FAILS)
    with pytest.raises(TokenizerError, match="looked for: False"):
        build_registry(plugin_files=[str(file)]).load("fails")
    assert gc.isenabled()
