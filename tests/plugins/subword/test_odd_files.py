"""Files that no trainer writes and the libraries open all the same: read as they read them."""

from __future__ import annotations

from typing import Any

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokenizers import Tokenizer, decoders, models

from tests.plugins.subword.like_the_library import content_of


@pytest.mark.parametrize("decoder", [None, decoders.BPEDecoder(""), decoders.WordPiece("##"), decoders.Fuse()])
def test_an_empty_token_of_bpe_has_the_space_beside_it_that_any_token_has(decoder: Any) -> None:
    theirs = Tokenizer(models.BPE({"a": 0, "": 1, "b": 3}, []))
    if decoder is not None:
        theirs.decoder = decoder
    ours = BpeTokenizer.from_dict(content_of(theirs))
    for ids in ([0, 1, 3], [1, 0], [0, 1], [1], [1, 1], [0, 2, 3]):
        assert ours.decode(ids) == theirs.decode(ids), ids
