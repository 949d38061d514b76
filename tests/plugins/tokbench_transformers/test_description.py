"""Pieces and their bytes, as the description of a tokenizer spells them."""

from __future__ import annotations

import pytest
import tokenizers
from tokbench_subword.pipeline.pre_tokenizers import keeps_text
from tokbench_transformers.description import byte_alphabet, losses, piece_decoder


def test_the_byte_alphabet_is_that_of_the_library():
    assert set(map(chr, byte_alphabet())) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
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


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize(
    ("step", "drops"),
    [
        ({"pattern": {"Regex": GPT2}, "behavior": "Removed", "invert": True}, None),
        ({"pattern": {"Regex": r"[一-龥]+|[^一-龥]+"}, "behavior": "Removed", "invert": True}, None),
        ({"pattern": {"Regex": GPT2}, "behavior": "Isolated", "invert": False}, None),
        ({"pattern": {"Regex": GPT2}, "behavior": "Removed", "invert": False}, "separators"),
        ({"pattern": {"String": " "}, "behavior": "Removed", "invert": False}, "separators"),
        ({"pattern": {"Regex": r"\S+"}, "behavior": "Removed", "invert": True}, "text that the pattern"),
        ({"pattern": {"Regex": "[^一-龥]+"}, "behavior": "Removed", "invert": True}, "text that the pattern"),
        ({"pattern": {"Regex": "a(?!b)|[^a]"}, "behavior": "Removed", "invert": True}, "text that the pattern"),
        ({"pattern": {"String": "a"}, "behavior": "Removed", "invert": True}, "text that the pattern"),
        ({"type": "CharDelimiterSplit", "delimiter": "-"}, "separators"),
    ],
)
def test_what_a_split_drops_is_what_its_pattern_leaves_out(step, drops):
    step = {"type": "Split", **step}
    found = losses({"pre_tokenizer": step, "decoder": {"type": "ByteLevel"}, "model": {}})
    assert [said.partition(" of its")[0].partition(" are")[0] for said in found] == ([drops] if drops else [])
    assert keeps_text([step]) == (not found), "the in-house families, which prove it, say the same"
