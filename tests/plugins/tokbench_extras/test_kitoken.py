"""kitoken gives the ids of ordinary text of models that are no byte-level BPE."""

from __future__ import annotations

import pytest

import tokbench
from tests.plugins.tokbench_extras.loading import load


@pytest.mark.parametrize("model", ["bert-base-uncased", "t5-base", "llama-2"])
def test_kitoken_gives_the_ids_of_ordinary_text_of_other_models(model, test_data):
    pytest.importorskip("kitoken", reason="needs the extra kitoken")
    folder = test_data / "vocabs" / model / "hf"
    tokenizer, other = load(f"kitoken:{folder}"), tokbench.load(f"transformers:{folder}")
    for text in ("The cat sat on the mat, didn't it?", "Dès Noël où un zéphyr haï", "x = 12345"):
        assert list(tokenizer.encode(text)) == list(other.encode(text))
