"""`ByteLevel` around models of characters: the model sees the byte alphabet, as in `tokenizers`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as P

TEXTS = [
    "it's 12 or 3 words",
    "naïve Straße",
    " नमस्ते, สวัสดี",
    "\U0001f469\u200d\U0001f469\x00\r\n\t",
    "",
    "Ġ Ċ",
    "x" * 40,
]
ALPHABET = sorted(P.ByteLevel.alphabet())


def _merged() -> tuple[dict[str, int], list[tuple[str, str]]]:
    merges = [("i", "t"), ("Ġ", "w"), ("Ã", "¯"), ("1", "2"), ("x", "x"), ("xx", "xx")]
    tokens = [*ALPHABET, *(left + right for left, right in merges)]
    return {token: index for index, token in enumerate(tokens)}, merges


def _bpe() -> Any:
    return models.BPE(*_merged())


def _unigram() -> Any:
    return models.Unigram(
        [("<unk>", 0.0), *((token, -1.5 - 0.01 * i) for i, token in enumerate(_merged()[0]))], 0
    )


def _wordpiece() -> Any:
    vocabulary = ["[UNK]", *_merged()[0], *(f"##{token}" for token in _merged()[0])]
    return models.WordPiece({token: index for index, token in enumerate(vocabulary)}, unk_token="[UNK]")


PREPARATIONS = {
    "pre-tokenizer": (None, P.ByteLevel()),
    "digits before": (None, P.Sequence([P.Digits(True), P.ByteLevel(add_prefix_space=False, use_regex=False)])),
    "digits after": (None, P.Sequence([P.ByteLevel(add_prefix_space=False), P.Digits(True)])),
    "normalizer": (normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()]), None),
    "both": (normalizers.ByteLevel(), P.ByteLevel()),
}


@pytest.mark.parametrize("name", PREPARATIONS)
@pytest.mark.parametrize(
    ("model", "open_"),
    [
        (_bpe, BpeTokenizer.from_dict),
        (_unigram, JsonUnigramTokenizer.from_dict),
        (_wordpiece, WordPieceTokenizer.from_dict),
    ],
)
def test_ids_and_text_are_those_of_tokenizers(name, model, open_):
    theirs = Tokenizer(model())
    normalizer, pre_tokenizer = PREPARATIONS[name]
    if normalizer is not None:
        theirs.normalizer = normalizer
    if pre_tokenizer is not None:
        theirs.pre_tokenizer = pre_tokenizer
    theirs.decoder = decoders.ByteLevel()
    ours = open_(json.loads(theirs.to_str()))
    again = open_(ours.to_dict())
    for text, ids in zip(TEXTS, ours.encode_batch(TEXTS), strict=True):
        expected = theirs.encode(text)
        assert ids.tolist() == expected.ids == list(again.encode(text)), ascii(text)
        assert ours.decode(expected.ids) == theirs.decode(expected.ids)
        spans = list(map(tuple, ours.offsets(text).tolist()))
        assert spans == expected.offsets if normalizer is None else len(spans) == len(expected.ids)
        assert Tokenizer.from_str(json.dumps(ours.to_dict())).encode(text).ids == expected.ids


def test_a_normalizer_of_no_steps_loses_nothing() -> None:
    theirs = Tokenizer(_unigram())
    theirs.pre_tokenizer, theirs.decoder = P.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    for steps, lossless in (([], True), ([normalizers.NFC()], False)):
        theirs.normalizer = normalizers.Sequence(steps)
        assert JsonUnigramTokenizer.from_dict(json.loads(theirs.to_str())).lossless == lossless
