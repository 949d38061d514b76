"""Files that no trainer writes and the libraries open all the same: read as they read them."""

from __future__ import annotations

from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.sentencepiece_model import UNKNOWN, Piece, SpmModel, parse, serialize
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokenizers import Tokenizer, decoders, models, processors

from tests.plugins.subword.like_the_library import content_of
from tokbench import TokenizerError


@pytest.mark.parametrize("decoder", [None, decoders.BPEDecoder(""), decoders.WordPiece("##"), decoders.Fuse()])
def test_an_empty_token_of_bpe_has_the_space_beside_it_that_any_token_has(decoder: Any) -> None:
    theirs = Tokenizer(models.BPE({"a": 0, "": 1, "b": 3}, []))
    if decoder is not None:
        theirs.decoder = decoder
    ours = BpeTokenizer.from_dict(content_of(theirs))
    for ids in ([0, 1, 3], [1, 0], [0, 1], [1], [1, 1], [0, 2, 3]):
        assert ours.decode(ids) == theirs.decode(ids), ids


def test_scores_whose_sums_are_infinite_give_the_segmentation_of_sentencepiece() -> None:
    """It starts again from zero, which infinity taken from itself is not."""
    scores = {"▁a": 3e38, "▁": -3e38, "a": -0.3, "b": 0.9, "ab": 3e38, "aa": -3e38, "bb": 0.8, "ba": 3e38}
    pieces = (Piece(text, score) for text, score in scores.items())
    data = serialize(SpmModel((Piece("<unk>", 0.0, UNKNOWN), *pieces)))
    theirs = SentencePieceProcessor()
    theirs.LoadFromSerializedProto(data)
    ours = SpmTokenizer("odd", parse(data))
    for text in ("abb", "aaaaa", "aaabb", "abab aabba", "a ba" * 300):
        assert ours(text) == theirs.encode(text), text


@pytest.mark.parametrize("texts", ["$A $A", "<s>", "<s> $A $A"])
def test_a_template_in_which_a_text_does_not_stand_once_is_refused(texts: str) -> None:
    """Its ids are not those of the text in `tokenizers` either, with nothing put around it."""
    theirs = Tokenizer(models.BPE({"<s>": 0, "a": 1}, []))
    template = processors.TemplateProcessing(single=texts, special_tokens=[("<s>", 0)])
    for post_processor in (template, processors.Sequence([processors.ByteLevel(), template])):
        theirs.post_processor = post_processor
        with pytest.raises(TokenizerError, match=r"from_dict: post_processor: the template 'single' holds"):
            BpeTokenizer.from_dict(content_of(theirs))
    theirs.post_processor = template
    assert theirs.encode("a", add_special_tokens=False).ids == [1] * texts.count("A")
