"""A text by itself goes through all stages in compiled code, and has the ids that it has in a batch."""

from __future__ import annotations

import random
from base64 import b64encode
from typing import Any

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

from tokbench.kernels.text import utf8_of
from tokbench.tokenizer import Tokenizer

LETTERS = [*"▁ abeé́ABC日本ﬁ\n", "한", "Ⅷ", "ｱ", "’"]
MARK = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
SPACES = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
LLAMA = [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
]
SHAPES: dict[str, tuple[Any, Any]] = {
    "as it is": (None, None),
    "Metaspace": (None, MARK),
    "Metaspace first": (None, {**MARK, "prepend_scheme": "first"}),
    "T5": (
        {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap_of("nmt_nfkc")).decode()},
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, MARK]},
    ),
    "ALBERT": (
        {
            "type": "Sequence",
            "normalizers": [
                {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
                *({"type": kind} for kind in ("NFKD", "StripAccents", "Lowercase")),
            ],
        },
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, MARK]},
    ),
    "Llama-2": ({"type": "Sequence", "normalizers": LLAMA}, None),
    "Strip": ({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Punctuation"}),
    "NFC": ({"type": "NFC"}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}),
    "a pattern replaced": (SPACES, MARK),
    "digits": ({"type": "NFKC"}, {"type": "Digits", "individual_digits": True}),
}
IN_PYTHON: dict[str, tuple[Any, Any]] = {
    "normalized before Metaspace first": ({"type": "Lowercase"}, {**MARK, "prepend_scheme": "first"}),
}
PIECES = ["<unk>", "▁", "▁a", "a", "b", "ab", "e", "c", "日", "日本", "Ġ", "Ġa", "▁abe", " ", " a"]
ADDED = [
    {"id": len(PIECES) + number, "content": content, "special": False, "normalized": normalized}
    | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    for number, (content, normalized) in enumerate([("<x>", False), ("ab b", True)])
]
UNIGRAM = {
    "type": "Unigram",
    "unk_id": 0,
    "vocab": [[piece, -2.0 - index / 7] for index, piece in enumerate(PIECES)],
}
BPE = {
    "type": "BPE",
    "vocab": {piece: index for index, piece in enumerate(PIECES)},
    "merges": ["a b", "▁ a"],
    "unk_token": "<unk>",
    "fuse_unk": True,
}


def tokenizers(normalizer: Any, pre_tokenizer: Any) -> list[Any]:
    around = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "added_tokens": ADDED}
    found: list[Any] = [JsonUnigramTokenizer.from_dict({**around, "model": UNIGRAM})]
    if "ByteLevel" not in str(pre_tokenizer):  # which needs all bytes
        found.append(BpeTokenizer.from_dict({**around, "model": BPE}))
    return found


def texts() -> list[str]:
    rng = random.Random(5)
    some = ["".join(rng.choices(LETTERS, k=rng.randrange(most))) for most in (2, 9, 60, 400) * 8]
    return [*some, "", " ", "a<x>b", "cab bc", "\ud800 a", "é" * 9000, "a b" * 4000, " a" * 9000]


@pytest.mark.parametrize("shape", [*SHAPES, *IN_PYTHON])
def test_ids_of_a_text_by_itself(shape: str) -> None:
    for tokenizer in tokenizers(*(SHAPES | IN_PYTHON)[shape]):
        for text in texts():
            expected = tokenizer.encode_utf8(*utf8_of([text])).ids.tolist()
            assert tokenizer.encode(text).tolist() == tokenizer(text) == expected, text
            assert tokenizer.encode_batch([text, "a"])[0].tolist() == expected, text
        assert in_compiled_code(tokenizer) == (shape in SHAPES)


def in_compiled_code(tokenizer: Tokenizer) -> bool:
    return type(tokenizer.encode) is type(len)


def test_tokens_added_later_are_found() -> None:
    for tokenizer in tokenizers(*SHAPES["Metaspace"]):
        before = tokenizer("a <y>b")
        tokenizer.add_tokens(["<y>"])
        after = tokenizer("a <y>b")
        assert after != before
        assert tokenizer.vocab_size - 1 in after
