"""Pieces and their bytes, as the description of a tokenizer spells them."""

from __future__ import annotations

import pytest
import tokenizers
from tokbench_transformers.description import byte_alphabet, piece_decoder


def test_the_byte_alphabet_is_that_of_the_library():
    assert set(byte_alphabet()) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert sorted(byte_alphabet().values()) == list(range(256))


@pytest.mark.parametrize(
    ("decoder", "piece", "expected"),
    [
        ({"type": "BPEDecoder", "suffix": "</w>"}, "low</w>", b"low"),
        ({"type": "WordPiece", "prefix": "##"}, "##ing", b"ing"),
        ({"type": "Metaspace", "replacement": "_"}, "_a", b" a"),
        ({"type": "Sequence", "decoders": [{"type": "ByteFallback"}]}, "<0xE9>", b"\xe9"),
        (None, "plain", b"plain"),
    ],
)
def test_decoders_spell_pieces(decoder, piece, expected):
    assert piece_decoder(decoder)(piece) == expected


def test_the_mark_of_a_words_end_stands_for_nothing_at_the_level_of_bytes():
    assert piece_decoder({"type": "ByteLevel"}, end="</w>")("Ġlow</w>") == b" low"
