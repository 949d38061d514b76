"""The bytes of many tokens at once, for the two kinds of vocabulary: all of them, against asking for each."""

from __future__ import annotations

import pytest
from tokbench_subword.bpe.family import BPE

from tokbench import TrainingCorpus
from tokbench.spec import with_defaults

TEXTS = ["low lower lowest, new newer newest", "été 漢字 low new"]


@pytest.mark.parametrize("options", [{}, {"end_of_word": "</w>"}])
def test_many_are_each(options: dict[str, str]) -> None:
    given = with_defaults(BPE.options, {"vocab_size": 300, **options})
    tokenizer = BPE.train(TrainingCorpus.of_texts(TEXTS), given, lambda fraction, what: None)
    tokenizer.add_tokens("lowest of all")
    tokenizer.add_tokens("<end>", special=True)
    ids = range(tokenizer.vocab_size)
    together = tokenizer.token_bytes_batch(ids)
    assert together == [tokenizer.token_bytes(token) for token in ids]
    assert together[-2:] == [b"lowest of all", b""]
