"""GPT-2, for the tests of a BPE tokenizer that has a published vocabulary."""

from __future__ import annotations

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer


@pytest.fixture(scope="module")
def gpt2(test_data):
    return BpeTokenizer.from_file(test_data / "vocabs/gpt2/hf/tokenizer.json", name="gpt2")
