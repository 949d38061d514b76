"""quicktok imports a file without a word, and is not taken for the unrelated package of that name."""

from __future__ import annotations

import pytest

from tests.plugins.tokbench_extras.loading import load
from tokbench import TokenizerError

pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning"
)  # of the library's, at its import


def test_what_quicktok_says_of_an_import_is_not_shown(test_data, capfd):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    load(f"quicktok:{test_data}/vocabs/qwen2/hf")
    assert capfd.readouterr().out == ""


def test_the_unrelated_package_of_that_name_is_told(monkeypatch):
    quicktok = pytest.importorskip("quicktok", reason="needs the extra quicktok")
    monkeypatch.delattr(quicktok, "import_tokenizer")
    with pytest.raises(TokenizerError, match="quicktok-v1"):
        load("quicktok:cl100k_base")
