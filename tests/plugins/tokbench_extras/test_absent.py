"""An extra that is not installed is named, with what installs it."""

from __future__ import annotations

import sys

import pytest

from tests.plugins.tokbench_extras.loading import load
from tokbench import TokenizerError
from tokbench.registry import build_registry

VARIANTS = {"quicktok": "qwen3", "wordchipper": "o200k_base"}


NAMES = ("gigatoken", "snaptokens", "kitoken", "quicktok", "wordchipper", "mistral", "morfessor")


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_extra_is_named_and_the_family_still_listed(name, monkeypatch, tmp_path):
    module = {"mistral": "mistral_common"}.get(name, name)
    monkeypatch.setitem(sys.modules, module, None)
    for loaded in [key for key in sys.modules if key.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    assert name in build_registry().tokenizers
    path = tmp_path / "saved.json"
    path.write_text('{"format": "tokbench-morfessor", "morphs": [], "segmentations": []}')
    with pytest.raises(TokenizerError, match=rf"pip install 'tokbench\[{name}\]'"):
        load(f"{name}:{VARIANTS.get(name, path)}")
